"""Rows of text files: JSON Lines, a JSON array, CSV and tab-separated values."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.numbers import decode_as_python

if TYPE_CHECKING:
    from llmeval_integrations.runs.data.source import Record, Source

_LONGEST_CELL: Final = 2**31 - 1
"""The module's own limit of 131,072 characters is shorter than what models write."""

_NO_TEXT: Final = re.compile("[\ud800-\udfff]")
_QUOTED: Final = re.compile(rb'"[^"]*(?:"|$)')

_decode_row = msgspec.json.Decoder(dict[str, Any]).decode
_split_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


def read_lines(lines: Iterable[bytes], source: Source) -> Iterator[Record]:
    """Read JSON Lines one by one; empty lines are no rows."""
    number = 0
    for line in lines:
        source.done += len(line)
        if not line.isspace():
            number += 1
            yield number, parse_row(line)


def read_json(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read a JSON array of objects; JSON Lines where the first line is an object by itself."""
    first = b"\n"
    while first.isspace():
        first = handle.readline()
    if first.lstrip()[:1] != b"[" and not isinstance(parse_row(first), InputError):
        yield from read_lines(chain([first], handle), source)
        return
    if not first:
        return
    try:
        items = _split_array(first + handle.read())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source.name} is not an array of objects: {error}") from error
    source.total = len(items)
    for number, item in enumerate(items, 1):
        source.done = number
        yield number, parse_row(bytes(item))


def parse_row(line: bytes) -> dict[str, Any] | InputError:
    """Read one JSON object, or say why it is none.

    What Python writes is accepted where JSON is stricter, since data sets are full of it: NaN,
    Infinity and lone surrogates. Integers are exact at any size. A name that stands twice is
    refused, as one of its values would be lost.
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
    for name in _quote(tuple(row)):
        if line.count(name) != 1:  # it may stand again further in, so few rows come here
            objects: list[list[tuple[str, Any]]] = []  # the outermost comes last
            json.loads(line, object_pairs_hook=objects.append, parse_int=str)
            [(most, times)] = Counter(each for each, _ in objects[-1]).most_common(1)
            return row if times == 1 else InputError(f"the name {most!r} stands twice")
    return row


@lru_cache(maxsize=1_000)
def _quote(names: tuple[str, ...]) -> list[bytes]:
    return [b'"%s"' % name.encode(errors="surrogatepass") for name in names]


def read_csv(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read comma-separated rows below a header; cells are text and may span lines.

    Where the header has semicolons and no comma, but for those in quotes, these are what separates:
    spreadsheets write them wherever the comma is the decimal sign.
    """
    first = handle.readline()
    header = _QUOTED.sub(b"", first)
    delimiter = ";" if b";" in header and b"," not in header else ","
    return _read_cells(chain([first], handle), source, delimiter)


def read_tsv(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read tab-separated rows below a header."""
    return _read_cells(handle, source, "\t")


def _read_cells(lines: Iterable[bytes], source: Source, delimiter: str) -> Iterator[Record]:
    """Number the rows; one that is not CSV is an error row, and the next line goes on."""

    def texts() -> Iterator[str]:
        for line in lines:
            source.done += len(line)
            yield line.decode("utf-8", "surrogateescape")

    csv.field_size_limit(_LONGEST_CELL)
    # Strict, since a quote that is never closed would otherwise swallow the rest in silence.
    reader = csv.reader(texts(), delimiter=delimiter, strict=True)
    header: list[str] = []
    number = 0
    while True:
        line = reader.line_num + 1
        cells: list[str] | None = None
        try:
            cells = next(reader, None)
            if cells is None:
                return
        except csv.Error as error:
            problem = f"not CSV: the row that begins in line {line}: {error}"
            if not header:
                raise InputError(f"{source.name}: the header is {problem}") from error
        if not header and cells:
            header = _check_header(cells, source)
        elif cells != []:
            number += 1
            yield number, InputError(problem) if cells is None else _row(header, cells)


def _check_header(names: list[str], source: Source) -> list[str]:
    """Check the columns' names; one that has none, as spreadsheets write them, is not read."""
    if len(names) == 1 and any(sign in names[0] for sign in "\t,;"):
        raise InputError(
            f"{source.name}: the header {names[0]!r} is one column; is it csv or tsv (format)?"
        )
    named = [name for name in names if name.strip()]
    if len({*named}) < len(named):
        raise InputError(f"{source.name}: two columns of {named} have one name")
    return names


def _row(header: list[str], cells: list[str]) -> dict[str, str] | InputError:
    """Pair cells with the header; the columns that a short row lacks are absent."""
    if len(cells) > len(header):
        return InputError(f"{len(cells)} cells under a header of {len(header)}")
    if _NO_TEXT.search("".join(cells)):
        return InputError("bytes that are not UTF-8; save the file as UTF-8")
    return {name: cell for name, cell in zip(header, cells, strict=False) if name.strip()}
