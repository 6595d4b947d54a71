"""What a run holds as tables, for other programs to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from llmeval_integrations.errors import MissingDependencyError
from llmeval_integrations.reports.parts.figures import rows_of
from llmeval_integrations.reports.parts.names import names_of
from llmeval_integrations.reports.parts.scores import score_of
from llmeval_integrations.runs.rows import write_value
from llmeval_integrations.runs.run import Run

_AT_A_TIME: Final = 1_000
_COUNTS: Final = ("leaves", "match", "mismatch", "wrong_type", "missing", "extra")
_SHARES: Final = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Table:
    """Named columns and records, which can be read once."""

    columns: Mapping[str, type]
    """The names, each with the type of its cells; a cell may be None."""

    records: Iterable[tuple[Any, ...]]
    """Tuples with a cell for every column."""


def rows_table(runs: Sequence[Run]) -> Table:
    """Give a record for every row; metadata are JSON text, and so is an id that is no text."""
    columns = {"run": str, "id": str, "evaluator": str, "score": float, "passed": bool}
    columns |= {"label": str, "reason": str, "unscored": bool, "error": str, "metadata": str}
    return Table(columns, _rows(runs))


def fields_table(runs: Sequence[Run]) -> Table:
    """Give a record for every field of every evaluator that scores field by field."""
    figures = {**dict.fromkeys(_COUNTS, int), **dict.fromkeys(_SHARES, float)}
    names = {"run": str, "evaluator": str, "field": str}
    return Table({**names, **figures, "wrong_values": str}, _fields(runs))


TABLES: Final[Mapping[str, Callable[[Sequence[Run]], Table]]] = {
    "rows": rows_table,
    "fields": fields_table,
}
"""What can be made a table, by name."""


def _rows(runs: Sequence[Run]) -> Iterator[tuple[Any, ...]]:
    for name, run in zip(names_of(runs), runs, strict=True):
        for row in rows_of(run):
            texts = (None if text is None else str(text) for text in (row.label, row.reason))
            yield (
                name,
                text_of(row.id),
                row.evaluator,
                score_of(row),
                row.passed,
                *texts,
                row.unscored,
                row.error,
                text_of(row.metadata),
            )


def _fields(runs: Sequence[Run]) -> Iterator[tuple[Any, ...]]:
    for name, run in zip(names_of(runs), runs, strict=True):
        for evaluator, summary in run.summary["evaluators"].items():
            for path, figures in summary.get("fields", {}).items():
                known = (figures[column] for column in (*_COUNTS, *_SHARES))
                yield (name, evaluator, path, *known, text_of(figures["wrong_values"]))


def text_of(value: Any) -> str:
    """Give a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else write_value(value).decode()


def batches(table: Table) -> Iterator[Any]:
    """Give the records as record batches of pyarrow, the first of which may be empty."""
    pyarrow = needed()
    columns = schema(table)
    records = iter(table.records)
    part = list(islice(records, _AT_A_TIME))
    while True:
        cells = zip(*part, strict=True) if part else [()] * len(columns)
        arrays = [
            pyarrow.array(map(_storable, column), each.type)
            for column, each in zip(cells, columns, strict=True)
        ]
        yield pyarrow.record_batch(arrays, schema=columns)
        part = list(islice(records, _AT_A_TIME))
        if not part:
            return


def schema(table: Table) -> Any:
    """Give the columns with their types, as pyarrow has them."""
    pyarrow = needed()
    types = {
        str: pyarrow.string(),
        float: pyarrow.float64(),
        int: pyarrow.int64(),
        bool: pyarrow.bool_(),
    }
    return pyarrow.schema([(name, types[each]) for name, each in table.columns.items()])


def needed() -> Any:
    """Import pyarrow, or say how it is installed."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "parquet") from error
    return pa


def _storable(value: Any) -> Any:
    """Write out half a surrogate pair, for which UTF-8 has no form."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode()
    return value
