"""Rows of Parquet files, tables of pyarrow, DataFrames and lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Final

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.json_values.equality import SCALARS
from llmeval_integrations.json_values.python_values import as_python

_BATCH: Final = 256
"""Rows in memory at a time; each may be a megabyte."""


def read_parquet(source: str | BinaryIO, name: str) -> tuple[int, Iterator[Any]]:
    """Open a Parquet file. Return the number of its rows, and the rows, read batch by batch."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingDependencyError.of("pyarrow", "parquet") from error

    def rows() -> Iterator[Any]:
        try:
            yield from _read_batches(file.iter_batches(batch_size=_BATCH))
        except (ArrowException, OSError) as error:
            raise InputError(f"{name} is damaged: {error}") from error

    try:
        # With pre_buffer, a whole row group is read ahead; most files have only one.
        file = parquet.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20)
    except (ArrowException, OSError) as error:
        raise InputError(f"{name} is not Parquet: {error}") from error
    _check_names(file.schema_arrow.names)
    return file.metadata.num_rows, rows()


def read_arrow(table: Any) -> Iterator[Any]:
    """Read a table of pyarrow. A map becomes an object."""
    _check_names(table.schema.names)
    return _read_batches(table.to_batches(max_chunksize=_BATCH))


def _read_batches(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        yield from batch.to_pylist(maps_as_pydicts="lossy")


def read_pandas(frame: Any) -> Iterator[Any]:
    """Read a DataFrame of pandas. What it counts as missing (None, NaN, NA) becomes None."""
    _check_names(frame.columns)
    for start in range(0, len(frame), _BATCH):
        part = frame.iloc[start : start + _BATCH].astype(object)
        yield from read_items(part.where(part.notna(), None).to_dict("records"))


def read_items(items: Iterable[Any]) -> Iterator[Any]:
    """Read samples and mappings from column to value. Arrays of NumPy become lists."""
    for item in items:
        if isinstance(item, dict):
            is_plain = SCALARS.issuperset(map(type, item.values()))
            yield dict(item) if is_plain else {key: as_python(one) for key, one in item.items()}
        elif isinstance(item, (Sample, Mapping)):
            yield item
        else:
            yield InputError(f"expected a Sample or a mapping, got {quote(item)}")


def _check_names(names: Iterable[Any]) -> None:
    listed = list(names)
    if len(set(listed)) < len(listed):
        raise InputError(f"two columns have one name: {quote(listed)}")
