"""Rows of CSV and of tab-separated files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs.data.source import Record, Source

_LONGEST_CELL: Final = 2**31 - 1
"""The module's own limit of 131,072 characters is shorter than what models write."""

_NO_TEXT: Final = re.compile("[\ud800-\udfff]")
_QUOTED: Final = re.compile(rb'"[^"]*(?:"|$)')


def read_csv(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read comma-separated rows below a header; cells are text and may span lines.

    Where the header has semicolons and no comma, but for those in quotes, these are what separates:
    spreadsheets write them wherever the comma is the decimal sign.
    """
    first = handle.readline()
    header = _QUOTED.sub(b"", first)
    delimiter = ";" if b";" in header and b"," not in header else ","
    return _read(chain([first], handle), source, delimiter)


def read_tsv(handle: BinaryIO, source: Source) -> Iterator[Record]:
    """Read tab-separated rows below a header."""
    return _read(handle, source, "\t")


def _read(lines: Iterable[bytes], source: Source, delimiter: str) -> Iterator[Record]:
    """Number the rows; one that is not CSV is an error row, and the next line goes on."""
    csv.field_size_limit(_LONGEST_CELL)
    # Strict, since a quote that is never closed would otherwise swallow the rest in silence.
    reader = csv.reader(_decode(lines, source), delimiter=delimiter, strict=True)
    header: list[str] = []
    number = 0
    while (cells := _next(reader)) is not None:
        if not header and cells:
            header = _check_header(cells, source, delimiter)
        elif cells:
            number += 1
            yield number, cells if isinstance(cells, InputError) else _row(header, cells)


def _decode(lines: Iterable[bytes], source: Source) -> Iterator[str]:
    """Yield the lines of a file as text; what is not UTF-8 becomes lone surrogates."""
    for line in lines:
        source.done += len(line)
        yield line.decode("utf-8", "surrogateescape")


def _next(reader: Any) -> list[str] | InputError | None:
    """Read a row, empty for an empty line; None at the end."""
    first = reader.line_num + 1
    try:
        return next(reader, None)
    except csv.Error as error:
        problem = str(error)
        if problem == "unexpected end of data" or reader.line_num > first:
            problem += ": a quote that opens here is never closed"
        return InputError(f"not CSV: line {first}: {problem}")


def _check_header(cells: list[str] | InputError, source: Source, delimiter: str) -> list[str]:
    """Check the columns' names; one that has none, as spreadsheets write them, is called ""."""
    if isinstance(cells, InputError):
        raise InputError(f"{source.name}: the header is {cells}")
    if len(cells) == 1 and any(sign in cells[0] for sign in {"\t", ",", ";"} - {delimiter}):
        form = "csv" if delimiter == "\t" else "tsv"
        raise InputError(
            f"{source.name}: the header {cells[0]!r} is one column; is the format {form}?"
        )
    names = [cell if cell.strip() else "" for cell in cells]
    named = list(filter(None, names))
    if not named:
        raise InputError(f"{source.name}: the header names no column; it has to be the first row")
    if len(set(named)) < len(named):
        raise InputError(f"{source.name}: two columns of {named} have one name")
    return names


def _row(header: list[str], cells: list[str]) -> dict[str, str] | InputError:
    """Pair cells with the header; the columns that a short row lacks are absent."""
    if len(cells) > len(header):
        return InputError(f"{len(cells)} cells under a header of {len(header)}")
    if _NO_TEXT.search("".join(cells)):
        return InputError("bytes that are not UTF-8; save the file as UTF-8")
    return {name: cell for name, cell in zip(header, cells, strict=False) if name}
