"""Where rows come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.errors import InputError

RowNumber: TypeAlias = "int | tuple[int, int]"
"""A row's number, the first being 1, with the line on which it begins where that is another."""

Record: TypeAlias = "tuple[RowNumber, Any]"
"""A row and its number: a mapping, a Sample, or the InputError that says why it cannot be read."""


def on_line(number: int, line: int) -> RowNumber:
    """Return the number of the row that begins on this line."""
    return number if number == line else (number, line)


def place_of(number: RowNumber) -> tuple[int, int]:
    """Return a row's number by itself, and the line on which it begins."""
    return number if isinstance(number, tuple) else (number, number)


BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_GZIP: Final = b"\x1f\x8b"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass
class Source:
    """Numbered rows that are read once, with how far the reading has come."""

    name: str
    """What a person calls it."""

    unit: str = "row"
    """What tells people where a row stands: its line in a text file, else the number of an item of
    an array, or of a row; empty where that says nothing to whoever has the data."""

    done: int = 0
    """How much has been read: bytes of a text file, else rows."""

    total: int | None = None
    """How much there is to read in the same measure, None where unknown."""

    lines_of: str | None = None
    """The path of the file whose lines the rows are, all of them; None for anything else."""

    records: Iterator[Record] = field(default_factory=lambda: iter(()))
    """The rows."""

    def place(self, number: RowNumber) -> str:
        """Word where a row stands; empty where its number does not say."""
        return self.unit and f"{self.unit} {place_of(number)[1]}"

    def ahead(self, most: int) -> list[Record]:
        """Return the next rows, up to so many, which stay to be read."""
        records = list(islice(self.records, most))
        self.records = chain(records, self.records)
        return records

    def without_mark(self, start: bytes) -> bytes:
        """Take the byte order mark off a file's beginning.

        Raises InputError where it is UTF-16, or compressed.
        """
        if start.startswith(_GZIP):
            raise InputError(f"{self.name} is compressed (gzip); unpack it first")
        if start.startswith(_UTF_16):
            raise InputError(f"{self.name} is UTF-16; save it as UTF-8")
        return start.removeprefix(BYTE_ORDER_MARK)

    @property
    def share(self) -> float | None:
        """The share of the data that has been read, None where its size is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None
