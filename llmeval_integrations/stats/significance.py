"""Statistics of pairs: the same samples, measured twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import getitem
from typing import Final

from llmeval_integrations.stats.intervals import Interval, wilson, z_of

POWER: Final = 0.8
"""The chance with which a difference that could be shown would be."""

_DRAWS: Final = 9_999
LEAST_DRAWN: Final = 1 / (_DRAWS + 1)
"""The smallest chance that `sign_flip` tells by drawing."""

_MOST_GROUPS: Final = 256
_ENUMERATED: Final = 13
_CLEAR: Final = 1e-4
_MOST_SUMMED: Final = 100
_NEARLY_ONE: Final = 1 - 1e-12


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
    """Return the two-sided p of the mean difference, by turning signs.

    Under no change each difference has either sign with the same chance, so the sum is compared
    with those under other signs: all of them where there are few, else 9,999 drawn by chance, with
    the observed one counted in, which keeps the level at any number of draws (Phipson and Smyth,
    Stat. Appl. Genet. Mol. Biol. 9 (2010) 39). More than 256 differences are dealt by size into
    256 groups that turn as one, which keeps the level, too, and costs no power to speak of.

    Differences of one size are McNemar's test. Where Hoeffding's bound of the p is 0.0001 or less
    (J. Am. Stat. Assoc. 58 (1963) 13) the bound is given: nothing has to be drawn. The order of
    differences of the same size may move the third digit.
    """
    largest = max(map(abs, differences), default=0.0)
    changed = [each / largest for each in differences if each]
    better = sum(each > 0 for each in changed)
    if all(abs(each) == 1 for each in changed):
        return mcnemar(len(changed) - better, better)
    total = math.fsum(changed)
    bound = 2 * math.exp(-(total**2) / 2 / math.fsum(each * each for each in changed))
    if bound <= _CLEAR:
        return bound
    return _share_as_far(_dealt(changed), abs(total) - 1e-9, seed)  # sums are rounded


def _dealt(changed: list[float]) -> list[float]:
    """Sum differences in groups of like make-up, by their size alone, never by their sign."""
    by_size = sorted(changed, key=abs, reverse=True)
    return [math.fsum(by_size[start::_MOST_GROUPS]) for start in range(_MOST_GROUPS)][
        : len(changed)
    ]


def _share_as_far(groups: list[float], limit: float, seed: int) -> float:
    """Return the share of all ways to turn signs whose sum is at least as far from 0."""
    whole = [*groups, *[0.0] * (-len(groups) % 8)]
    tables = [_sums(whole[start : start + 8]) for start in range(0, len(whole), 8)]
    if len(groups) <= _ENUMERATED:
        ways = 1 << len(groups)
        signs = (way.to_bytes(len(tables), "little") for way in range(ways))
        return _as_far(tables, signs, limit) / ways
    return (_as_far(tables, _drawn(len(tables), seed), limit) + 1) / (_DRAWS + 1)


def _as_far(tables: list[list[float]], signs: Iterator[bytes], limit: float) -> int:
    return sum(abs(sum(map(getitem, tables, each))) >= limit for each in signs)


def _sums(group: list[float]) -> list[float]:
    """Return the sums of 8 figures under all signs: a byte of signs is one look-up."""
    sums = [0.0]
    for each in group:
        sums = [part - each for part in sums] + [part + each for part in sums]
    return sums


def _drawn(size: int, seed: int) -> Iterator[bytes]:
    from random import Random

    chance = Random(seed)  # noqa: S311 - no secret
    return (chance.randbytes(size) for _ in range(_DRAWS))


def newcombe(both: int, worse: int, better: int, neither: int) -> Interval:
    """Return the 95 % interval of how much more often the second of each pair passes.

    `both` and `neither` count the pairs of which both and neither passed, `worse` those of which
    only the first did. Newcombe, Stat. Med. 17 (1998) 2635, method 10: Wilson's intervals of the
    two rates, put together by their correlation, which is corrected for continuity.
    """
    n = both + worse + better + neither
    first, second = both + worse, both + better
    low_1, high_1 = _distances(first, n)
    low_2, high_2 = _distances(second, n)
    product = math.sqrt(first * (n - first)) * math.sqrt(second * (n - second))
    together: float = both * neither - worse * better
    if together > 0:
        together = max(together - n / 2, 0.0)
    correlation = together / product if product else 0.0
    difference = (second - first) / n
    return (
        difference - _combined(low_2, high_1, correlation),
        difference + _combined(high_2, low_1, correlation),
    )


def _distances(passes: int, n: int) -> Interval:
    """Return how far the bounds of a rate are from it."""
    low, high = wilson(passes, n) or (0.0, 1.0)
    return passes / n - low, high - passes / n


def _combined(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(one * one - 2 * correlation * one * other + other * other, 0.0))


def student(differences: Sequence[float]) -> Interval | None:
    """Return the 95 % interval of the mean difference, by Student's t.

    None of fewer than two differences, and where all are the same: their spread is not known then.
    """
    error = standard_error(differences)
    if error is None:
        return None
    n = len(differences)
    mean, half = math.fsum(differences) / n, t_of(0.95, n - 1) * error
    return mean - half, mean + half


def standard_error(differences: Sequence[float]) -> float | None:
    """Return the standard error of the mean difference.

    None of fewer than two differences, and where all are the same.
    """
    n = len(differences)
    if n < 2 or min(differences) == max(differences):
        return None  # the mean of figures that are the same may be rounded to another one
    mean = math.fsum(differences) / n
    return math.sqrt(math.fsum((each - mean) ** 2 for each in differences) / (n - 1) / n)


def t_of(level: float, freedom: int) -> float:
    """Return how many standard errors to either side hold that share of Student's distribution.

    Exact for one and two degrees of freedom, from three on to 0.2 % at 95 % by Abramowitz and
    Stegun, Handbook of Mathematical Functions (1964), 26.7.5; z is what comes of many.
    """
    if freedom == 1:
        return math.tan(math.pi * level / 2)
    if freedom == 2:
        return level * math.sqrt(2 / (1 - level * level))
    z = z_of(level)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


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


def fewest_shown(alpha: float) -> int:
    """Return how many pairs have to change, all the same way, for a p of `alpha` or less."""
    return math.ceil(1 - math.log2(alpha))


@lru_cache(maxsize=256)  # many fields have the same counts
def detectable_rate(n: int, changed: int, alpha: float) -> float | None:
    """Return the smallest difference of pass rates that n pairs show with 80 % power.

    Where the share of pairs that change is the observed one, or as large as the difference makes
    it. The power is that of McNemar's exact test, a sum over how many pairs change (Duffy,
    Biometrics 40 (1984) 1007); where more than 100 changed, it is taken from the normal
    distribution (Connor, Biometrics 43 (1987) 207), and is 75 to 81 %.

    None where not even a difference of 1 would be shown.
    """
    if n < fewest_shown(alpha):
        return None
    shown = _shown_of_few if changed <= _MOST_SUMMED else _shown_of_many
    return _smallest(shown(n, changed, alpha))


def _shown_of_many(n: int, changed: int, alpha: float) -> Callable[[float], bool]:
    z, z_power = z_of(1 - alpha), z_of(2 * POWER - 1)

    def is_shown(difference: float) -> bool:
        share = max(changed / n, difference)
        needed = z * math.sqrt(share) + z_power * math.sqrt(share - difference**2)
        return difference * math.sqrt(n) >= needed

    return is_shown


def _shown_of_few(n: int, changed: int, alpha: float) -> Callable[[float], bool]:
    """Sum up in how many cases a difference is missed, however many pairs change.

    Where more than `most` do, it is shown: so many is next to impossible where the share is the
    observed one, and where the difference makes it larger, all of them change the same way.
    """
    most = min(n, 2 * changed + fewest_shown(alpha))
    allowed = _allowed(alpha)[: most + 1]
    ways = [
        math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1) for m in range(most + 1)
    ]

    def is_shown(difference: float) -> bool:
        share = max(changed / n, difference)
        is_worse = (1 - min(difference / share, _NEARLY_ONE)) / 2
        change, stay = math.log(share), math.log1p(-min(share, _NEARLY_ONE))
        missed = math.fsum(
            math.exp(way + m * change + (n - m) * stay) * (1 - chance)
            for m, (way, chance) in enumerate(zip(ways, _within(allowed, is_worse)))
        )
        return missed <= 1 - POWER

    return is_shown


@lru_cache(maxsize=4)  # all differences of a comparison have one level
def _allowed(alpha: float) -> list[int]:
    """Give, for each number of pairs that change, how many may be worse in what is shown better.

    -1 where it is not shown even if none is.
    """
    found: list[int] = []
    worse = -1
    for changed in range(2 * _MOST_SUMMED + fewest_shown(alpha) + 1):
        if mcnemar(worse + 1, changed - worse - 1) <= alpha:
            worse += 1
        found.append(worse)
    return found


def _within(allowed: Sequence[int], is_worse: float) -> Iterator[float]:
    """Yield the chance that of 0, 1, 2... pairs at most `allowed` are worse.

    `is_worse` is the chance of each, above 0. From one number of pairs to the next the chance
    moves by a single term of the binomial distribution.
    """
    odds = is_worse / (1 - is_worse)
    chance, most = 0.0, -1
    one_more = 1.0  # the chance that exactly most + 1 are worse
    for pairs, now in enumerate(allowed):
        if now > most:
            most = now
            chance += one_more
            one_more *= (pairs - most) / (most + 1) * odds
        yield chance
        exactly = one_more * (most + 1) / (pairs - most) / odds
        chance -= is_worse * exactly
        one_more += is_worse * (exactly - one_more)


def _smallest(is_enough: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    while high - low > high / 10_000:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def detectable_mean(differences: Sequence[float], alpha: float) -> float | None:
    """Return the smallest mean difference that so many pairs of that spread show with 80 % power.

    By Student's t (Bloom, Evaluation Review 19 (1995) 547), which turning signs equals but for the
    fewest pairs that can show anything: with these the power is 60 to 75 %.

    None where the spread is not known, and of fewer pairs.
    """
    error = standard_error(differences)
    if error is None or len(differences) < fewest_shown(alpha):
        return None
    freedom = len(differences) - 1
    return (t_of(1 - alpha, freedom) + t_of(2 * POWER - 1, freedom)) * error
