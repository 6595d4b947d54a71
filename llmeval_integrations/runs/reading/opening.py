"""Opening what is to be evaluated: a file, standard input, a DataFrame, a list, an iterator."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.runs.reading.arrow_rows import read_parquet, read_table
from llmeval_integrations.runs.reading.csv_rows import read_csv, read_tsv
from llmeval_integrations.runs.reading.frame_rows import read_frame, read_items, read_named_rows
from llmeval_integrations.runs.reading.json_rows import read_json, read_json_or_lines, read_lines
from llmeval_integrations.runs.reading.source import Record, Source

HUB: Final = "hf://"
"""How the name of a data set of Hugging Face begins."""

STDIN: Final = "-"
"""The path that stands for standard input."""

FORMATS: Final = ("jsonl", "json", "csv", "tsv", "parquet")
"""The formats of files."""

_BUFFER: Final = 2**18
"""Bytes of a file that are read at a time."""

_READERS: Final[dict[str | None, Callable[[BinaryIO, Source], Iterator[Record]]]] = {
    "jsonl": read_lines,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    None: read_json_or_lines,
}

_SUFFIXES: Final[dict[str, str | None]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    "": None,
}


def open_source(samples: Any, format: str | None = None) -> Source:
    """Open what is to be evaluated and read its first row; the others follow one by one.

    `samples` is the path of a file, "-" for standard input, `hf://OWNER/NAME/SPLIT` for a data set
    of Hugging Face; a DataFrame of pandas or polars, a table of pyarrow; or an iterable of samples
    and mappings. Of files a JSON array alone is loaded whole. The format goes by the file's suffix
    unless given; input without a suffix is a JSON array where it starts with a bracket, else JSON
    Lines.

    Raises InputError for a file that cannot be read at all; what is wrong with a single row is
    that row's own matter.
    """
    if isinstance(samples, str) and samples.startswith(HUB):
        source = _open_object(_load_from_hub(samples))
        source.name = samples
    elif isinstance(samples, (str, os.PathLike)):
        source = _open_file(os.fspath(samples), format)
    elif format is not None:
        raise InputError(f"format={format!r} is for files, and the samples are {_kind(samples)}")
    else:
        source = _open_object(samples)
    source.ahead(1)  # so that a file that cannot be read fails before a run begins
    return source


def _load_from_hub(name: str) -> Any:
    """Load `hf://OWNER/NAME/SPLIT` by the package `datasets`; OWNER/NAME may be a folder."""
    try:
        from datasets import load_dataset
    except ModuleNotFoundError as error:
        raise MissingDependencyError.of("datasets", "datasets") from error
    dataset, _, split = name.removeprefix(HUB).rpartition("/")
    if not dataset or not split:
        raise InputError(f"{name!r} names no split; write hf://OWNER/NAME/SPLIT")
    try:
        return load_dataset(dataset, split=split)
    except Exception as error:
        raise InputError(f"{name} cannot be loaded: {error}") from error


def _open_file(path: str, format: str | None) -> Source:
    if format is None and path != STDIN:
        suffix = Path(path).suffix.lower()
        if suffix not in _SUFFIXES:
            raise InputError(
                f"{path}: {suffix!r} tells no format; say which it is, one of {', '.join(FORMATS)}"
            )
        reader = _READERS[_SUFFIXES[suffix]]
    elif format in _READERS:
        reader = _READERS[format]
    else:
        raise InputError(f"format={format!r} is not one of {', '.join(FORMATS)}")
    if path == STDIN:
        source = Source("standard input")
        source.records = reader(sys.stdin.buffer, source)
        return source
    source = Source(path)
    # Resolved, for /dev/stdin is another file in another process; a pipe is none at all.
    file = os.path.realpath(path)
    source.lines_of = file if reader is read_lines and Path(file).is_file() else None
    source.records = _from_disk(path, reader, source)
    return source


def _from_disk(
    path: str, reader: Callable[[BinaryIO, Source], Iterator[Record]], source: Source
) -> Iterator[Record]:
    """Read a file, which stays open until its last row."""
    try:
        handle = Path(path).open("rb", _BUFFER)  # noqa: SIM115 - closed below, after the last row
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    with handle:
        size = os.fstat(handle.fileno()).st_size
        source.total = size or None  # a pipe has a path too, and no size
        yield from reader(handle, source)


def _open_object(samples: Any) -> Source:
    """Recognise tables by their methods, so that no library is imported to ask for its class."""
    source = Source("the samples")
    if hasattr(samples, "itertuples") and hasattr(samples, "iloc"):
        source.records = read_frame(samples, source)
    elif hasattr(samples, "iter_rows") and hasattr(samples, "columns"):
        source.records = read_named_rows(samples, source)
    elif hasattr(samples, "to_batches") and hasattr(samples, "num_rows"):
        source.records = read_table(samples, source)
    elif isinstance(samples, Iterable) and not isinstance(samples, (Mapping, bytes, bytearray)):
        source.records = read_items(samples, source)
    else:
        raise InputError(
            f"expected a path, an iterable of samples or a DataFrame, got {_kind(samples)}"
            + ("; put it in a list" if isinstance(samples, Mapping) else "")
        )
    return source


def _kind(thing: object) -> str:
    return f"a {type(thing).__name__}"
