"""Rates and means with their intervals; rows of the same group are not independent."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

Interval = tuple[float, float]  # the lower and the upper bound
_COVERAGE: Final = 0.95  # the chance that an interval contains the true value
Z: Final = 1.959963984540054
"""The quantile of the normal distribution for a two-sided interval with this coverage."""

_ROUNDING: Final = 1e-10
"""A spread below this share of the largest figure is a rounding error of floats."""


class Share(NamedTuple):
    """A count out of a total."""

    part: int
    whole: int

    @property
    def rate(self) -> float | None:
        """The share as a figure from 0 to 1; None for a total of 0."""
        return self.part / self.whole if self.whole else None


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
    terms = (
        Z,
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
        (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92_160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


class Figures(NamedTuple):
    """A summary of the figures of all rows, without regard to groups."""

    n: int
    total: float
    squares: float  # the sum of their squares
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Figures:
        """Summarize figures; at least one is required."""
        squares = math.fsum(each * each for each in figures)
        return cls(len(figures), math.fsum(figures), squares, min(figures), max(figures))

    @property
    def mean(self) -> float:
        return self.total / self.n

    @property
    def are_shares(self) -> bool:
        """Return whether all figures lie from 0 to 1."""
        return 0 <= self.low <= self.high <= 1

    @property
    def deviation(self) -> float:
        """Return the sum of squared distances from the mean; 0 if it is only a rounding error."""
        found = self.squares - self.n * self.mean * self.mean
        largest = max(abs(self.low), abs(self.high))
        has_spread = self.high - self.low > _ROUNDING * largest and math.isfinite(found)
        return max(found, 0.0) if has_spread else 0.0


class Group(NamedTuple):
    """The number of rows of a group, and the sum of their figures."""

    rows: int
    total: float


def unit_of(group: Hashable, place: int) -> Hashable:
    """Return a key for the group of a row; an ungrouped row is a group by itself."""
    return ("row", place) if group is None else ("group", group)


def group_figures(rows: Iterable[tuple[Hashable, float]]) -> tuple[Figures, list[Group]]:
    """Summarize rows, each given as its group (None for an ungrouped row) and its figure."""
    members: dict[Hashable, list[float]] = defaultdict(list)
    for place, (group, figure) in enumerate(rows):
        members[unit_of(group, place)].append(figure)
    figures = Figures.of([each for figures in members.values() for each in figures])
    return figures, [Group(len(each), math.fsum(each)) for each in members.values()]


def are_single(groups: Sequence[Group]) -> bool:
    """Return whether no group has two rows."""
    return all(each.rows == 1 for each in groups)


def mean_interval(figures: Figures, groups: Sequence[Group] = ()) -> Interval | None:
    """Return the 95 % interval of a mean whose rows may come in groups; None if it is unknown.

    Figures from 0 to 1 have Wilson's interval over the effective number of rows (Korn and Graubard,
    Survey Methodology 24 (1998) 193), other figures have Student's. The spread is unknown for a
    single group or score, and for equal figures outside 0 to 1.
    """
    mean, n = figures.mean, figures.n
    if not figures.are_shares:
        return student(figures, groups)
    if figures.squares == figures.total and are_single(groups):  # all figures are 0 or 1
        return wilson_of(mean, n, Z)
    if len(groups or range(n)) < 2:
        return None
    variance, deviation = mean * (1 - mean), figures.deviation
    if not are_single(groups):
        away = [each.total - mean * each.rows for each in groups]
        return interval_over_groups(partial(wilson_of, mean), away, groups, variance, deviation)
    found = [wilson_of(mean, n, t_of(n - 1))]
    if deviation:
        # If a few rows make up most of the spread, it is uncertain: few degrees of freedom.
        furthest = max(mean - figures.low, figures.high - mean)
        freedom = max(1, min(n - 1, int(2 * deviation / furthest**2 + 1e-9)))
        found.append(wilson_of(mean, variance * n * n / deviation, t_of(freedom)))
    return min(found, key=width)


class Rate(NamedTuple):
    """A share of rows with its interval."""

    part: int
    whole: int
    interval: Interval | None  # None if there are no rows, or only a single group

    @classmethod
    def of(cls, rows: Sequence[tuple[Hashable, bool]]) -> Rate:
        """Count the rows that hold, each given as its group and whether it holds."""
        interval = mean_interval(*group_figures(rows)) if rows else None
        return cls(sum(holds for _, holds in rows), len(rows), interval)

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; None if there are no rows."""
        return self.part / self.whole if self.whole else None


def width(interval: Interval) -> float:
    """Return how wide an interval is."""
    return interval[1] - interval[0]


def difference_interval(rows: Iterable[tuple[Hashable, float]]) -> Interval | None:
    """Return the 95 % interval of a mean of differences from -1 to 1, by group.

    It is Wilson's for half of each difference plus a half, converted back.
    """
    bounds = mean_interval(*group_figures((group, (1 + each) / 2) for group, each in rows))
    return None if bounds is None else (2 * bounds[0] - 1, 2 * bounds[1] - 1)


def student(figures: Figures, groups: Sequence[Group] = ()) -> Interval | None:
    """Return Student's 95 % interval of a mean whose rows may come in groups.

    The variance between groups follows Liang and Zeger, Biometrika 73 (1986) 13. Return None for a
    single group, and if there is no spread.
    """
    mean, n = figures.mean, figures.n
    if figures.deviation == 0 or len(groups) == 1:
        return None
    if are_single(groups):
        half = t_of(n - 1) * math.sqrt(figures.deviation / (n - 1) / n)
    else:
        count, away = len(groups), [each.total - mean * each.rows for each in groups]
        error = math.sqrt(math.fsum(each * each for each in away) * count / (count - 1)) / n
        half = t_of(degrees_of_freedom(away, count - 1)) * error
    return mean - half, mean + half


def interval_over_groups(
    interval: Callable[[float, float], Interval],
    away: Sequence[float],
    groups: Sequence[Group],
    variance: float,
    deviation: float,
) -> Interval:
    """Return the interval of a figure whose rows come in groups.

    interval: returns the interval for an effective number of rows and a quantile.
    away: the sum of each group, less the sum expected from the mean of all rows.
    variance: the variance of one row, if the mean were a rate.
    deviation: the sum of the squared distances of all rows from the mean.

    The effective number is how many independent rows would tell as much. There are two estimates.
    The first assumes that all rows of a group agree (Kish, Survey Sampling (1965), 8.2). The second
    is the number of independent rows whose mean would have the observed variance; groups without
    any variance have none. Groups cannot cost more than if their rows agree, so the narrower
    interval is valid.
    """
    n, most = sum(each.rows for each in groups), len(groups) - 1
    found = [interval(n * n / sum(each.rows**2 for each in groups), t_of(most))]
    between = max(math.fsum(each * each for each in away), deviation)
    if between > (_ROUNDING * n) ** 2:
        freedom = degrees_of_freedom(away, most)
        found.append(interval(variance * n * n / between, t_of(freedom)))
    return min(found, key=width)


def degrees_of_freedom(away: Sequence[float], most: int) -> int:
    """Return the degrees of freedom of a sum of squared group sums, at most `most`.

    Satterthwaite, Biometrics Bulletin 2 (1946) 110; the variance of the sum of squares is at least
    the sum of fourth powers.
    """
    largest = max(map(abs, away))
    if largest == 0:
        return most
    squares = [(each / largest) ** 2 for each in away]
    kept = 2 * math.fsum(squares) ** 2 / math.fsum(each * each for each in squares)
    return max(1, min(most, int(kept + 1e-9)))  # floats may be just below a whole number


def design_effect(influences: Iterable[tuple[Hashable, float]]) -> tuple[float, int] | None:
    """Return how much less rows in groups tell about an estimate than as many independent rows.

    Returns the divisor that turns the number of rows into the effective number, at least 1, and the
    degrees of freedom of Student's distribution; None for a single group.

    influences: for each row its group (None for an ungrouped row) and its influence, which is how
        far the row moves the estimate.

    The variance of an estimate is the sum of squared influences, after the influences of each group
    are added up (Liang and Zeger, Biometrika 73 (1986) 13). Groups never count for more than
    independent rows.
    """
    sums: dict[Hashable, float] = defaultdict(float)
    squares, rows = 0.0, 0
    for group, influence in influences:
        rows += 1
        squares += influence * influence
        sums[unit_of(group, rows)] += influence
    count = len(sums)
    if count == rows:
        return 1.0, max(1, rows - 1)
    if count < 2:
        return None
    between = math.fsum(each * each for each in sums.values()) * count / (count - 1)
    factor = max(1.0, between / squares) if squares else rows / count
    return factor, degrees_of_freedom([*sums.values()], count - 1)
