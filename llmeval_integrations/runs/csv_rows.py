"""Rows of CSV and of tab-separated files."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from llmeval_integrations.errors import InputError
from llmeval_integrations.runs.source import Record, Source

_LONGEST_CELL: Final = 2**31 - 1


def read_csv(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read comma-separated rows below a header; cells are text and may span lines."""
    return _rows(handle, source, ",")


def read_tsv(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read tab-separated rows below a header."""
    return _rows(handle, source, "\t")


def _rows(handle: BinaryIO, source: Source, delimiter: str) -> Iterator[Record]:
    """Number each row by the line on which it begins; the header stands on line 1."""
    source.unit = "line"
    # Strict, since a quote that is never closed would otherwise swallow the rest in silence.
    reader = csv.reader(_lines(handle, source), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        number = reader.line_num + 1
        cells = _next(reader)
        if cells is None:
            return
        if header is None:
            header = _header(cells, source) if cells else None
        elif isinstance(cells, InputError):
            yield number, cells
        elif cells:
            yield number, _row(header, cells)


def _next(reader: Iterator[list[str]]) -> list[str] | InputError | None:
    """Read the next row, an empty one for an empty line; None at the end.

    The module's limit of 131,072 characters a cell is shorter than what models write, and
    belongs to the whole process: it is lifted for this row alone.
    """
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(reader, None)
    except csv.Error as error:
        return InputError(f"not CSV: {error}")
    finally:
        csv.field_size_limit(limit)


def _header(cells: list[str] | InputError, source: Source) -> list[str]:
    if isinstance(cells, InputError):
        raise InputError(f"{source.name}: the header is {cells}")
    if len(cells) == 1 and (";" in cells[0] or "\t" in cells[0]):
        raise InputError(
            f"{source.name}: the header {cells[0]!r} has no comma; save it with commas, or as TSV"
        )
    cell, count = Counter(cells).most_common(1)[0] if cells else ("", 0)
    if count > 1:
        raise InputError(f"{source.name}: two columns are called {cell!r}")
    return cells


def _row(header: list[str], cells: list[str]) -> dict[str, str] | InputError:
    """Pair cells with the header; the columns that a short row lacks are absent."""
    if len(cells) > len(header):
        return InputError(f"{len(cells)} cells under a header of {len(header)}")
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return InputError("bytes that are not UTF-8")
    return dict(zip(header, cells, strict=False))


def _lines(handle: Iterable[bytes], source: Source) -> Iterator[str]:
    """Decode line by line; what is not UTF-8 becomes lone surrogates, which `_row` finds."""
    for number, line in enumerate(handle):
        source.done += len(line)
        start = line if number else source.without_mark(line)
        yield start.decode(errors="surrogateescape")
