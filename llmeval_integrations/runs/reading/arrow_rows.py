"""Rows of Parquet files and of pyarrow's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final, cast

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.runs.reading.cells import Cells, is_json
from llmeval_integrations.runs.reading.source import Record, Source

_BATCH: Final = 256
"""Rows in memory at a time, which may each be a megabyte."""

_BUFFER: Final = 1 << 20
"""Bytes of each column that are read at a time."""


def read_parquet(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a Parquet file batch by batch; a null is an absent value.

    What comes through a pipe is kept in a temporary file, for Parquet is read from its end.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "parquet") from error
    with ExitStack() as stack:
        if not handle.seekable():
            handle = stack.enter_context(_copied(handle, source))
        try:
            # Else all of a row group is read ahead, which most files have one of.
            file = parquet.ParquetFile(handle, pre_buffer=False, buffer_size=_BUFFER)
        except (ArrowException, OSError) as error:
            raise InputError(f"{source.name} is not Parquet: {error}") from error
        source.total = file.metadata.num_rows
        _check_names(file.schema_arrow, source)
        try:
            yield from _rows(file.iter_batches(batch_size=_BATCH), source)
        except (ArrowException, OSError) as error:
            raise InputError(f"{source.name}: row {source.done + 1}: {error}") from error


def _copied(handle: BinaryIO, source: Source) -> BinaryIO:
    """Return a temporary file of what can be read but once."""
    try:
        file = TemporaryFile()  # noqa: SIM115 - for the caller to close
        copyfileobj(handle, file)
    except OSError as error:
        raise InputError(
            f"{source.name} cannot be kept in a temporary file: {error.strerror}"
        ) from error
    return cast("BinaryIO", file)


def read_table(table: Any, source: Source) -> Iterator[Record]:
    """Read a table of pyarrow; a null is an absent value, and a map an object."""
    source.total = table.num_rows
    _check_names(table.schema, source)
    return _rows(table.to_batches(max_chunksize=_BATCH), source)


def _check_names(schema: Any, source: Source) -> None:
    if len(set(schema.names)) < len(schema.names):
        names = quote(schema.names)
        raise InputError(f"{source.name}: two columns share a name: {names}")


def _rows(batches: Iterable[Any], source: Source) -> Iterator[Record]:
    for batch in batches:
        kinds = {field.name: field.type for field in batch.schema if not is_json(field.type)}
        try:
            rows, is_plain = batch.to_pylist(), not kinds
        except Exception:  # noqa: BLE001 - pyarrow raises what a type's own library does
            rows, is_plain = _one_by_one(batch), False
        for row in rows:
            source.done += 1
            yield source.done, row if is_plain else Cells(row, kinds)


def _one_by_one(batch: Any) -> list[dict[str, Any]]:
    """Read a batch with cells for which Python has no form, such as a date beyond the year 9999."""
    columns = [map(_cell, column) for column in batch.columns]
    return [
        dict(zip(batch.schema.names, cells, strict=True)) for cells in zip(*columns, strict=True)
    ]


def _cell(cell: Any) -> Any:
    """Return a cell as Python has it, or the InputError that says why it cannot be read."""
    try:
        return cell.as_py()
    except Exception as error:  # noqa: BLE001 - as in a whole batch
        return InputError(f"{cell.type} that cannot be read: {error}")
