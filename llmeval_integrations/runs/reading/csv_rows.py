"""Rows of CSV and of tab-separated files."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.reading.source import Record, Source

_LONGEST_CELL: Final = 2**31 - 1

_QUOTED: Final = re.compile(rb'"[^"]*(?:"|$)')


def read_csv(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read comma-separated rows below a header; cells are text and may span lines.

    Where the header has semicolons and no comma, but for those in quotes, these are what separates:
    spreadsheets write them wherever the comma is the decimal sign.
    """
    beginning = []
    while line := handle.readline():
        beginning.append(line)
        if not line.isspace():
            break
    header = _QUOTED.sub(b"", b"".join(beginning[-1:]))
    delimiter = ";" if b";" in header and b"," not in header else ","
    return _rows(chain(beginning, handle), source, delimiter)


def read_tsv(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read tab-separated rows below a header."""
    return _rows(handle, source, "\t")


def _rows(handle: Iterable[bytes], source: Source, delimiter: str) -> Iterator[Record]:
    """Number the rows, and tell on which line each begins; the header stands on the first.

    A row that is not CSV is an error row; the next one begins on the line behind the fault.
    """
    source.unit = "line"
    # Strict, since a quote that is never closed would otherwise swallow the rest in silence.
    reader = csv.reader(_decode(handle, source), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    number, line = 1, 1
    while (cells := _next(reader, line)) is not None:
        if header is None:
            header = _header(cells, source, delimiter) if cells else None
        elif cells:
            row = cells if isinstance(cells, InputError) else _row(header, cells)
            yield (number if number == line else (number, line)), row
            number += 1
        line = reader.line_num + 1


def _decode(handle: Iterable[bytes], source: Source) -> Iterator[str]:
    """Yield the lines of a file as text; what is not UTF-8 becomes lone surrogates."""
    for line in handle:
        text = line if source.done else source.without_mark(line)
        source.done += len(line)
        yield text.decode("utf-8", "surrogateescape")


def _next(reader: Any, line: int) -> list[str] | InputError | None:
    """Read the row that begins on this line, an empty one for an empty line; None at the end.

    The module's limit of 131,072 characters a cell is shorter than what models write, and
    belongs to the whole process: it is lifted for this row alone.
    """
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        cells: list[str] | None = next(reader, None)
    except csv.Error as error:
        return InputError(f"not CSV: {_describe(str(error), line, reader.line_num)}")
    finally:
        csv.field_size_limit(limit)
    return cells


def _describe(problem: str, first: int, last: int) -> str:
    """Word what is wrong with a row that begins on one line and was read up to another."""
    if problem == "unexpected end of data":
        rest = f"; lines {first} to {last} are read as one row" if last > first else ""
        return f"a quote that opens here is never closed{rest}"
    if last == first:
        return problem
    return f"{problem} in line {last}; is a quote that opens here never closed?"


def _header(cells: list[str] | InputError, source: Source, delimiter: str) -> list[str]:
    """Check the columns' names; one that has none, as spreadsheets write them, is called ""."""
    if isinstance(cells, InputError):
        raise InputError(f"{source.name}: the header is {cells}")
    other, form = (",;", "csv") if delimiter == "\t" else ("\t", "tsv")
    if len(cells) == 1 and any(sign in cells[0] for sign in other):
        raise InputError(
            f"{source.name}: the header {cells[0]!r} is one column; is the format {form}?"
        )
    names = [cell if cell.strip() else "" for cell in cells]
    named = Counter(filter(None, names)).most_common(1)
    if not named:
        raise InputError(f"{source.name}: the header names no column; it has to be the first row")
    cell, count = named[0]
    if count > 1:
        raise InputError(f"{source.name}: two columns are called {cell!r}")
    return names


def _row(header: list[str], cells: list[str]) -> dict[str, str] | InputError:
    """Pair cells with the header; the columns that a short row lacks are absent."""
    if len(cells) > len(header):
        return InputError(f"{len(cells)} cells under a header of {len(header)}")
    row = dict(zip(header, cells, strict=False))
    row.pop("", None)
    try:
        "".join(row.values()).encode()
    except UnicodeEncodeError:
        return InputError("bytes that are not UTF-8; save the file as UTF-8")
    return row
