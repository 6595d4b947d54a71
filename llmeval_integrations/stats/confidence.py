"""How informative stated confidences are, and which values can be accepted without review."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from llmeval_integrations.stats.intervals import unit_of
from llmeval_integrations.stats.paired import binomial_tail

BUDGETS: Final = (0.1, 0.3, 0.5)
"""The shares of values that a person reviews, starting with the lowest confidence."""

_BINS: Final = 10
_FIRST: Final = 0.3
_STEP: Final = 0.05


class Answer(NamedTuple):
    """One value with its confidence."""

    confidence: float  # from 0 to 1
    right: bool
    group: Hashable = None  # such as its document; None for an ungrouped value


def confidence_figures(counts: Mapping[tuple[float, bool], int]) -> dict[str, Any] | None:
    """Return how well confidences tell right values from wrong ones; None without values.

    counts: how many right and how many wrong values have each confidence.

    `auroc` is the chance that a right value has a higher confidence than a wrong one, where a tie
    counts half. `brier` is the mean squared error of the confidences, and `calibration_error` their
    mean distance from the share of right values, over ten equal bins. `caught` is the share of
    wrong values that each review budget finds; values of one confidence are reviewed in random
    order. Without right or without wrong values, `auroc` is None, and without wrong ones `caught`.
    """
    n = sum(counts.values())
    if not n:
        return None
    gaps = [0.0] * _BINS
    steps: dict[float, tuple[int, int]] = {}
    for (confidence, right), number in sorted(counts.items()):
        gaps[min(_BINS - 1, int(confidence * _BINS))] += (confidence - right) * number
        values, bad = steps.get(confidence, (0, 0))
        steps[confidence] = values + number, bad + number * (not right)
    squares = math.fsum((each - right) ** 2 * number for (each, right), number in counts.items())
    rising = [*steps.values()]
    wrong = sum(bad for _, bad in rising)
    ordered, wrong_below = 0.0, 0
    for values, bad in rising:
        ordered += (values - bad) * (wrong_below + bad / 2)
        wrong_below += bad
    return {
        "n": n,
        "wrong": wrong,
        "auroc": ordered / ((n - wrong) * wrong) if 0 < wrong < n else None,
        "brier": squares / n,
        "calibration_error": math.fsum(map(abs, gaps)) / n,
        "caught": {f"{share:.0%}": _caught(rising, share * n, wrong) for share in BUDGETS},
    }


def _caught(steps: Sequence[tuple[int, int]], budget: float, wrong: int) -> float | None:
    if not wrong:
        return None
    found = 0.0
    for count, bad in steps:
        share = min(1.0, budget / count)
        found += bad * share
        budget -= count * share
        if budget <= 0:
            break
    return found / wrong


class Threshold(NamedTuple):
    """The confidence at which values can be accepted, or the reason why there is none."""

    confidence: float | None  # the lowest accepted confidence; None if no threshold passed the test
    accepted: int
    """The number of values accepted by this threshold, or by the one that failed the test."""

    share: float  # the accepted values as a share of all values
    units: int  # the number of groups of the accepted values; an ungrouped value counts as a group
    wrong: int  # the number of these units that contain a wrong value
    needed: int  # the smallest number of units that can pass the test, if none of them is wrong

    def __str__(self) -> str:
        if self.confidence is not None:
            return (  # a rounded threshold would accept other values than those tested
                f"{float(self.confidence)}: {self.accepted:,} values ({self.share:.1%}) are "
                f"accepted, {self.wrong:,} of {self.units:,} wrong"
            )
        if self.units < self.needed:
            return f"not shown: {self.units:,} of {self.needed:,} needed"
        return f"not shown: {self.wrong:,} of {self.units:,} are wrong"


def safe_threshold(
    answers: Sequence[Answer], errors: float = 0.01, sure: float = 0.95
) -> Threshold | None:
    """Return the lowest confidence at which few accepted values are wrong; None without answers.

    errors: the share of accepted values that may be wrong; of groups, if values have groups.
    sure: the chance that no more than this share is wrong.

    Thresholds are tested from the highest down by exact binomial tests, until one fails. A fixed
    sequence keeps the level without a correction (Angelopoulos et al., Learn then Test,
    arXiv:2110.01052). The first threshold accepts 30 % of the values, or as many as the test needs,
    and each further one 5 % more.
    """
    if not answers:
        return None
    ranked = sorted(answers, key=lambda each: each.confidence, reverse=True)
    units = [unit_of(each.group, place) for place, each in enumerate(ranked)]
    needed = math.ceil(math.log(1 - sure) / math.log(1 - errors))
    shown = None
    for accepted in _sequence(ranked, units, needed):
        wrong = {unit for unit, each in zip(units, ranked[:accepted]) if not each.right}
        confidence, share = ranked[accepted - 1].confidence, accepted / len(ranked)
        n = len({*units[:accepted]})
        tested = Threshold(confidence, accepted, share, n, len(wrong), needed)
        if binomial_tail(tested.wrong, tested.units, errors) > 1 - sure:
            return shown or tested._replace(confidence=None)
        shown = tested
    return shown


def _sequence(ranked: Sequence[Answer], units: Sequence[Hashable], needed: int) -> list[int]:
    """Return how many values each threshold accepts; values of equal confidence stay together."""
    n, firsts = len(ranked), list(dict.fromkeys(units))
    least = units.index(firsts[needed - 1]) + 1 if len(firsts) >= needed else n
    start = max(least, math.ceil(_FIRST * n))
    counts = [min(n, start + math.ceil(step * _STEP * n)) for step in range(int(1 / _STEP) + 1)]
    falling = [-each.confidence for each in ranked]
    return list(dict.fromkeys(bisect_right(falling, falling[each - 1]) for each in counts))
