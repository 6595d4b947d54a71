"""Tests and intervals for pairs: the same samples, measured twice."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from operator import getitem
from typing import Final, NamedTuple

from llmeval_integrations.stats.intervals import (
    Group,
    Interval,
    Z,
    are_single,
    interval_over_groups,
    wilson_of,
)

_DRAWS: Final = 9_999
LEAST_DRAWN: Final = 1 / (_DRAWS + 1)  # the smallest p value that randomly drawn signs can give
_MOST_DRAWN: Final = 256
_ENUMERATED: Final = 16
_CLEAR: Final = 1e-4
_POWER: Final = 0.8  # the chance that a test shows a detectable difference


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided p value of the numbers of pairs that became worse and better.

    This is the exact form of McNemar's test, a sign test. Under the null hypothesis, a pair that
    changed is as likely to become better as worse (McNemar, Psychometrika 12 (1947) 153).
    """
    return min(1.0, 2 * binomial_tail(min(worse, better), worse + better, 0.5))


def binomial_tail(most: int, n: int, chance: float) -> float:
    """Return the chance of at most so many hits in n draws, each a hit with `chance`."""
    if most == n:
        return 1.0
    if most > n * chance:  # the largest term comes first
        return 1.0 - binomial_tail(n - most - 1, n, 1 - chance)
    k, tail = most, 0.0
    choices = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    term = math.exp(choices + k * math.log(chance) + (n - k) * math.log1p(-chance))
    while term > tail * 1e-17:
        tail += term
        term *= k / (n - k + 1) * (1 - chance) / chance
        k -= 1
    return tail


def least_p(changes: int) -> float:
    """Return the smallest p value of so many independent differences that are not 0."""
    return 2.0 ** (1 - changes)


def sign_flip(differences: Sequence[float], seed: int = 0) -> float:
    """Return the two-sided p value of the sum of independent differences, by flipping signs.

    If rows come in groups, pass the sum of each group, because these sums are independent (Fisher,
    The Design of Experiments (1935), section 21). Up to 16 differences are tested with all signs,
    more of them with 9,999 random draws. The observed sum counts as a draw, which keeps the level
    (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010) 39). More than 256 differences are
    dealt by size into 256 sets, whose signs flip together. Draws cannot give a very small p value,
    so Hoeffding's bound (J. Am. Stat. Assoc. 58 (1963) 13) is returned if it is at most 0.0001.
    """
    largest = max(map(abs, differences), default=0.0)
    changed = [each / largest for each in differences if each]
    if all(abs(each) == 1 for each in changed):
        better = sum(each > 0 for each in changed)
        return mcnemar(len(changed) - better, better)
    limit = abs(math.fsum(changed)) - 1e-9  # sums are rounded
    if len(changed) <= _ENUMERATED:
        sums = _sums(changed)
        return sum(abs(each) >= limit for each in sums) / len(sums)
    bound = 2 * math.exp(-(limit**2) / 2 / math.fsum(each * each for each in changed))
    return bound if bound <= _CLEAR else _sample_share(changed, limit, seed)


def _sample_share(differences: list[float], limit: float, seed: int) -> float:
    from random import Random

    by_size = sorted(differences, key=abs, reverse=True)
    count = min(len(by_size), _MOST_DRAWN)
    dealt = [math.fsum(by_size[start::_MOST_DRAWN]) for start in range(count)]
    tables = [_sums([*dealt[start : start + 8], *[0.0] * 8][:8]) for start in range(0, count, 8)]
    chance = Random(seed)  # noqa: S311 - no secret
    drawn: Iterator[bytes] = (chance.randbytes(len(tables)) for _ in range(_DRAWS))
    far = sum(abs(sum(map(getitem, tables, signs))) >= limit for signs in drawn)
    return (far + 1) / (_DRAWS + 1)


def _sums(differences: Sequence[float]) -> list[float]:
    """Return the sums under all signs; a byte of signs is the index of a sum of 8 differences."""
    sums = [0.0]
    for each in differences:
        sums = [part - each for part in sums] + [part + each for part in sums]
    return sums


class PairCounts(NamedTuple):
    """How many pairs passed both times, only the first time, only the second time, and never."""

    both: int
    first: int
    second: int
    neither: int

    @property
    def rates(self) -> tuple[float, float]:
        """How often a pair passed the first time, and the second time."""
        return (self.both + self.first) / sum(self), (self.both + self.second) / sum(self)


def newcombe(pairs: PairCounts, groups: Sequence[Group] = ()) -> Interval | None:
    """Return the 95 % interval of how much more often the second of each pair passes.

    Newcombe, Stat. Med. 17 (1998) 2635, method 10, with a correction for continuity. If the pairs
    come in groups, `groups` contains for each group its pairs and how many more of them pass the
    second time. Return None for a single group.
    """
    n = sum(pairs)
    if are_single(groups):
        return _newcombe(pairs, n, Z)
    if len(groups) < 2:
        return None
    difference = (pairs.second - pairs.first) / n
    variance = (pairs.second + pairs.first) / n - difference * difference
    away = [each.total - difference * each.rows for each in groups]
    intervals = partial(_newcombe, pairs)
    return interval_over_groups(intervals, away, groups, variance, variance * n)


def _newcombe(pairs: PairCounts, effective: float, quantile: float) -> Interval:
    both, worse, better, neither = (each / sum(pairs) for each in pairs)
    first, second = both + worse, both + better
    low_1, high_1 = wilson_of(first, effective, quantile)
    low_2, high_2 = wilson_of(second, effective, quantile)
    together = both * neither - worse * better
    if together > 0:
        together = max(together - 1 / (2 * effective), 0.0)
    product = math.sqrt(first * (1 - first) * second * (1 - second))
    correlation = together / product if product else 0.0

    def combine(one: float, other: float) -> float:
        squares = one * one - 2 * correlation * one * other + other * other
        return math.sqrt(max(squares, 0.0))

    difference = second - first
    return (
        difference - combine(second - low_2, high_1 - first),
        difference + combine(high_2 - second, first - low_1),
    )


def adjust(ps: Sequence[float], changes: Sequence[int], level: float) -> tuple[list[float], float]:
    """Adjust the p values of several tests, and return them with the level of a single test.

    The chance of any false alarm among them stays below the level (Holm, Scand. J. Stat. 6 (1979)
    65). A sign-flip test gives no p value below 2 / 2 ** changes, where `changes` is the number of
    its independent differences that are not 0. A test that cannot reach its part of the level needs
    no part of it (Tarone, Biometrics 46 (1990) 515); its p value stays above the level.
    """
    least = [*map(least_p, changes)]
    ranked = sorted(least)
    tests = next(tests for tests in count(1) if bisect_right(ranked, level / tests) <= tests)
    adjusted = [min(1.0, tests * p) for p in ps]
    places = [place for place, each in enumerate(least) if each <= level / tests]
    reached = 0.0
    for rank, place in enumerate(sorted(places, key=ps.__getitem__)):
        reached = max(reached, min(1.0, (len(places) - rank) * ps[place]))
        adjusted[place] = reached
    return adjusted, level / tests


def detectable(differences: Sequence[float], n: int, level: float) -> float | None:
    """Return the smallest mean difference that a test shows with 80 % power.

    differences: the difference of each row; if rows come in groups, the sum of each group.
    n: the number of all rows.
    level: the chance of a false alarm for this test, after a correction for several tests.

    It is (z of the level + z of the power) × the standard error under random signs (Connor,
    Biometrics 43 (1987) 207). If nothing changed, a change is assumed to be 1 in each row of a
    group. Return None if no p value of so few differences can reach the level.
    """
    if least_p(len(differences)) > level:
        return None
    from statistics import NormalDist

    normal = NormalDist()
    reach = normal.inv_cdf(1 - level / 2) + normal.inv_cdf(_POWER)
    squares = math.fsum(each * each for each in differences)
    size = squares / math.fsum(map(abs, differences)) if squares else n / len(differences)
    return max(reach * math.sqrt(squares) / n, reach * reach * size / n)
