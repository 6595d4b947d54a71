"""Opening the data of a run, whatever its format."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.runs.data.csv_rows import read_csv, read_tsv
from llmeval_integrations.runs.data.json_rows import read_json, read_lines
from llmeval_integrations.runs.data.source import Record, Source
from llmeval_integrations.runs.data.table_rows import (
    read_arrow,
    read_items,
    read_pandas,
    read_parquet,
)

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
    elif format is not None:
        kind = type(samples).__name__
        raise InputError(f"format={format!r} is for files, and the samples are a {kind}")
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
    """Skip the byte order mark of a file; raise InputError where it is UTF-16, or compressed."""
    if not isinstance(handle, BufferedReader):
        return handle
    start = handle.peek(3)[:3]
    if start[:2] == b"\x1f\x8b":
        raise InputError(f"{source.name} is compressed (gzip); unpack it first")
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
