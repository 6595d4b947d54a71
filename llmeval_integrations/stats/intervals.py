"""Rates, their intervals, and the quantiles that these need."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

Interval = tuple[float, float]
"""The lower and the upper bound."""

_COVERAGE: Final = 0.95
"""The chance that an interval contains the true value."""

Z: Final = 1.959963984540054
"""The quantile of the normal distribution for a two-sided interval with this coverage."""


class Share(NamedTuple):
    """A count out of a total."""

    part: int
    whole: int

    @property
    def rate(self) -> float | None:
        """The share as a figure from 0 to 1; None for a total of 0."""
        return self.part / self.whole if self.whole else None

    def interval(self) -> Interval | None:
        """Return the 95 % interval of the rate; None for a total of 0."""
        return wilson(self.part, self.whole)


def wilson(passes: int, n: int) -> Interval | None:
    """Return the 95 % interval of a rate over independent rows; None for n = 0.

    Wilson, J. Am. Stat. Assoc. 22 (1927) 209, without continuity correction.
    """
    return wilson_of(passes / n, n, Z) if n else None


def wilson_of(rate: float, n: float, quantile: float) -> Interval:
    """Return Wilson's interval of a rate, or of a mean from 0 to 1, over n effective rows."""
    square = quantile * quantile
    center = (rate + square / (2 * n)) / (1 + square / n)
    spread = math.sqrt(rate * (1 - rate) / n + square / (4 * n * n))
    half = quantile / (1 + square / n) * spread
    low = 0.0 if rate == 0 else max(0.0, center - half)
    high = 1.0 if rate == 1 else min(1.0, center + half)
    return low, high


def t_of(freedom: int) -> float:
    """Return the quantile of Student's distribution for a two-sided 95 % interval.

    It is exact for one and two degrees of freedom. From three on it is right to 0.2 % (Abramowitz
    and Stegun, Handbook of Mathematical Functions (1964), 26.7.5). It approaches `Z` for many.
    """
    if freedom == 1:
        return math.tan(math.pi * _COVERAGE / 2)
    if freedom == 2:
        return _COVERAGE * math.sqrt(2 / (1 - _COVERAGE**2))
    z = Z
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))
