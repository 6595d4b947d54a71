"""Means whose rows come in groups: rows of one group are not independent."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, NamedTuple

from llmeval_integrations.stats.intervals import Interval, Z, t_of, wilson_of

_ROUNDING: Final = 1e-10
"""A spread below this share of the largest figure is what floats leave of none."""


class Figures(NamedTuple):
    """What is known of the figures of all rows, whatever groups they are in."""

    n: int
    total: float
    squares: float
    """The sum of their squares."""

    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Figures:
        """Add up figures, of which there has to be one."""
        squares = math.fsum(each * each for each in figures)
        return cls(len(figures), math.fsum(figures), squares, min(figures), max(figures))

    @property
    def mean(self) -> float:
        return self.total / self.n

    @property
    def are_shares(self) -> bool:
        """Whether all lie from 0 to 1."""
        return 0 <= self.low <= self.high <= 1

    @property
    def are_verdicts(self) -> bool:
        """Whether all are 0 or 1, so that the mean is a rate."""
        return self.are_shares and self.squares == self.total

    @property
    def deviation(self) -> float:
        """The sum of the squares of how far each lies from the mean; 0 where rounding alone is."""
        found = self.squares - self.n * self.mean * self.mean
        largest = max(abs(self.low), abs(self.high))
        has_spread = self.high - self.low > _ROUNDING * largest and math.isfinite(found)
        return max(found, 0.0) if has_spread else 0.0


class Group(NamedTuple):
    """The rows that belong together."""

    rows: int
    total: float
    """The sum of their figures."""


def unit_of(group: Hashable, place: int) -> Hashable:
    """Return the group of a row as a key; a row without one is a group of its own."""
    return ("row", place) if group is None else ("group", group)


def group_figures(rows: Iterable[tuple[Hashable, float]]) -> tuple[Figures, list[Group]]:
    """Return what is known of rows, each a group (None for a row of its own) and a figure."""
    members: dict[Hashable, list[float]] = defaultdict(list)
    for place, (group, figure) in enumerate(rows):
        members[unit_of(group, place)].append(figure)
    figures = Figures.of([each for figures in members.values() for each in figures])
    return figures, [Group(len(each), math.fsum(each)) for each in members.values()]


def mean_interval(figures: Figures, groups: Sequence[Group] = ()) -> Interval | None:
    """Return the 95 % interval of a mean whose rows may come in groups.

    Figures from 0 to 1 have Wilson's interval over the effective number of rows, see `worths`;
    others have Student's. A rate has plain Wilson's interval where no group has two rows. Without
    groups, the effective number of scores goes by their variance alone. None of a single group, of
    a single score that is no verdict, and where figures beyond 0 and 1 are all the same: their
    spread is not known.

    Wilson's formula over an effective number of rows: Korn and Graubard, Survey Methodology 24
    (1998) 193; Dean and Pagano, J. Surv. Stat. Methodol. 3 (2015) 484.
    """
    mean, n = figures.mean, figures.n
    if not figures.are_shares:
        return student(figures, groups)
    if figures.are_verdicts and are_single(groups):
        return wilson_of(mean, n, Z)
    if len(groups or range(n)) < 2:
        return None
    if not groups:
        spread = figures.deviation / n
        effective = mean * (1 - mean) * n / spread if spread else n
        return wilson_of(mean, effective, t_of(n - 1))
    away = [each.total - mean * each.rows for each in groups]
    found = worths(away, groups, mean * (1 - mean), figures.deviation)
    return narrow_interval(*(wilson_of(mean, *each) for each in found))


def student(figures: Figures, groups: Sequence[Group] = ()) -> Interval | None:
    """Return Student's 95 % interval of a mean whose rows may come in groups.

    The variance between groups is Liang and Zeger's, Biometrika 73 (1986) 13, with the degrees of
    freedom of `worths`. None of a single group, and where there is no spread.
    """
    mean, n = figures.mean, figures.n
    if figures.deviation == 0:
        return None
    if are_single(groups):
        half = t_of(n - 1) * math.sqrt(figures.deviation / (n - 1) / n)
        return mean - half, mean + half
    count = len(groups)
    if count < 2:
        return None
    away = [each.total - mean * each.rows for each in groups]
    error = math.sqrt(math.fsum(each * each for each in away) * count / (count - 1)) / n
    half = t_of(degrees_of_freedom(away, count - 1)) * error
    return mean - half, mean + half


def are_single(groups: Sequence[Group]) -> bool:
    """Whether no two rows belong together."""
    return all(each.rows == 1 for each in groups)


def narrow_interval(one: Interval, other: Interval) -> Interval:
    """Return the interval that says more."""
    return min(one, other, key=lambda each: each[1] - each[0])


def worths(
    away: Sequence[float], groups: Sequence[Group], variance: float, deviation: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return how many independent rows are worth as much as rows in groups, in two ways.

    Each comes with the quantile of an interval over so many rows.

    away: how far the sum of each group lies from what the mean of all rows makes of it.
    variance: that of one row, if the mean were a rate.
    deviation: the sum of the squares of how far each row lies from the mean.

    The first goes by how far groups differ: as many rows as would give the mean that variance,
    with as many degrees of freedom as its estimate has (Satterthwaite, Biometrics Bulletin 2 (1946)
    110; the variance of the sum of squares is taken for no less than the sum of fourth powers).
    Rows of a group count for no more than independent ones. The second supposes that all rows of a
    group agree (Kish, Survey Sampling (1965), 8.2): the number of groups, where all have one size.
    It is the most that groups can cost, so the narrower interval of the two holds.
    """
    n, most = sum(each.rows for each in groups), len(groups) - 1
    agreeing = n * n / sum(each.rows**2 for each in groups)
    if_agreeing = agreeing, t_of(most)
    squares = math.fsum(each * each for each in away)
    between = max(squares, deviation)
    if between <= (_ROUNDING * n) ** 2:
        return if_agreeing, if_agreeing
    freedom = degrees_of_freedom(away, most)
    return (variance * n * n / between, t_of(freedom)), if_agreeing


def degrees_of_freedom(away: Sequence[float], most: int) -> int:
    """Return the degrees of freedom of a sum of squares of group sums; `most` or less.

    See `worths` for the source.
    """
    largest = max(map(abs, away))
    if largest == 0:
        return most
    squares = [(each / largest) ** 2 for each in away]
    kept = 2 * math.fsum(squares) ** 2 / math.fsum(each * each for each in squares)
    return max(1, min(most, int(kept)))


class DesignEffect(NamedTuple):
    """How much less rows in groups say than as many independent rows."""

    factor: float
    """By how much their number is divided; 1 or more."""

    freedom: int
    """The degrees of freedom of Student's distribution that are left."""

    def interval(self, rate: float, n: int) -> Interval:
        """Return the 95 % interval of a rate of so many rows: Wilson's over the effective ones."""
        return wilson_of(rate, n / self.factor, t_of(self.freedom) if self.factor > 1 else Z)


def design_effect(influences: Iterable[tuple[Hashable, float]]) -> DesignEffect | None:
    """Return what groups cost an estimate; None of a single group.

    influences: for each row its group, None for a row of its own, and how far the row moves the
        estimate away from what it would be without it.

    The variance of an estimate is the sum of the squares of the influences, summed by group where
    rows belong together (Liang and Zeger, Biometrika 73 (1986) 13). Groups are never taken for
    better than independent rows.
    """
    sums: dict[Hashable, float] = defaultdict(float)
    squares, rows = 0.0, 0
    for group, influence in influences:
        rows += 1
        squares += influence * influence
        sums[unit_of(group, rows)] += influence
    count = len(sums)
    if count == rows:
        return DesignEffect(1.0, max(1, rows - 1))
    if count < 2:
        return None
    between = math.fsum(each * each for each in sums.values()) * count / (count - 1)
    factor = max(1.0, between / squares) if squares else rows / count
    return DesignEffect(factor, degrees_of_freedom([*sums.values()], count - 1))
