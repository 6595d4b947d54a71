"""Opens the data of a run: numbered rows of any format."""

from __future__ import annotations

import codecs
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from heapq import nsmallest
from io import BytesIO
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.core.options import check_count
from llmeval_integrations.runs.data.readers import (
    read_arrow,
    read_cells,
    read_csv,
    read_items,
    read_json,
    read_lines,
    read_pandas,
    read_parquet,
    row_parser,
)

Record: TypeAlias = "tuple[int, Any]"
"""The number of a row, from 1, and the row: a mapping, a Sample, the InputError that says why it
cannot be read, or the bytes of a JSON object, which `parse_records` parses."""

CHUNK: Final = 256
"""The most rows of a chunk. A larger chunk would not fit into the processor's cache."""

HEAD: Final = 8  # the rows whose columns are checked before the run begins
_CHUNK_BYTES: Final = 8_000_000
_CHUNK_SECONDS: Final = 0.25


@dataclass
class Source:
    """Rows that can be read once, and how far they have been read."""

    name: str  # the name for people
    records: Iterator[Record] = field(default_factory=lambda: iter(()))
    """The rows. Those in JSON are parsed where they are evaluated, perhaps in another process."""

    done: int = 0  # how much has been read: bytes of a text file, otherwise rows
    total: int | None = None  # how much there is to read, in the same unit; None if unknown
    is_text: bool = False

    def count_bytes(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield lines and count their bytes as read."""
        self.is_text = True
        for line in lines:
            self.done += len(line)
            yield line

    @property
    def share(self) -> float | None:
        """The share of the data that has been read, None if its size is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None

    def peek(self, count: int = HEAD) -> list[Record]:
        """Return the first unparsed rows. They stay to be read."""
        records = list(islice(self.records, count))
        self.records = chain(records, self.records)
        return records

    def chunks(self, size: int = CHUNK) -> Iterator[list[Record]]:
        """Yield chunks of unparsed rows. They get smaller if the caller takes long for each.

        So people see the rows of a slow run arrive, and long texts do not fill the memory.
        """
        current, records = min(HEAD, size), iter(self.records)
        start, began = self.done, perf_counter()
        chunk: list[Record] = []
        while part := list(islice(records, min(current - len(chunk), HEAD))):
            chunk += part
            if not self.is_text:
                self.done = part[-1][0]
            if len(chunk) >= current or self.done - start > _CHUNK_BYTES:
                yield chunk
                is_quick = perf_counter() - began < _CHUNK_SECONDS
                current = min(2 * current, size) if is_quick else max(current // 2, 1)
                chunk, start, began = [], self.done, perf_counter()
        if chunk:
            yield chunk

    def select(self, limit: int | None, sample: int | None, seed: int = 0) -> None:
        """Keep the first `limit` rows, and of these `sample` random ones, in their order.

        The same seed draws the same rows. Raises InvalidOptionError.
        """
        for name, value in (("limit", limit), ("sample", sample)):
            if value is not None:
                check_count(name, value)
        if limit is not None or sample is not None:
            self.total = None  # the run ends before the data does
        self.records = islice(self.records, limit)
        if sample is not None:
            chance = random.Random(seed)  # noqa: S311 - no secret
            drawn = nsmallest(sample, self.records, key=lambda _: chance.random())
            self.records = iter(sorted(drawn, key=itemgetter(0)))


def parse_records(records: Iterable[Record]) -> Iterator[Record]:
    """Parse the rows that are the bytes of JSON objects, and yield all others unchanged."""
    parse = row_parser()
    for number, row in records:
        yield number, parse(row) if type(row) is bytes else row


HUB: Final = "hf://"  # the prefix of data sets of Hugging Face
STDIN: Final = "-"  # the path of standard input
_READERS: Final[dict[str, Callable[[Iterator[bytes]], Iterator[Any]]]] = {
    "jsonl": read_lines,
    "json": read_json,
    "csv": read_csv,
    "tsv": partial(read_cells, delimiter="\t"),
}

FORMATS: Final = (*_READERS, "parquet")  # the formats of files
_SUFFIXES: Final = {"": "json", ".ndjson": "jsonl", **{f".{name}": name for name in FORMATS}}

_BUFFER: Final = 2**18  # bytes of a file that are read at a time


def open_source(samples: Any, format: str | None = None) -> Source:
    """Open the samples of `evaluate`, and read the first row.

    The other rows are read one by one; only a JSON array is loaded whole. Without `format`, the
    suffix of the file decides. A file without a suffix is a JSON array or JSON Lines.

    Raises InputError if a file cannot be read at all. A row that cannot be read is an error row.
    """
    if isinstance(samples, str) and samples.startswith(HUB):
        source = _open_object(_load_from_hub(samples), samples)
    elif isinstance(samples, (str, os.PathLike)):
        source = _open_file(os.fspath(samples), format)
    else:
        source = _open_object(samples, "the data")
    try:
        source.peek(1)  # so that a file that cannot be read fails before a run begins
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {source.name}: {error.strerror or error}") from error
    return source


def _load_from_hub(name: str) -> Any:
    """Load `hf://OWNER/NAME/SPLIT` with the package `datasets`. OWNER/NAME may be a folder."""
    dataset, _, split = name.removeprefix(HUB).rpartition("/")
    if not dataset or not split:
        raise InputError(f"{name!r} has no split; write hf://OWNER/NAME/SPLIT")
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
    if name not in FORMATS:
        wrong = f"format={format!r}" if format else f"{path}: the format {suffix!r}"
        raise InputError(f"{wrong} is not one of {', '.join(FORMATS)}")
    source = Source("standard input" if path == STDIN else path)
    if name == "parquet":
        # Its directory is at its end, so standard input is read whole.
        given = BytesIO(sys.stdin.buffer.read()) if path == STDIN else path
        source.total, rows = read_parquet(given, source.name)
        source.records = enumerate(rows, 1)
    else:
        source.records = enumerate(_read(path, name, source), 1)
    return source


def _read(path: str, format: str, source: Source) -> Iterator[Any]:
    """Read a text file. It stays open until its last row."""
    with nullcontext(sys.stdin.buffer) if path == STDIN else Path(path).open("rb", _BUFFER) as file:
        if path != STDIN and format != "json":  # a JSON array is read before its first row
            source.total = os.fstat(file.fileno()).st_size
        lines = source.count_bytes(file)
        if not (first := next(lines, b"")):
            return
        if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError("the file is UTF-16; save it as UTF-8")
        yield from _READERS[format](chain([first.removeprefix(codecs.BOM_UTF8)], lines))


def _open_object(samples: Any, name: str) -> Source:
    """Recognize tables by their methods, so that no library has to be imported."""
    source = Source(name, total=len(samples) if isinstance(samples, Sized) else None)
    if hasattr(samples, "itertuples") and hasattr(samples, "iloc"):
        rows = read_pandas(samples)
    elif hasattr(samples, "iter_rows") and hasattr(samples, "columns"):  # polars
        rows = read_items(samples.iter_rows(named=True))
    elif hasattr(samples, "to_batches") and hasattr(samples, "num_rows"):
        rows = read_arrow(samples)
    elif isinstance(samples, Iterable) and not isinstance(samples, (Mapping, bytes, bytearray)):
        rows = read_items(samples)
    else:
        hint = "; put it in a list" if isinstance(samples, Mapping) else ""
        raise InputError(
            "expected a path, an iterable of samples or a DataFrame, got a "
            f"{type(samples).__name__}{hint}"
        )
    source.records = enumerate(rows, 1)
    return source
