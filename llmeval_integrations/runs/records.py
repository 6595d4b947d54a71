"""Rows as records with typed columns, and records as tables of pyarrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from llmeval_integrations.core.errors import MissingDependencyError
from llmeval_integrations.runs.rows import Row, write_value

_COLUMNS: Final[Mapping[str, tuple[type, Callable[[Row], Any]]]] = {
    "id": (str, lambda row: text_of(row.id)),
    "group": (str, lambda row: None if row.group is None else text_of(row.group)),
    "evaluator": (str, lambda row: row.evaluator),
    "score": (float, lambda row: row.score),
    "passed": (bool, lambda row: row.passed),
    "label": (str, lambda row: row.label),
    "reason": (str, lambda row: row.reason),
    "unscored": (bool, lambda row: row.unscored),
    "error": (str, lambda row: row.error),
    "metadata": (str, lambda row: text_of(row.metadata)),
}

COLUMNS: Final[Mapping[str, type]] = {name: kind for name, (kind, _) in _COLUMNS.items()}
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
    return tuple(cell(row) for _, cell in _COLUMNS.values())


def text_of(value: Any) -> str:
    """Return a text as it is, what JSON writes as one, as dates, too, and anything else as JSON."""
    if isinstance(value, str):
        return value
    written = write_value(value).decode()
    return json.loads(written) if written.startswith('"') else written


def batches(table: Table) -> Iterator[Any]:
    """Yield the records as record batches of pyarrow, the first of which is empty."""
    columns = schema(table.columns)
    records = iter(table.records)
    yield _batch([()] * len(columns), columns)
    while part := list(islice(records, _AT_A_TIME)):
        yield _batch(zip(*part, strict=True), columns)


def table_of(rows: list[Row], names: Iterable[str]) -> Any:
    """Return rows as a table of pyarrow with these of the columns of a record."""
    columns = schema({name: COLUMNS[name] for name in names})
    batch = _batch([list(map(_COLUMNS[name][1], rows)) for name in columns.names], columns)
    return import_pyarrow().Table.from_batches([batch])


def _batch(cells: Iterable[Iterable[Any]], columns: Any) -> Any:
    pyarrow = import_pyarrow()
    arrays = []
    for column, field in zip(cells, columns, strict=True):
        try:
            arrays.append(pyarrow.array(column, field.type))
        except UnicodeEncodeError:  # half a surrogate pair, for which UTF-8 has no form
            texts = (text and text.encode("utf-8", "backslashreplace").decode() for text in column)
            arrays.append(pyarrow.array(texts, field.type))
    return pyarrow.record_batch(arrays, schema=columns)


def schema(columns: Mapping[str, type]) -> Any:
    """Return columns with their types, as pyarrow has them."""
    types = {str: "string", float: "float64", int: "int64", bool: "bool"}
    named = [(name, types[each]) for name, each in columns.items()]
    return import_pyarrow().schema(named)


def import_pyarrow() -> Any:
    """Import pyarrow, or say how it is installed."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "parquet") from error
    return pa
