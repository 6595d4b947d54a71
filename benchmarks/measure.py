"""Timing both sides of a comparison in turns, so that both meet the same machine."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


class Timing(NamedTuple):
    """Seconds a row of every side, one figure a round."""

    ours: list[float]
    theirs: list[float]

    @property
    def ratio(self) -> float:
        """How many times faster we are: the median over rounds."""
        return statistics.median(self.ratios)

    @property
    def ratios(self) -> list[float]:
        """Their time by ours, round by round."""
        return [theirs / ours for ours, theirs in zip(self.ours, self.theirs)]


def seconds(run: Callable[[], object], rows: int, at_least: float) -> float:
    """Return the seconds a row, over as many passes as fill `at_least` seconds."""
    passes, spent = 0, 0.0
    while spent < at_least or passes == 0:
        start = time.perf_counter()
        run()
        spent += time.perf_counter() - start
        passes += 1
    return spent / passes / rows


def compare(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    rows: int,
    *,
    rounds: int = 7,
    at_least: float = 0.05,
) -> Timing:
    """Time both sides in turns, after one pass of each to warm up."""
    ours()
    theirs()
    timing = Timing([], [])
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            timing.ours.append(seconds(ours, rows, at_least))
            timing.theirs.append(seconds(theirs, rows, at_least))
            gc.collect()
    finally:
        gc.enable()
    return timing
