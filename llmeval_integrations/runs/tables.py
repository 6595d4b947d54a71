"""Evaluates tables of Arrow, Ray, Spark, pandas, polars and datasets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from llmeval_integrations.core.catalog import check_options
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.evaluators.text_evaluator import to_storable_text
from llmeval_integrations.runs.cells import COLUMNS, cell_of, import_pyarrow, table_of
from llmeval_integrations.runs.chunk import LocalEngine
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.data.source import open_source
from llmeval_integrations.runs.engine import Job, collect_rarely, finish_in_order
from llmeval_integrations.runs.judges import open_judges
from llmeval_integrations.runs.options import Evaluators, JudgeOptions, name_evaluators
from llmeval_integrations.runs.rows import Row

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NEW_COLUMNS: Final = ("score", "passed", "label", "reason", "error", "metadata")


class RowErrorWarning(UserWarning):
    """Some rows could not be evaluated. A column has their errors."""


def evaluate_batch(
    table: Any,
    evaluators: Evaluators,
    *,
    columns: Mapping[str, str | None] | None = None,
    metadata: bool = False,
    **judges: Unpack[JudgeOptions],
) -> Any:
    """Evaluate every row of a Table or RecordBatch of pyarrow with every evaluator.

    Returns a Table with a row for each sample and evaluator, sample by sample: id, group,
    evaluator, score, passed, label, reason, unscored, error and, with `metadata`, metadata as JSON.
    Without a column of ids, the id is the number of the row in this table. Bad rows and errors are
    those of `evaluate`.

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
    check_options("evaluate", judges, JudgeOptions.__annotations__)
    with open_judges(job.evaluators, judges) as judging, collect_rarely():
        engine = LocalEngine(job, judging)
        started = map(engine.start, open_source(samples).chunks())
        return [row for each in finish_in_order(started, engine.ahead) for row in each.rows]


def score_columns(
    present: Collection[Any],
    select: Callable[[list[Any]], Any],
    evaluators: Evaluators,
    *,
    columns: Mapping[str, str | None] | None = None,
    metadata: bool = False,
    **judges: Unpack[JudgeOptions],
) -> Iterator[tuple[str, type, list[Any]]]:
    """Yield the results of a table as new columns: the name, the type of the cells, the cells.

    For each evaluator NAME these are its score, then NAME_passed, NAME_label, NAME_reason and
    NAME_error and, with `metadata`, NAME_metadata as JSON. An error row has only its error.

    Args:
        present: The columns of the table.
        select: Returns the table with the columns that are needed.

    Raises:
        InputError: If a needed column is missing, or if two new ones have the same name.
        InvalidOptionError: If something is not an evaluator, or for an unknown option.
    """
    job = _job_of(evaluators, columns)
    own = [*job.evaluators]
    ends = [each for each in _NEW_COLUMNS if metadata or each != "metadata"]
    new = {(name, end): name if end == "score" else f"{name}_{end}" for name in own for end in ends}
    if len({*new.values()}) < len(new):
        hint = "give one of the evaluators another name: {name: evaluator}"
        raise InputError(f"two new columns would have one name: {[*new.values()]}; {hint}")
    found = _evaluate(select([*_columns_read(job, present)]), job, judges)
    for place, name in enumerate(own):
        rows = found[place :: len(own)]
        if errors := [row.error for row in rows if row.error is not None]:
            text = f"{name}: {len(errors)} of {len(rows)} rows were not evaluated; the first: "
            warnings.warn(f"{text}{errors[0]}", RowErrorWarning, stacklevel=3)
        for end in ends:
            yield new[name, end], COLUMNS[end], [_storable(cell_of(row, end)) for row in rows]


def _columns_read(job: Job, present: Collection[Any]) -> dict[Any, None]:
    """Return the columns that are read; raise InputError if a needed one is missing."""
    read: dict[Any, None] = {}
    for name, own in job.columns.items():
        for column in own.list_needed(job.evaluators[name]):
            if column not in present:
                raise InputError(
                    f"{name} needs column {column!r}, and there are only {list(present)!r:.300}; "
                    'name another with columns={"output": ...}'
                )
        columns = (*own.by_field, *(column for _, column in own.variables))
        read |= {column: None for column in columns if column in present}
    return read


def _storable(cell: Any) -> Any:
    """Replace lone surrogates in a text, which polars refuses."""
    return cell if type(cell) is not str or cell.isascii() else to_storable_text(cell)
