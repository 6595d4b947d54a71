"""A part of the data: its first rows, or some drawn by chance."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from itertools import islice

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.runs.reading.source import Record, Source


def select(source: Source, limit: int | None, sample: int | None, seed: int) -> None:
    """Leave of a source its first `limit` rows, and of those `sample` drawn by chance.

    The drawn rows keep their order and their numbers; the same seed draws the same ones. They are
    kept in memory, the others are not. Raises InvalidOptionError.
    """
    for name, value in (("limit", limit), ("sample", sample)):
        is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
        if value is not None and not is_count:
            raise InvalidOptionError(
                f"{name}={quote(value)} is not a whole number above 0, or None"
            )
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise InvalidOptionError(f"seed={quote(seed)} is not a whole number")
    if seed and sample is None:
        raise InvalidOptionError(f"seed={seed} says which rows are drawn; say how many: sample=...")
    if limit is not None:
        source.records = islice(source.records, min(limit, sys.maxsize))
        source.total = source.lines_of = None  # how far the file was read says nothing any more
    if sample is not None:
        source.records = _drawn(source.records, sample, random.Random(seed))  # noqa: S311
        source.total = source.lines_of = None


def _drawn(records: Iterable[Record], count: int, chance: random.Random) -> Iterator[Record]:
    """Draw rows in one pass, each with the same chance (Vitter 1985, algorithm R)."""
    kept: list[tuple[int, Record]] = []
    for place, record in enumerate(records):
        if place < count:
            kept.append((place, record))
        elif (instead := chance.randrange(place + 1)) < count:
            kept[instead] = (place, record)
    kept.sort(key=lambda each: each[0])
    yield from (record for _, record in kept)
