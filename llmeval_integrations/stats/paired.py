"""Tests and intervals of pairs: the same samples, measured twice."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import count
from operator import getitem
from typing import Final, NamedTuple

from llmeval_integrations.stats.groups import Group, are_single, narrow_interval, worths
from llmeval_integrations.stats.intervals import Interval, Z, wilson_of

_DRAWS: Final = 9_999
LEAST_DRAWN: Final = 1 / (_DRAWS + 1)
"""The smallest p that signs that are drawn can tell."""

_MOST_DRAWN: Final = 256
_ENUMERATED: Final = 24
_CLEAR: Final = 1e-4
_POWER: Final = 0.8
"""The chance with which a detectable difference is shown."""


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided p of so many pairs that changed for the worse and for the better.

    McNemar's test in its exact form, a sign test: under no change each pair that changed does so
    either way with the same chance (McNemar, Psychometrika 12 (1947) 153).
    """
    n, k = worse + better, min(worse, better)
    choices = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    term = math.exp(choices - n * math.log(2))
    tail = 0.0
    while term > tail * 1e-17:
        tail += term
        term *= k / (n - k + 1)
        k -= 1
    return min(1.0, 2 * tail)


def sign_flip(differences: Sequence[float], seed: int = 0) -> float:
    """Return the two-sided p of the sum of independent differences, by turning signs.

    Give the sum of each group, where rows come in groups: these are independent. Under no change
    each has either sign with the same chance, so the sum is compared with those under other signs
    (Fisher, The Design of Experiments (1935), section 21): all of them for up to 24 differences,
    else 9,999 drawn by chance, with the observed one counted in, which keeps the level at any
    number of draws (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010) 39). More than 256
    differences are dealt by size into 256 that turn as one, which keeps the level, too, and costs
    no power to speak of.

    Differences of one size are McNemar's test. Where Hoeffding's bound of the p is 0.0001 or less
    (J. Am. Stat. Assoc. 58 (1963) 13) the bound is given: draws could not tell so little.
    """
    largest = max(map(abs, differences), default=0.0)
    changed = [each / largest for each in differences if each]
    if all(abs(each) == 1 for each in changed):
        better = sum(each > 0 for each in changed)
        return mcnemar(len(changed) - better, better)
    limit = abs(math.fsum(changed)) - 1e-9  # sums are rounded
    if len(changed) <= _ENUMERATED:
        return _share_as_far(changed, limit)
    bound = 2 * math.exp(-(limit**2) / 2 / math.fsum(each * each for each in changed))
    return bound if bound <= _CLEAR else _sample_share(changed, limit, seed)


def _share_as_far(differences: Sequence[float], limit: float) -> float:
    """Return the share of all ways to turn signs whose sum is at least as far from 0.

    Sums of one half are looked up among those of the other.
    """
    half = len(differences) // 2
    others = sorted(_sums(differences[half:]))
    far = sum(
        len(others) - bisect_left(others, limit - each) + bisect_right(others, -limit - each)
        for each in _sums(differences[:half])
    )
    return min(1.0, math.ldexp(far, -len(differences)))


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
    """Return the sums under all signs; those of 8 differences are looked up by a byte of signs."""
    sums = [0.0]
    for each in differences:
        sums = [part - each for part in sums] + [part + each for part in sums]
    return sums


class PairCounts(NamedTuple):
    """How many pairs passed in both runs, in the first alone, in the second alone, in neither."""

    both: int
    worse: int
    better: int
    neither: int


def newcombe(pairs: PairCounts, changes: Sequence[Group] = ()) -> Interval | None:
    """Return the 95 % interval of how much more often the second of each pair passes.

    Wilson's intervals of the two rates, put together by their correlation, which is corrected for
    continuity: Newcombe, Stat. Med. 17 (1998) 2635, method 10. `changes` gives the groups that the
    pairs come in, each with how many more of its pairs pass; it is taken over the effective number
    of rows then, as a rate is (see `groups.worths`). None of a single group.
    """
    n = sum(pairs)
    if are_single(changes):
        return _newcombe(pairs, n, Z)
    if len(changes) < 2:
        return None
    difference = (pairs.better - pairs.worse) / n
    variance = (pairs.better + pairs.worse) / n - difference * difference
    away = [each.total - difference * each.rows for each in changes]
    found = worths(away, changes, variance, variance * n)
    return narrow_interval(*(_newcombe(pairs, *each) for each in found))


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
    difference = second - first
    return (
        difference - _combine(second - low_2, high_1 - first, correlation),
        difference + _combine(high_2 - second, first - low_1, correlation),
    )


def _combine(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(one * one - 2 * correlation * one * other + other * other, 0.0))


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust p values so that the chance of a false alarm holds for all of them together.

    Holm, Scand. J. Stat. 6 (1979) 65; in the order given, at most 1.
    """
    adjusted = [1.0] * len(ps)
    reached = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        reached = max(reached, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = reached
    return adjusted


def count_testable(changes: Sequence[int], level: float) -> int:
    """Return among how many tests the chance of an error is shared.

    changes: for each test, how many independent differences are not 0.

    Signs that are turned give no p below 2 / 2 ** changes, whatever they are. Tests that cannot
    reach their part of the level take none: Tarone, Biometrics 46 (1990) 515.
    """
    least = sorted(map(_smallest_p, changes))
    return next(tests for tests in count(1) if bisect_right(least, level / tests) <= tests)


def adjust(ps: Sequence[float], changes: Sequence[int], level: float) -> list[float]:
    """Adjust p values together (Holm), but for those of tests that cannot reach the level.

    These stay above it; see `count_testable`.
    """
    tests = count_testable(changes, level)
    places = [place for place, each in enumerate(changes) if _smallest_p(each) <= level / tests]
    adjusted = [min(1.0, tests * p) for p in ps]
    for place, p in zip(places, holm([ps[place] for place in places])):
        adjusted[place] = p
    return adjusted


def _smallest_p(changes: int) -> float:
    return 2.0 ** (1 - changes)


def detectable(differences: Sequence[float], n: int, level: float) -> float | None:
    """Return the smallest mean difference that would be shown with 80 % power.

    differences: those of independent rows; where rows come in groups, the sum of each group.
    n: all rows.
    level: the chance of a false alarm that is left to this difference.

    The normal formula, (z of the level + z of the power) × standard error (Connor, Biometrics 43
    (1987) 207). The standard error is that of differences that turn their signs, and no smaller
    than if all that changed had changed the same way; where nothing changed, a change is taken for
    one of 1 in each row of a group. None of so few differences that they could show nothing.
    """
    if len(differences) < fewest_differences(level):
        return None
    from statistics import NormalDist

    normal = NormalDist()
    reach = normal.inv_cdf(1 - level / 2) + normal.inv_cdf(_POWER)
    squares = math.fsum(each * each for each in differences)
    size = squares / math.fsum(map(abs, differences)) if squares else n / len(differences)
    return max(reach * math.sqrt(squares) / n, reach * reach * size / n)


def fewest_differences(level: float) -> int:
    """Return how many independent differences, all one way, a p of `level` or less takes."""
    return math.ceil(1 - math.log2(level))
