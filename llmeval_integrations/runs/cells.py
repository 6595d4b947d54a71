"""The cells of rows as typed columns, and tables of pyarrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Final

from llmeval_integrations.core.errors import MissingDependencyError
from llmeval_integrations.runs.rows import Row, write_value

_COLUMNS: Final[Mapping[str, tuple[type, Callable[[Row], Any]]]] = {
    "id": (str, lambda row: text_of(row.id)),
    "group": (str, lambda row: None if row.group is None else text_of(row.group)),
    "evaluator": (str, attrgetter("evaluator")),
    "score": (float, attrgetter("score")),
    "passed": (bool, attrgetter("passed")),
    "label": (str, attrgetter("label")),
    "reason": (str, attrgetter("reason")),
    "unscored": (bool, attrgetter("unscored")),
    "error": (str, attrgetter("error")),
    "metadata": (str, lambda row: text_of(row.metadata)),
}

COLUMNS: Final[Mapping[str, type]] = {name: kind for name, (kind, _) in _COLUMNS.items()}
"""The columns of rows, with the types of their cells."""


def cell_of(row: Row, column: str) -> Any:
    """Return one cell of a row. Metadata, and an id or group that is not text, are JSON."""
    return _COLUMNS[column][1](row)


def text_of(value: Any) -> str:
    """Return a text unchanged, a date and the like as its text, and other values as JSON."""
    if isinstance(value, str):
        return value
    written = write_value(value).decode()
    return json.loads(written) if written.startswith('"') else written


def table_of(rows: list[Row], names: Iterable[str]) -> Any:
    """Return these columns of rows as a table of pyarrow."""
    columns = schema({name: COLUMNS[name] for name in names})
    batch = batch_of([list(map(_COLUMNS[name][1], rows)) for name in columns.names], columns)
    return import_pyarrow().Table.from_batches([batch])


def batch_of(cells: Iterable[Iterable[Any]], columns: Any) -> Any:
    """Return columns of cells as a record batch with this schema of pyarrow."""
    pyarrow = import_pyarrow()
    arrays = []
    for column, field in zip(cells, columns, strict=True):
        try:
            arrays.append(pyarrow.array(column, field.type))
        except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot represent
            texts = (text and text.encode("utf-8", "backslashreplace").decode() for text in column)
            arrays.append(pyarrow.array(texts, field.type))
    return pyarrow.record_batch(arrays, schema=columns)


def schema(columns: Mapping[str, type]) -> Any:
    """Return the schema of pyarrow for columns."""
    types = {str: "string", float: "float64", int: "int64", bool: "bool"}
    named = [(name, types[each]) for name, each in columns.items()]
    return import_pyarrow().schema(named)


def import_pyarrow() -> Any:
    """Import pyarrow, or raise an error that tells how to install it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "parquet") from error
    return pa
