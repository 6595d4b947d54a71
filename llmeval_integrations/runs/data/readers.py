"""Rows of text files, Parquet files, tables of pyarrow, DataFrames and lists.

A row is an object, or the InputError that says why the row cannot be read.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
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
_QUOTED: Final = re.compile(rb'"[^"]*(?:"|$)')

_MARKS: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{},]', re.DOTALL)
"""The strings of a JSON text, and what opens, closes and separates its values."""

_decode_row = msgspec.json.Decoder(dict[str, Any]).decode
_decode_values = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_split_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


def read_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Read JSON Lines, each for `parse_row`. Empty lines are skipped."""
    return (line for line in lines if not line.isspace())


def read_json(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Read a JSON array of objects. If the first line is an object, read JSON Lines."""
    first = next((line for line in lines if not line.isspace()), b"[]")
    if first.lstrip()[:1] != b"[" and not isinstance(parse_row(first), InputError):
        return read_lines(chain([first], lines))
    text = first.lstrip() + b"".join(lines)
    try:
        return map(bytes, _split_array(text))
    except (ValueError, RecursionError) as error:
        try:
            return iter(_split_by_marks(text.decode()))
        except (ValueError, RecursionError):
            raise InputError(f"expected an array of objects: {error}") from error


def _split_by_marks(text: str) -> list[bytes]:
    """Split an array in which rows may be no JSON that msgspec reads; or raise ValueError."""
    items, start, depth = [], text.index("[", 0, 1) + 1, 0
    for found in _MARKS.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        if depth == 0 or (depth == 1 and found[0] == ","):
            items.append(text[start : found.start()].strip().encode())
            start = found.end()
        if depth == 0:
            break
    if depth or text[start:].strip() or not all(items):
        raise ValueError("the array has no end or an empty place, or something follows")
    return items


def parse_row(line: bytes) -> dict[str, Any] | InputError:
    """Parse one JSON object.

    NaN, Infinity and lone surrogates are accepted, because Python writes them and many data sets
    contain them. Integers are exact. A name that occurs twice is an error: one of its values would
    be lost.
    """
    try:
        row = _decode_row(line)
    except (ValueError, RecursionError):
        try:
            row = decode_as_python(line.decode().rstrip("\r\n"))
        except json.JSONDecodeError as error:
            return InputError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}")
        except (ValueError, ArithmeticError, RecursionError) as error:
            return InputError(f"not JSON that can be read: {error}")
        if not isinstance(row, dict):
            return InputError(f"expected a JSON object, got {quote(row)}")
    if not _is_whole(line, row):
        objects: list[list[tuple[str, Any]]] = []  # the outermost comes last
        json.loads(line, object_pairs_hook=objects.append, parse_int=str)
        [(most, times)] = Counter(name for name, _ in objects[-1]).most_common(1)
        return row if times == 1 else InputError(f"the name {most!r} occurs twice")
    return row


def _is_whole(line: bytes, row: dict[str, Any]) -> bool:
    """Return whether the members of a row are surely all that its line has.

    If a name is there twice, the line is longer than its members. This takes half the time of
    counting the names, and a tenth of the time of Python's parser.
    """
    if not row:
        return True
    try:
        values = _decode_values(line).values()
    except (ValueError, RecursionError):
        return False
    compact = sum(map(len, values)) + _measure_names(tuple(row))
    # Programs write no white space, or one space after each colon and comma.
    spaces = 2 * len(row) - 1 if line.startswith(b'": ', line.find(b'":')) else 0
    return len(line.rstrip()) == compact + spaces


@lru_cache(maxsize=1_000)
def _measure_names(names: tuple[str, ...]) -> int:
    """Return the length of an object with these names, without its values and white space."""
    return sum(len(name.encode(errors="surrogatepass")) + 4 for name in names) + 1


def read_csv(lines: Iterator[bytes]) -> Iterator[Any]:
    """Read comma-separated rows below a header. Cells are texts and may contain line breaks.

    If the header has semicolons and no comma outside quotes, semicolons separate the cells.
    Spreadsheets write this where the comma is the decimal sign.
    """
    first = next(lines, b"")
    header = _QUOTED.sub(b"", first)
    delimiter = ";" if b";" in header and b"," not in header else ","
    return _read_cells(chain([first], lines), delimiter)


def read_tsv(lines: Iterator[bytes]) -> Iterator[Any]:
    """Read tab-separated rows below a header."""
    return _read_cells(lines, "\t")


def _read_cells(lines: Iterator[bytes], delimiter: str) -> Iterator[Any]:
    """Read rows. After a row that is not CSV, reading goes on with the next line."""
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
            named = [name for name in header if name.strip()]
            if len({*named}) < len(named):
                raise InputError(f"two columns of {named} have one name")


def _row(header: list[str], cells: list[str]) -> dict[str, str] | InputError:
    """Pair cells with the header. Columns without a name, as pandas writes one, are left out."""
    if len(cells) > len(header):
        return InputError(f"{len(cells)} cells under a header of {len(header)}")
    if _NO_TEXT.search("".join(cells)):
        return InputError("bytes that are not UTF-8; save the file as UTF-8")
    return {name: cell for name, cell in zip(header, cells, strict=False) if name.strip()}


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
