"""Rows of Parquet files, tables of pyarrow, DataFrames and lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from io import BytesIO
from typing import Any, BinaryIO, Final

import msgspec

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.json_values.python_values import as_python, is_plain
from llmeval_integrations.runs.data.source import Record, Source

_BATCH: Final = 256
"""Rows in memory at a time, which may each be a megabyte."""

_BUFFER: Final = 1 << 20
"""Bytes of each column that are read at a time."""


def read_parquet(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a Parquet file batch by batch; a null is an absent value."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "parquet") from error
    try:
        # Else all of a row group is read ahead, which most files have one of.
        file = parquet.ParquetFile(
            handle if handle.seekable() else BytesIO(handle.read()),
            pre_buffer=False,
            buffer_size=_BUFFER,
        )
    except (ArrowException, OSError) as error:
        raise InputError(f"{source.name} is not Parquet: {error}") from error
    source.total = file.metadata.num_rows
    _check_names(file.schema_arrow.names, source)
    try:
        yield from _read_batches(file.iter_batches(batch_size=_BATCH), source)
    except (ArrowException, OSError) as error:
        raise InputError(f"{source.name}: row {source.done + 1}: {error}") from error


def read_arrow(table: Any, source: Source) -> Iterator[Record]:
    """Read a table of pyarrow; a null is an absent value, and a map an object."""
    source.total = table.num_rows
    _check_names(table.schema.names, source)
    return _read_batches(table.to_batches(max_chunksize=_BATCH), source)


def read_pandas(frame: Any, source: Source) -> Iterator[Record]:
    """Read a DataFrame of pandas; what it counts as missing (None, NaN, NA) is null."""
    _check_names(frame.columns, source)
    source.total = len(frame)
    kinds = {
        name: kind.pyarrow_dtype
        for name, kind in frame.dtypes.items()
        if hasattr(kind, "pyarrow_dtype") and not _is_json(kind.pyarrow_dtype)
    }
    for start in range(0, len(frame), _BATCH):
        part = frame.iloc[start : start + _BATCH]
        absent = part.isna().itertuples(index=False, name=None)
        for cells, holes in zip(part.to_dict("records"), absent, strict=True):
            source.done += 1
            nulls = (
                None if hole else cell for cell, hole in zip(cells.values(), holes, strict=True)
            )
            yield source.done, _row(dict(zip(cells, nulls, strict=True)), kinds)


def read_polars(frame: Any, source: Source) -> Iterator[Record]:
    """Read a DataFrame of polars."""
    source.total = len(frame)
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        source.done = number
        yield number, row


def read_items(items: Iterable[Any], source: Source) -> Iterator[Record]:
    """Read samples, and mappings from column to value, in which arrays of NumPy are lists."""
    source.total = len(items) if isinstance(items, Sized) else None
    for number, item in enumerate(items, 1):
        source.done = number
        if isinstance(item, dict):
            yield number, _row(item)
        elif isinstance(item, (Sample, Mapping)):
            yield number, item
        else:
            yield number, InputError(f"expected a Sample or a mapping, got {quote(item)}")


def _check_names(names: Iterable[Any], source: Source) -> None:
    listed = list(names)
    if len(set(listed)) < len(listed):
        raise InputError(f"{source.name}: two columns share a name: {quote(listed)}")


def _read_batches(batches: Iterable[Any], source: Source) -> Iterator[Record]:
    for batch in batches:
        kinds = {field.name: field.type for field in batch.schema if not _is_json(field.type)}
        try:
            rows = batch.to_pylist()
        except Exception:  # noqa: BLE001 - pyarrow raises what a type's own library does
            rows = map(_read_row, batch.to_struct_array())
        for row in rows:
            source.done += 1
            is_row = isinstance(row, dict) and kinds
            yield source.done, _row(row, kinds) if is_row else row


def _read_row(cells: Any) -> dict[str, Any] | InputError:
    """Read one row of cells, of which one may have no form in Python, as the year 10000."""
    try:
        row: dict[str, Any] = cells.as_py()
    except Exception as error:  # noqa: BLE001 - as in a whole batch
        return InputError(f"a cell cannot be read: {error}")
    return row


def _row(row: dict[str, Any], kinds: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a row with Python's lists and numbers, and with JSON for Arrow's own types."""
    if kinds:
        row = {
            name: _as_json(cell, kinds[name]) if name in kinds else cell
            for name, cell in row.items()
        }
    return row if is_plain(row) else {name: as_python(cell) for name, cell in row.items()}


def _is_json(kind: Any) -> bool:
    """Whether pyarrow gives the cells of this type as JSON has them."""
    from pyarrow import BaseExtensionType, types

    if types.is_struct(kind):
        return all(_is_json(field.type) for field in kind)
    if hasattr(kind, "value_field"):
        return _is_json(kind.value_type)
    return not (types.is_map(kind) or isinstance(kind, BaseExtensionType))


def _as_json(cell: Any, kind: Any) -> Any:
    """Return a cell as JSON has it: maps are objects, and JSON texts are values."""
    from pyarrow import types

    if cell is None:
        return None
    if types.is_map(kind):
        return {key: _as_json(item, kind.item_type) for key, item in cell}
    if types.is_struct(kind):
        return {field.name: _as_json(cell[field.name], field.type) for field in kind}
    if hasattr(kind, "value_field"):
        return [_as_json(item, kind.value_type) for item in cell]
    return _parse(cell) if getattr(kind, "extension_name", None) == "arrow.json" else cell


def _parse(text: str) -> Any:
    """Parse a cell of JSON; one that is none stays a text, about which evaluators say why."""
    for decode in (msgspec.json.decode, decode_as_python):
        try:
            return decode(text)
        except (ValueError, ArithmeticError, RecursionError):
            pass
    return text
