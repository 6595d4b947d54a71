"""Rows of DataFrames and of whatever else can be iterated over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.runs.reading.cells import is_json, readable
from llmeval_integrations.runs.reading.source import Record, Source

_BATCH: Final = 1_000


def read_frame(frame: Any, source: Source) -> Iterator[Record]:
    """Read a DataFrame of pandas; what it counts as missing (None, NaN, NA) is null.

    Arrays of NumPy, which is what pandas makes of the lists in a Parquet file, are lists, and maps
    of Arrow are objects.
    """
    if not frame.columns.is_unique:
        raise InputError(f"two columns of the DataFrame share a name: {list(frame.columns)!r:.200}")
    source.total = len(frame)
    kinds = {
        column: kind.pyarrow_dtype
        for column, kind in frame.dtypes.items()
        if hasattr(kind, "pyarrow_dtype") and not is_json(kind.pyarrow_dtype)
    }
    for start in range(0, len(frame), _BATCH):
        part = frame.iloc[start : start + _BATCH]
        absent = part.isna().itertuples(index=False, name=None)
        for row, holes in zip(part.to_dict("records"), absent, strict=True):
            source.done += 1
            cells = zip(row.items(), holes, strict=True)
            nulls = {key: None if hole else cell for (key, cell), hole in cells}
            yield source.done, readable(nulls, kinds)


def read_named_rows(frame: Any, source: Source) -> Iterator[Record]:
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
            yield number, readable(item)
        elif isinstance(item, (Sample, Mapping)):
            yield number, item
        else:
            yield number, InputError(f"expected a Sample or a mapping, got {quote(item)}")
