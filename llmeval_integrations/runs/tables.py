"""A table in, its results out: what Arrow, Ray, Spark, pandas, polars and datasets share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.evaluators.text import to_storable_text
from llmeval_integrations.runs.chunk import Job, begin
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.data.source import open_source
from llmeval_integrations.runs.judges import open_judges
from llmeval_integrations.runs.options import (
    Evaluators,
    JudgeOptions,
    check_names,
    name_evaluators,
    read_judging_options,
)
from llmeval_integrations.runs.records import COLUMNS, import_pyarrow, table_of
from llmeval_integrations.runs.rows import Row, write_value

if TYPE_CHECKING:
    from typing_extensions import Unpack

_CELLS: Final[dict[str, tuple[type, Callable[[Row], Any]]]] = {
    "": (float, lambda row: row.score),
    "_passed": (bool, lambda row: row.passed),
    "_label": (str, lambda row: _text(row.label)),
    "_reason": (str, lambda row: _text(row.reason)),
    "_error": (str, lambda row: _text(row.error)),
    "_metadata": (str, lambda row: write_value(row.metadata).decode() if row.metadata else None),
}
"""What stands behind the name of the evaluator in that of a column, the type of its cells, and the
cell of a row."""


class RowErrorWarning(UserWarning):
    """Rows could not be evaluated; their errors stand in a column."""


def evaluate_batch(
    table: Any,
    evaluators: Evaluators,
    *,
    columns: Mapping[str, str | None] | None = None,
    metadata: bool = False,
    **judges: Unpack[JudgeOptions],
) -> Any:
    """Evaluate every row of a Table or RecordBatch of pyarrow with every evaluator.

    Gives a Table with a row for every sample and evaluator, sample by sample: id, group (null where
    there is none), evaluator, score (a float), passed, label, reason, unscored, error, and on
    request metadata (JSON), as `llmeval export` writes them; any cut of a table into parts gives
    the same rows. A row without an id has its number in this table, so a part of something needs a
    column of ids. What becomes of a bad row, and what is raised, is said of `evaluate`.

    Example:
        >>> import pyarrow as pa
        >>> from llmeval_integrations import JsonValidity, evaluate_batch
        >>> table = pa.table({"id": ["a", "b"], "output": ["{}", "{"]})
        >>> evaluate_batch(table, JsonValidity())["score"].to_pylist()
        [1.0, 0.0]
    """
    pyarrow = import_pyarrow()
    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    if not isinstance(table, pyarrow.Table):
        raise InputError(f"expected a Table or RecordBatch of pyarrow, got {quote(table)}")
    rows = _evaluate(table, _job_of(evaluators, columns), judges)
    return table_of(rows, [name for name in COLUMNS if metadata or name != "metadata"])


def _job_of(evaluators: Evaluators, columns: Mapping[str, str | None] | None) -> Job:
    named = name_evaluators(evaluators)
    return Job(named, columns_by_evaluator(columns or {}, named))


def _evaluate(samples: Any, job: Job, judges: JudgeOptions) -> list[Row]:
    """Return the rows, sample by sample."""
    check_names(judges, JudgeOptions)
    with open_judges(job.evaluators, read_judging_options(judges)) as asked:
        begun = [begin(job, chunk, asked) for chunk in open_source(samples).chunks()]
        return [row for finish in begun for row in finish().rows]


def score_columns(
    present: Collection[Any],
    select: Callable[[list[Any]], Any],
    evaluators: Evaluators,
    *,
    columns: Mapping[str, str | None] | None = None,
    metadata: bool = False,
    **judges: Unpack[JudgeOptions],
) -> Iterator[tuple[str, type, list[Any]]]:
    """Yield the results of a table as further columns: name, type of the cells, cells.

    For each evaluator NAME is its score, then come NAME_passed, NAME_label, NAME_reason and
    NAME_error, and with `metadata` also NAME_metadata, as JSON. An unscored row has no score, but a
    reason and perhaps a label. A row that an evaluator cannot look at has an error alone, and a
    RowErrorWarning says how many there are. Half a surrogate pair is written as its escape.

    Args:
        present: The columns of the table.
        select: Gives the table with the columns that are read.

    Raises:
        InputError: For a column that is not there, and for two new ones of one name.
        InvalidOptionError: For what is not an evaluator, and for an option that there is not.
    """
    ends = {end: cell for end, cell in _CELLS.items() if metadata or end != "_metadata"}
    job = _job_of(evaluators, columns)
    own = [*job.evaluators]
    names = [f"{name}{end}" for name in own for end in ends]
    if len(set(names)) < len(names):
        hint = "give one of the evaluators another name: {name: evaluator}"
        raise InputError(f"two new columns would have one name: {names}; {hint}")
    found = _evaluate(select([*_columns_read(job, present)]), job, judges)
    for place, name in enumerate(own):
        rows = found[place :: len(own)]
        if errors := [row.error for row in rows if row.error is not None]:
            text = f"{name}: {len(errors)} of {len(rows)} rows were not evaluated; the first: "
            warnings.warn(f"{text}{errors[0]}", RowErrorWarning, stacklevel=3)
        for end, (kind, cell) in ends.items():
            yield f"{name}{end}", kind, list(map(cell, rows))


def _columns_read(job: Job, present: Collection[Any]) -> dict[Any, None]:
    """Return the columns that are read; raise InputError where one that has to be is not there."""
    read: dict[Any, None] = {}
    for name, own in job.columns.items():
        for column in own.list_needed(job.evaluators[name]):
            if column not in present:
                raise InputError(
                    f"{name} needs column {column!r}, and there are only {list(present)!r:.300}; "
                    'name another with columns={"output": ...}'
                )
        columns = (*own.of, *(column for _, column in own.variables))
        read |= {column: None for column in columns if column in present}
    return read


def _text(text: str | None) -> str | None:
    return text if text is None or text.isascii() else to_storable_text(text)
