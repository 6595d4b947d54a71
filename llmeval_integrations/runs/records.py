"""Rows as records with typed columns, and records as tables of pyarrow."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Any, Final

from llmeval_integrations.core.errors import MissingDependencyError
from llmeval_integrations.runs.rows import Row, write_value

COLUMNS: Final[Mapping[str, type]] = {
    "id": str,
    "group": str,
    "evaluator": str,
    "score": float,
    "passed": bool,
    "label": str,
    "reason": str,
    "unscored": bool,
    "error": str,
    "metadata": str,
}
"""The columns of a row's record, with the type of their cells."""

_AT_A_TIME: Final = 1_000


@dataclass(frozen=True)
class Table:
    """Named columns and records, which can be read once."""

    columns: Mapping[str, type]
    """The names, each with the type of its cells; a cell may be None."""

    records: Iterable[tuple[Any, ...]]
    """Tuples with a cell for every column."""


def record_of(row: Row) -> tuple[Any, ...]:
    """Return a row's cells; metadata are JSON text, as is an id or a group that is no text."""
    return tuple(_CELLS[name](row) if name in _CELLS else getattr(row, name) for name in COLUMNS)


def score_of(row: Row) -> float | None:
    """Return a row's score as a finite number, None where it has none."""
    if row.score is None or row.error is not None:
        return None
    try:
        score = float(row.score)
    except (OverflowError, ValueError, TypeError):
        return None
    return score if math.isfinite(score) else None


def text_of(value: Any) -> str:
    """Return a text as it is, what JSON writes as one, as dates, too, and anything else as JSON."""
    if isinstance(value, str):
        return value
    written = write_value(value).decode()
    return json.loads(written) if written.startswith('"') else written


_CELLS: Final[Mapping[str, Callable[[Row], Any]]] = {
    "id": lambda row: text_of(row.id),
    "group": lambda row: None if row.group is None else text_of(row.group),
    "score": score_of,
    "label": lambda row: None if row.label is None else str(row.label),
    "reason": lambda row: None if row.reason is None else str(row.reason),
    "metadata": lambda row: text_of(row.metadata),
}
"""How the cells of a column are written, where it is not the row's own value."""


def batches(table: Table) -> Iterator[Any]:
    """Yield the records as record batches of pyarrow, the first of which may be empty."""
    pyarrow = needed()
    columns = schema(table.columns)
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


def table_of(rows: list[Row], columns: Iterable[str]) -> Any:
    """Return rows as a table of pyarrow with these of the columns of a record."""
    pyarrow = needed()
    kinds = schema({name: COLUMNS[name] for name in columns})
    arrays = []
    for each in kinds:
        write = _CELLS.get(each.name) or attrgetter(each.name)
        cells = list(map(write, rows))
        try:
            arrays.append(pyarrow.array(cells, each.type))
        except UnicodeEncodeError:
            arrays.append(pyarrow.array(map(_storable, cells), each.type))
    return pyarrow.Table.from_arrays(arrays, schema=kinds)


def schema(columns: Mapping[str, type]) -> Any:
    """Return columns with their types, as pyarrow has them."""
    pyarrow = needed()
    types = {
        str: pyarrow.string(),
        float: pyarrow.float64(),
        int: pyarrow.int64(),
        bool: pyarrow.bool_(),
    }
    return pyarrow.schema([(name, types[each]) for name, each in columns.items()])


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
