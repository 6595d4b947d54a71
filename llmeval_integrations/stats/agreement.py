"""How far two or more raters agree beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from llmeval_integrations.stats.intervals import Interval, Share, design_effect, t_of, wilson_of


class Rating(NamedTuple):
    """The ratings of one row by a person and by a judge."""

    person: Any
    judge: Any
    group: Hashable = None  # None for an ungrouped row


class Kappa(NamedTuple):
    """Cohen's kappa, -1 to 1: 1 for perfect agreement, 0 for agreement by chance."""

    value: float
    interval: Interval | None  # None for a single group of rows


def kappa(ratings: Sequence[Rating], *, numbers: bool = False) -> Kappa | None:
    """Return Cohen's kappa; None if chance agreement is already perfect.

    Numbers that differ agree in part: their closeness is 1 less the square of their distance, as a
    share of the largest one. Cohen, Educ. Psychol. Meas. 20 (1960) 37, and Psychol. Bull. 70 (1968)
    213. The variance follows Fleiss, Cohen and Everitt, Psychol. Bull. 72 (1969) 323. The interval
    is Wilson's for the agreement over the effective number of rows. The usual symmetric one covers
    the true value in only 32 % of cases, for 30 rows of a judge that rarely errs.
    """
    n = len(ratings)
    people: Counter[Any] = Counter(rating.person for rating in ratings)
    judges: Counter[Any] = Counter(rating.judge for rating in ratings)
    span = max(people | judges) - min(people | judges) or 1 if numbers else 1

    def closeness(first: Any, second: Any) -> float:
        return float(1 - ((first - second) / span) ** 2 if numbers else first == second)

    def near(label: Any, others: Counter[Any]) -> float:
        return math.fsum(closeness(label, other) * count for other, count in others.items()) / n

    of_person = {label: near(label, judges) for label in people}
    of_judge = {label: near(label, people) for label in judges}
    chance = math.fsum(of_person[label] * count for label, count in people.items()) / max(n, 1)
    if not n or math.isclose(chance, 1, abs_tol=1e-12):
        return None
    agreed = math.fsum(closeness(*each[:2]) for each in ratings) / n
    value = (agreed - chance) / (1 - chance)
    influences = []
    for person, judge, group in ratings:
        by_chance = of_person[person] + of_judge[judge] - 2 * chance
        influences.append((group, closeness(person, judge) - agreed - (1 - value) * by_chance))
    effect = design_effect(influences)
    if effect is None:
        return Kappa(value, None)
    variance, spread = math.fsum(each**2 for _, each in influences) / n, agreed * (1 - agreed)
    effective = n * spread / variance if spread > 1e-12 and variance > 1e-12 else n
    factor, freedom = effect
    bounds = wilson_of(agreed, effective / factor, t_of(freedom))
    low, high = (max(-1.0, min(1.0, (each - chance) / (1 - chance))) for each in bounds)
    return Kappa(value, (low, high))


def krippendorff_alpha(units: Sequence[Sequence[Any]], *, numbers: bool = False) -> float | None:
    """Return how far several raters agree beyond chance on units with two or more ratings.

    1 is perfect agreement, 0 is chance. None if no unit has two ratings, or if all ratings are
    equal. The distance of two numbers is their squared difference, that of two names is 1.
    Krippendorff, Content Analysis (2004), chapter 11.
    """

    def spread(counts: Counter[Any]) -> float:
        return 2 * math.fsum(
            counts[a] * counts[b] * (float((a - b) ** 2) if numbers else 1.0)
            for a, b in combinations(counts, 2)
        )

    rated: list[Counter[Any]] = [Counter(unit) for unit in units if len(unit) > 1]
    values = sum(rated, Counter[Any]())
    observed = math.fsum(spread(unit) / (sum(unit.values()) - 1) for unit in rated)
    expected = spread(values)
    return 1 - (sum(values.values()) - 1) * observed / expected if expected else None


def pair_agreement(units: Sequence[Sequence[Hashable]]) -> Share:
    """Count the pairs of equal ratings among all pairs of ratings of the same unit."""
    agreeing = pairs = 0
    for unit in units:
        pairs += math.comb(len(unit), 2)
        agreeing += sum(math.comb(count, 2) for count in Counter(unit).values())
    return Share(agreeing, pairs)
