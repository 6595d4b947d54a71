"""Cutting a stream of rows into chunks that fit memory and patience."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from time import perf_counter
from typing import Final

from llmeval_integrations.runs.source import Record, Source

MOST_ROWS: Final = 32
"""The most rows of a chunk: with more the garbage collector would look through those at work."""

MOST_BYTES: Final = 8_000_000
"""The bytes of text after which a chunk ends with the rows that it has begun, 8 at most."""

AT_ONCE: Final = 8
"""The rows that are read at a time, and before the first is evaluated."""

_FIRST: Final = AT_ONCE

_PATIENCE: Final = 0.25
"""Seconds that a chunk may take, so that whoever watches sees rows come."""


def in_chunks(source: Source, most_rows: int = MOST_ROWS) -> Iterator[list[Record]]:
    """Yield rows in chunks, smaller ones where the caller takes long over each."""
    size, start, began = _FIRST, source.done, perf_counter()
    records = iter(source.records)
    chunk: list[Record] = []
    while some := list(islice(records, min(size - len(chunk), AT_ONCE))):
        chunk += some
        if len(chunk) >= size or source.done - start > MOST_BYTES:
            yield chunk
            now = perf_counter()
            size = min(2 * size, most_rows) if now - began < _PATIENCE else max(size // 2, 1)
            chunk, start, began = [], source.done, now
    if chunk:
        yield chunk
