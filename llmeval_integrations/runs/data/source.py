"""Numbered rows, and which of them are read."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from time import perf_counter
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote

Record: TypeAlias = "tuple[int, Any]"
"""The number of a row, the first being 1, and the row: a mapping, a Sample, or the InputError that
says why it cannot be read."""

CHUNK: Final = 128
"""The most rows of a chunk: with more they would not fit the processor's cache."""

HEAD: Final = 8
"""The rows that are looked at before the first is evaluated."""

_CHUNK_BYTES: Final = 8_000_000
_CHUNK_SECONDS: Final = 0.25


@dataclass
class Source:
    """Rows that are read once, with how far the reading has come."""

    name: str
    """What a person calls it."""

    records: Iterator[Record] = field(default_factory=lambda: iter(()))
    done: int = 0
    """How much has been read: bytes of a text file, else rows."""

    total: int | None = None
    """How much there is to read in the same measure, None where unknown."""

    @property
    def share(self) -> float | None:
        """The share of the data that has been read, None where its size is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None

    def peek(self, count: int = HEAD) -> list[Record]:
        """Return the next rows, which stay to be read."""
        records = list(islice(self.records, count))
        self.records = chain(records, self.records)
        return records

    def chunks(self, size: int = CHUNK) -> Iterator[list[Record]]:
        """Yield chunks of rows, smaller ones where the caller takes long over each.

        So whoever watches a slow run sees rows come, and long texts do not fill the memory.
        """
        current, records = min(HEAD, size), iter(self.records)
        start, began = self.done, perf_counter()
        chunk: list[Record] = []
        while part := list(islice(records, min(current - len(chunk), HEAD))):
            chunk += part
            if len(chunk) >= current or self.done - start > _CHUNK_BYTES:
                yield chunk
                is_quick = perf_counter() - began < _CHUNK_SECONDS
                current = min(2 * current, size) if is_quick else max(current // 2, 1)
                chunk, start, began = [], self.done, perf_counter()
        if chunk:
            yield chunk

    def select(self, limit: int | None, sample: int | None, seed: int = 0) -> None:
        """Keep the first `limit` rows, and of those `sample` drawn by chance, in their order.

        The same seed draws the same rows. Raises InvalidOptionError.
        """
        for name, value in (("limit", limit), ("sample", sample)):
            if value is not None and (type(value) is not int or value < 1):
                raise InvalidOptionError(
                    f"{name}={quote(value)} is not a whole number above 0, or None"
                )
        if type(seed) is not int:
            raise InvalidOptionError(f"seed={quote(seed)} is not a whole number")
        if seed and sample is None:
            raise InvalidOptionError(f"seed={seed} needs sample=..., how many rows are drawn")
        if limit is not None or sample is not None:
            self.total = None  # how far the data was read says nothing any more
        self.records = islice(self.records, limit)
        if sample is not None:
            self.records = _draw(self.records, sample, random.Random(seed))  # noqa: S311


def _draw(records: Iterable[Record], count: int, chance: random.Random) -> Iterator[Record]:
    """Draw rows in one pass, each with the same chance (Vitter 1985, algorithm R)."""
    kept: list[Record] = []
    for place, record in enumerate(records):
        if place < count:
            kept.append(record)
        elif (instead := chance.randrange(place + 1)) < count:
            kept[instead] = record
    yield from sorted(kept, key=lambda record: record[0])
