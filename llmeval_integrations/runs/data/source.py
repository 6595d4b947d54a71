"""Opening the data of a run: numbered rows, whatever their format, and which of them are read."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import nullcontext
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, Final, TypeAlias

from llmeval_integrations.core.errors import (
    InputError,
    InvalidOptionError,
    MissingDependencyError,
)
from llmeval_integrations.core.quote import quote
from llmeval_integrations.runs.data.table_rows import (
    read_arrow,
    read_items,
    read_pandas,
    read_parquet,
)
from llmeval_integrations.runs.data.text_rows import read_csv, read_json, read_lines, read_tsv

Record: TypeAlias = "tuple[int, Any]"
"""The number of a row, the first being 1, and the row: a mapping, a Sample, or the InputError that
says why it cannot be read."""

CHUNK: Final = 128
"""The most rows of a chunk: with more they would not fit the processor's cache."""

HEAD: Final = 8
"""The rows that are looked at before the first is evaluated."""

_CHUNK_BYTES: Final = 8_000_000
_CHUNK_SECONDS: Final = 0.25


@dataclass
class Source:
    """Rows that are read once, with how far the reading has come."""

    name: str
    """What a person calls it."""

    records: Iterator[Record] = field(default_factory=lambda: iter(()))
    done: int = 0
    """How much has been read: bytes of a text file, else rows."""

    total: int | None = None
    """How much there is to read in the same measure, None where unknown."""

    @property
    def share(self) -> float | None:
        """The share of the data that has been read, None where its size is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None

    def peek(self, count: int = HEAD) -> list[Record]:
        """Return the next rows, which stay to be read."""
        records = list(islice(self.records, count))
        self.records = chain(records, self.records)
        return records

    def chunks(self, size: int = CHUNK) -> Iterator[list[Record]]:
        """Yield chunks of rows, smaller ones where the caller takes long over each.

        So whoever watches a slow run sees rows come, and long texts do not fill the memory.
        """
        current, records = min(HEAD, size), iter(self.records)
        start, began = self.done, perf_counter()
        chunk: list[Record] = []
        while part := list(islice(records, min(current - len(chunk), HEAD))):
            chunk += part
            if len(chunk) >= current or self.done - start > _CHUNK_BYTES:
                yield chunk
                is_quick = perf_counter() - began < _CHUNK_SECONDS
                current = min(2 * current, size) if is_quick else max(current // 2, 1)
                chunk, start, began = [], self.done, perf_counter()
        if chunk:
            yield chunk

    def select(self, limit: int | None, sample: int | None, seed: int = 0) -> None:
        """Keep the first `limit` rows, and of those `sample` drawn by chance, in their order.

        The same seed draws the same rows. Raises InvalidOptionError.
        """
        for name, value in (("limit", limit), ("sample", sample)):
            if value is not None and (type(value) is not int or value < 1):
                raise InvalidOptionError(f"{name}={quote(value)} is not a whole number above 0")
        if limit is not None or sample is not None:
            self.total = None  # how far the data was read says nothing any more
        self.records = islice(self.records, limit)
        if sample is not None:
            self.records = _draw(self.records, sample, seed)


def _draw(records: Iterable[Record], count: int, seed: int) -> Iterator[Record]:
    """Draw rows in one pass, each with the same chance (Vitter 1985, algorithm R)."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    kept: list[Record] = []
    for place, record in enumerate(records):
        if place < count:
            kept.append(record)
        elif (instead := chance.randrange(place + 1)) < count:
            kept[instead] = record
    yield from sorted(kept, key=lambda record: record[0])


HUB: Final = "hf://"
"""How the name of a data set of Hugging Face begins."""

STDIN: Final = "-"
"""The path that stands for standard input."""

_READERS: Final[dict[str, Callable[[BinaryIO, Source], Iterator[Record]]]] = {
    "jsonl": read_lines,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
}

FORMATS: Final = tuple(_READERS)
"""The formats of files."""

_SUFFIXES: Final = {"": "json", ".ndjson": "jsonl", **{f".{name}": name for name in FORMATS}}

_BUFFER: Final = 2**18
"""Bytes of a file that are read at a time."""


def open_source(samples: Any, format: str | None = None) -> Source:
    """Open what is to be evaluated and read its first row; the others follow one by one.

    `samples` is what `evaluate` takes. Of files a JSON array alone is loaded whole. The format goes
    by the file's suffix unless given; without one it is a JSON array where it starts with a
    bracket, else JSON Lines.

    Raises InputError for a file that cannot be read at all; what is wrong with a single row is
    that row's own matter.
    """
    if isinstance(samples, str) and samples.startswith(HUB):
        source = _open_object(_load_from_hub(samples), samples)
    elif isinstance(samples, (str, os.PathLike)):
        source = _open_file(os.fspath(samples), format)
    else:
        source = _open_object(samples, "the samples")
    source.peek(1)  # so that a file that cannot be read fails before a run begins
    return source


def _load_from_hub(name: str) -> Any:
    """Load `hf://OWNER/NAME/SPLIT` by the package `datasets`; OWNER/NAME may be a folder."""
    dataset, _, split = name.removeprefix(HUB).rpartition("/")
    if not dataset or not split:
        raise InputError(f"{name!r} names no split; write hf://OWNER/NAME/SPLIT")
    try:
        from datasets import load_dataset
    except ModuleNotFoundError as error:
        raise MissingDependencyError.of("datasets", "datasets") from error
    try:
        return load_dataset(dataset, split=split)
    except Exception as error:
        raise InputError(f"{name} cannot be loaded: {error}") from error


def _open_file(path: str, format: str | None) -> Source:
    suffix = "" if path == STDIN else Path(path).suffix.lower()
    name = format or _SUFFIXES.get(suffix)
    if name not in _READERS:
        wrong = f"format={format!r}" if format else f"{path}: the format {suffix!r}"
        raise InputError(f"{wrong} is not one of {', '.join(FORMATS)}")
    source = Source("standard input" if path == STDIN else path)
    source.records = _read(path, name, source)
    return source


def _read(path: str, format: str, source: Source) -> Iterator[Record]:
    """Read a file, which stays open until its last row."""
    try:
        handle: Any = nullcontext(sys.stdin.buffer)
        if path != STDIN:
            handle = Path(path).open("rb", _BUFFER)  # noqa: SIM115 - closed after the last row
            source.total = os.fstat(handle.fileno()).st_size or None  # a pipe has no size
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    with handle as file:
        yield from _READERS[format](_check_start(file, source), source)


def _check_start(handle: BinaryIO, source: Source) -> BinaryIO:
    """Skip the byte order mark of a file; raise InputError where it is UTF-16."""
    if not isinstance(handle, BufferedReader):
        return handle
    start = handle.peek(3)[:3]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{source.name} is UTF-16; save it as UTF-8")
    if start == b"\xef\xbb\xbf":
        source.done += len(handle.read(3))
    return handle


def _open_object(samples: Any, name: str) -> Source:
    """Recognise tables by their methods, so that no library is imported to ask for its class."""
    source = Source(name, total=len(samples) if isinstance(samples, Sized) else None)
    if hasattr(samples, "itertuples") and hasattr(samples, "iloc"):
        source.records = read_pandas(samples, source)
    elif hasattr(samples, "iter_rows") and hasattr(samples, "columns"):  # polars
        source.records = read_items(samples.iter_rows(named=True), source)
    elif hasattr(samples, "to_batches") and hasattr(samples, "num_rows"):
        source.records = read_arrow(samples, source)
    elif isinstance(samples, Iterable) and not isinstance(samples, (Mapping, bytes, bytearray)):
        source.records = read_items(samples, source)
    else:
        hint = "; put it in a list" if isinstance(samples, Mapping) else ""
        raise InputError(
            "expected a path, an iterable of samples or a DataFrame, got a "
            f"{type(samples).__name__}{hint}"
        )
    return source
