"""Cutting a stream of rows into chunks that fit memory and patience."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from time import perf_counter
from typing import Final

from llmeval_integrations.runs.reading.source import Record, Source

MOST_ROWS: Final = 128
"""The most rows of a chunk: with more they would not fit the processor's cache."""

MOST_BYTES: Final = 8_000_000
"""The bytes of text after which a chunk ends with the rows that it has begun, 8 at most."""

AT_ONCE: Final = 8
"""The rows that are read at a time, and before the first is evaluated."""

_PATIENCE: Final = 0.25
"""Seconds that a chunk may take, so that whoever watches sees rows come."""


_MOST_AT_WORK: Final = 50_000
"""Allocations before the garbage collector looks for any: more than one chunk makes."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Keep the garbage collector from looking, over and over, through what a chunk is made of.

    None of that is garbage while it is at work, and all of it is gone after it.
    """
    before = gc.get_threshold()
    if before[0]:  # else it is off
        gc.set_threshold(max(before[0], _MOST_AT_WORK), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def in_chunks(source: Source, most_rows: int = MOST_ROWS) -> Iterator[list[Record]]:
    """Yield rows in chunks, smaller ones where the caller takes long over each."""
    size, start, began = AT_ONCE, source.done, perf_counter()
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
