"""Shares and how sure they are."""

from __future__ import annotations

import math
from typing import NamedTuple

Interval = tuple[float, float]
"""The lower and the upper bound."""


class Share(NamedTuple):
    """A count out of a total."""

    part: int
    """How many are meant."""

    whole: int
    """Out of how many."""

    @property
    def rate(self) -> float | None:
        """The share as a figure from 0 to 1; None of nothing."""
        return self.part / self.whole if self.whole else None

    def interval(self, level: float = 0.95) -> Interval | None:
        """Return the confidence interval of the rate; None of nothing."""
        return wilson(self.part, self.whole, level)


def wilson(passes: int, n: int, level: float = 0.95) -> Interval | None:
    """Return the confidence interval of a rate, without continuity correction; None for n = 0.

    Wilson, J. Am. Stat. Assoc. 22 (1927) 209.
    """
    if n == 0:
        return None
    z = z_of(level)
    rate, z2 = passes / n, z * z
    center = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    low = 0.0 if passes == 0 else max(0.0, center - half)
    high = 1.0 if passes == n else min(1.0, center + half)
    return low, high


def z_of(level: float) -> float:
    """Return how many standard deviations either way hold that share of a normal distribution."""
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + level) / 2)
