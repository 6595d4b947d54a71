"""Rows of Parquet files, tables of pyarrow, DataFrames and lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.json_values.python_values import as_python, is_plain

if TYPE_CHECKING:
    from llmeval_integrations.runs.data.source import Record, Source

_BATCH: Final = 256
"""Rows in memory at a time, which may each be a megabyte."""


def read_parquet(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a Parquet file batch by batch; a null is an absent value."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "parquet") from error
    try:
        whole = handle if handle.seekable() else BytesIO(handle.read())
        # Else all of a row group is read ahead, which most files have one of.
        file = parquet.ParquetFile(whole, pre_buffer=False, buffer_size=1 << 20)
        source.total = file.metadata.num_rows
        _check_names(file.schema_arrow.names, source)
        yield from _read_batches(file.iter_batches(batch_size=_BATCH), source)
    except (ArrowException, OSError) as error:
        where = f": row {source.done + 1}" if source.done else " is not Parquet"
        raise InputError(f"{source.name}{where}: {error}") from error


def read_arrow(table: Any, source: Source) -> Iterator[Record]:
    """Read a table of pyarrow; a null is an absent value, and a map an object."""
    _check_names(table.schema.names, source)
    return _read_batches(table.to_batches(max_chunksize=_BATCH), source)


def read_pandas(frame: Any, source: Source) -> Iterator[Record]:
    """Read a DataFrame of pandas; what it counts as missing (None, NaN, NA) is null."""
    _check_names(frame.columns, source)
    for start in range(0, len(frame), _BATCH):
        part = frame.iloc[start : start + _BATCH]
        absent = part.isna().itertuples(index=False, name=None)
        for row, holes in zip(part.to_dict("records"), absent, strict=True):
            source.done += 1
            cells = zip(row.items(), holes, strict=True)
            filled = {name: None if hole else cell for (name, cell), hole in cells}
            yield source.done, _plain(filled)


def read_items(items: Iterable[Any], source: Source) -> Iterator[Record]:
    """Read samples, and mappings from column to value, in which arrays of NumPy are lists."""
    for number, item in enumerate(items, 1):
        source.done = number
        if isinstance(item, dict):
            yield number, _plain(item)
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
        own = [each.name for each in batch.schema if hasattr(each.type, "extension_name")]
        for row in batch.to_pylist(maps_as_pydicts="lossy"):
            source.done += 1
            for name in own:  # tensors
                row[name] = as_python(row[name])
            yield source.done, row


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with Python's lists and numbers."""
    return row if is_plain(row) else {name: as_python(cell) for name, cell in row.items()}
