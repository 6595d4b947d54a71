"""Where rows come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Final

from llmeval_integrations.errors import InputError

Record = tuple[int, Any]
"""A row and its number: a mapping, a Sample, or the InputError that says why it cannot be read."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass
class Source:
    """Numbered rows that are read once, with how far the reading has come."""

    name: str
    """What a person calls it."""

    unit: str = "row"
    """What the numbers count: lines of a text file, items of an array, or rows; empty where they
    say nothing to whoever has the data."""

    done: int = 0
    """How much has been read: bytes of a text file, else rows."""

    total: int | None = None
    """How much there is to read in the same measure, None where unknown."""

    lines_of: str | None = None
    """The path of the file whose lines the rows are, all of them; None for anything else."""

    records: Iterator[Record] = field(default_factory=lambda: iter(()))
    """The rows."""

    def place(self, number: int) -> str:
        """Word where a row stands; empty where its number does not say."""
        return self.unit and f"{self.unit} {number}"

    def ahead(self, most: int) -> list[Record]:
        """Give the next rows, up to so many, which stay to be read."""
        records = list(islice(self.records, most))
        self.records = chain(records, self.records)
        return records

    def without_mark(self, start: bytes) -> bytes:
        """Take the byte order mark off a file's beginning; raise InputError where it is UTF-16."""
        if start.startswith(_UTF_16):
            raise InputError(f"{self.name} is UTF-16; save it as UTF-8")
        return start.removeprefix(BYTE_ORDER_MARK)

    @property
    def share(self) -> float | None:
        """The share of the data that has been read, None where its size is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None
