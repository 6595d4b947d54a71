"""A table of Arrow in, a table of rows out: what Ray, Spark and Dask share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from os import PathLike
from typing import TYPE_CHECKING, Any

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.runs.answering import begin
from llmeval_integrations.runs.chunks import in_chunks, seldom_collected
from llmeval_integrations.runs.columns import called_by_place, columns_by_evaluator
from llmeval_integrations.runs.judging import JudgingOptions, judging
from llmeval_integrations.runs.naming import name_evaluators
from llmeval_integrations.runs.reading.arrow_rows import read_table
from llmeval_integrations.runs.reading.source import Source
from llmeval_integrations.runs.records import COLUMNS, needed, table_of
from llmeval_integrations.runs.rows import by_sample

if TYPE_CHECKING:
    from typing_extensions import Self


def evaluate_batch(
    table: Any,
    evaluators: Mapping[str, Evaluator] | Iterable[Evaluator],
    *,
    columns: Mapping[str, str | None] | None = None,
    concurrency: int = 32,
    cache: str | PathLike[str] | None = None,
    frozen: bool = False,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    metadata: bool = False,
) -> Any:
    """Evaluate every row of a Table or RecordBatch of pyarrow with every evaluator.

    Gives a Table with a row for every sample and evaluator, sample by sample: id, group (null where
    there is none), evaluator, score (a float), passed, label, reason, unscored, error, and on
    request metadata (JSON), as `llmeval export` writes them; any cut of a table into parts gives
    the same rows. The other arguments are those of `evaluate`, and so is what becomes of a bad row,
    and what is raised before the first one. A row without an id is called by its place in this
    table, so a part of something needs a column of ids.
    """
    options = JudgingOptions(
        concurrency, cache, frozen=frozen, max_cost=max_cost, max_tokens=max_tokens
    )
    with Batches(evaluators, columns, options, metadata=metadata) as evaluate:
        return evaluate(table)


class Batches:
    """Evaluators that look at table after table; their judges stay connected inside `with`."""

    def __init__(
        self,
        evaluators: Mapping[str, Evaluator] | Iterable[Evaluator],
        columns: Mapping[str, str | None] | None,
        options: JudgingOptions,
        *,
        metadata: bool = False,
    ) -> None:
        self._written = [name for name in COLUMNS if metadata or name != "metadata"]
        self._evaluators = name_evaluators(evaluators)
        self.columns = columns_by_evaluator(columns or {}, self._evaluators)
        """For each evaluator."""
        self._options = options

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._judges = self._stack.enter_context(judging(self._evaluators, self._options))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __call__(self, table: Any) -> Any:
        """Evaluate a table; may be called by several threads at a time."""
        pyarrow = needed()
        if isinstance(table, pyarrow.RecordBatch):
            table = pyarrow.Table.from_batches([table])
        if not isinstance(table, pyarrow.Table):
            raise InputError(f"expected a Table or RecordBatch of pyarrow, got {quote(table)}")
        source = Source("the table", unit="")
        source.records = read_table(table, source)
        columns = self.columns
        # Whether any row has one: the first ones, which decide elsewhere, are others in each cut.
        if any(self.has_ids(table)):
            columns = called_by_place(columns)
        with seldom_collected():
            begun = [
                begin(self._evaluators, columns, chunk, source, self._judges)
                for chunk in in_chunks(source)
            ]
            rows = [
                row for pending in begun for row in by_sample([each.column() for each in pending])
            ]
            return table_of(rows, self._written)

    def has_ids(self, table: Any) -> Iterator[bool]:
        """Yield for each row whether it has an id; for none where there is no column of ids."""
        first = next(iter(self.columns.values()))
        places = [place for place, name in enumerate(table.column_names) if name == first.id_column]
        if places:
            ids = read_table(table.select(places), Source("the table"))
            yield from (first.has_id(row) for _, row in ids)
