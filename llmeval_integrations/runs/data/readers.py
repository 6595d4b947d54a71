"""Rows of text files, Parquet files, tables of pyarrow, DataFrames and lists.

A row is an object, or the InputError that says why the row cannot be read.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Any, BinaryIO, Final

import msgspec

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.json_values.parse import as_python
from llmeval_integrations.json_values.values import SCALARS, decode_as_python

_LONGEST_CELL: Final = 2**31 - 1
"""The limit of the module `csv`, 131,072 characters, is shorter than what models write."""

_BATCH: Final = 256  # rows in memory at a time; each may be a megabyte

_NO_TEXT: Final = re.compile("[\ud800-\udfff]")

_split_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


def read_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Read JSON Lines, each for `row_parser`. Empty lines are skipped."""
    return (line for line in lines if not line.isspace())


def read_json(lines: Iterator[bytes]) -> Iterator[Any]:
    """Read a JSON array of objects. If the first line is an object, read JSON Lines."""
    first = next((line for line in lines if not line.isspace()), b"[]")
    if first.lstrip()[:1] != b"[" and not isinstance(row_parser()(first), InputError):
        return read_lines(chain([first], lines))
    text = first.lstrip() + b"".join(lines)
    try:
        return map(bytes, _split_array(text))
    except (ValueError, RecursionError):
        return _read_array(text)


def _read_array(text: bytes) -> Iterator[Any]:
    """Read an array with values such as NaN, which only Python's parser accepts."""
    try:
        rows = decode_as_python(text.decode())
        pairs = _load_pairs(text)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise InputError(f"expected an array of objects: {error}") from error
    if not isinstance(rows, list):
        raise InputError("expected an array of objects")
    return (_find_double(own) or row for row, own in zip(read_items(rows), pairs))


class _AnyType(type):
    def __instancecheck__(cls, value: object) -> bool:
        return True


class _Value(metaclass=_AnyType):
    """A type that all values have, for which a decoder calls its hook."""


def row_parser() -> Callable[[bytes], dict[str, Any] | InputError]:
    """Return a function that parses one JSON object after the other, in one thread.

    NaN, Infinity and lone surrogates are accepted, because Python writes them and many data sets
    contain them. Integers are exact. A name that occurs twice is an error: one of its values would
    be lost.
    """
    members = 0

    # Called for each member of the object, also if a later one replaces it. To count the names
    # otherwise takes as long as to parse the line.
    def count(_: type, value: Any) -> Any:
        nonlocal members
        members += 1
        return value

    decode = msgspec.json.Decoder(dict[str, _Value], dec_hook=count).decode

    def parse(line: bytes) -> dict[str, Any] | InputError:
        nonlocal members
        members = 0
        try:
            row: dict[str, Any] = decode(line)
        except (ValueError, RecursionError):
            return _parse_as_python(line)
        return row if len(row) == members else _find_double(_load_pairs(line)) or row

    return parse


def _parse_as_python(line: bytes) -> dict[str, Any] | InputError:
    """Parse what only Python's parser accepts, or say why it is no JSON object."""
    try:
        row = decode_as_python(line.decode().rstrip("\r\n"))
    except json.JSONDecodeError as error:
        return InputError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}")
    except (ValueError, ArithmeticError, RecursionError) as error:
        return InputError(f"not JSON that can be read: {error}")
    if not isinstance(row, dict):
        return InputError(f"expected a JSON object, got {quote(row)}")
    return _find_double(_load_pairs(line)) or row


def _load_pairs(text: bytes) -> Any:
    """Parse JSON with each object as a tuple of its names and values, also of equal names."""
    return json.loads(text, object_pairs_hook=tuple, parse_int=str)


def _find_double(row: Any) -> InputError | None:
    """Return an error with the name that occurs twice in an object of `_load_pairs`."""
    names = Counter(name for name, _ in row) if isinstance(row, tuple) else Counter[str]()
    return next((InputError(f"the name {n!r} occurs twice") for n in names if names[n] > 1), None)


def read_csv(lines: Iterator[bytes]) -> Iterator[Any]:
    """Read comma-separated rows below a header. Cells are texts and may contain line breaks.

    If the header has semicolons and no comma, semicolons separate the cells.
    Spreadsheets write this where the comma is the decimal sign.
    """
    first = next(lines, b"")
    delimiter = ";" if b";" in first and b"," not in first else ","
    return read_cells(chain([first], lines), delimiter)


def read_cells(lines: Iterator[bytes], delimiter: str) -> Iterator[Any]:
    """Read rows below a header. After a row that is not CSV, reading goes on with the next line."""
    csv.field_size_limit(_LONGEST_CELL)
    texts = (line.decode("utf-8", "surrogateescape") for line in lines)
    # Strict: otherwise a quote that is never closed silently takes in the rest of the file.
    reader = csv.reader(texts, delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = InputError(f"not CSV: the row that begins in line {line}: {error}")
            if not header:
                raise problem from error
            yield problem
            continue
        if cells is None:
            return
        if header and cells:
            yield _row(header, cells)
        elif cells:
            header = cells
            _check_names(name for name in header if name.strip())


def _row(header: list[str], cells: list[str]) -> dict[str, str] | InputError:
    """Pair cells with the header. Columns without a name, as pandas writes one, are left out."""
    if len(cells) > len(header):
        return InputError(f"{len(cells)} cells under a header of {len(header)}")
    if _NO_TEXT.search("".join(cells)):
        return InputError("bytes that are not UTF-8; save the file as UTF-8")
    return {name: cell for name, cell in zip(header, cells, strict=False) if name.strip()}


def read_parquet(given: str | BinaryIO, name: str) -> tuple[int, Iterator[Any]]:
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
        file = parquet.ParquetFile(given, pre_buffer=False, buffer_size=1 << 20)
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
        names = batch.schema.names
        # Without maps, pyarrow converts a column of texts five times as fast.
        maps = "lossy" if any("map<" in str(kind) for kind in batch.schema.types) else None
        cells = [column.to_pylist(maps_as_pydicts=maps) for column in batch.columns]
        yield from map(dict, map(zip, repeat(names), zip(*cells, strict=True)))


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
