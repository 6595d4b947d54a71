"""Rows of CSV and of tab-separated files."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from sys import getsizeof
from typing import BinaryIO, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.reading.source import Record, Source

_LONGEST_CELL: Final = 2**31 - 1

_LONGEST: Final = 16 * 2**20
"""The bytes of memory that the further lines of a record may take before it counts as unclosed."""

_MOST_AGAIN: Final = 8 * _LONGEST
"""How much is read again before records have to be short: a file of open quotes takes long."""

_SHORTEST: Final = 2**14
"""How long a record may be even then."""

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

    A record of several lines that is not CSV is an error row of its first line alone. The others
    are read again, since rows stand there if a quote was forgotten.
    """
    source.unit = "line"
    lines = _Lines(handle, source)
    reader, record = _reader(lines, delimiter), lines.record
    header: list[str] | None = None
    number = line = 1
    while (cells := _next(reader, record, line)) is not None:
        if header is None:
            header = _header(cells, source, delimiter) if cells else None
        elif cells:
            row = cells if isinstance(cells, InputError) else _row(header, cells)
            yield (number if number == line else (number, line)), row
            number += 1
        if isinstance(cells, InputError):
            lines.read_again()
            reader = _reader(lines, delimiter)
            line += 1
        else:
            line += len(record)
            record.clear()


def _reader(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    # Strict, since a quote that is never closed would otherwise swallow the rest in silence.
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _next(
    reader: Iterator[list[str]], record: Sequence[bytes], line: int
) -> list[str] | InputError | None:
    """Read the next row, an empty one for an empty line; None at the end.

    The module's limit of 131,072 characters a cell is shorter than what models write, and
    belongs to the whole process: it is lifted for this row alone.
    """
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(reader, None)
    except csv.Error as error:
        if str(error) == "unexpected end of data":
            return InputError("not CSV: a quote that opens here is never closed")
        if len(record) == 1:
            return InputError(f"not CSV: {error}")
        return InputError(
            f"not CSV: {error} in line {line + len(record) - 1}; "
            "is a quote that opens here never closed?"
        )
    finally:
        csv.field_size_limit(limit)


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


class _Lines:
    """The lines of a file as text, of which those of the record under way can be read again.

    What is not UTF-8 becomes lone surrogates, which `_row` finds. Lines are kept, not sought in
    the file again, for standard input has no way back.
    """

    def __init__(self, handle: Iterable[bytes], source: Source) -> None:
        self.record: list[bytes] = []
        """The lines of the record under way; who reads the records clears it after each."""

        self._handle = handle
        self._source = source
        self._again: deque[bytes] = deque()
        self._patience = _MOST_AGAIN

    def read_again(self) -> None:
        """Have the next iteration begin with the second line of the record under way."""
        again = self.record[1:]
        self._again.extendleft(reversed(again))
        self._source.done -= sum(map(len, again))
        self._patience -= sum(map(getsizeof, again))
        self.record.clear()

    def __iter__(self) -> Iterator[str]:
        """Yield line after line, and end early where the record under way becomes too long."""
        source, record = self._source, self.record
        is_first = not source.done
        longest = min(_LONGEST, max(_SHORTEST, self._patience))
        size = 0
        for line in chain(self._kept(), self._handle):
            source.done += len(line)
            record.append(line)
            if is_first:
                line, is_first = source.without_mark(line), False  # noqa: PLW2901
            yield line.decode("utf-8", "surrogateescape")
            if not record:
                size = 0
            elif len(record) > 1:  # one long line is whole anyway, and may be a row
                size += getsizeof(line)
                if size > longest:
                    return

    def _kept(self) -> Iterator[bytes]:
        while self._again:
            yield self._again.popleft()
