"""Win rates of pairs, and strengths of several contestants."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from llmeval_integrations.stats.intervals import (
    Interval,
    design_effect,
    group_figures,
    mean_interval,
    t_of,
)

_MOST_STEPS: Final = 50
_STILL: Final = 1e-9

_PRIOR: Final = 0.5
"""Half a win and half a loss of each contestant against an average one. So the strength of one who
wins every match is finite."""


class Match(NamedTuple):
    """One comparison of two contestants."""

    first: str
    second: str
    score: float  # 1 if the first is better, 0 if the second is better, 0.5 for a tie
    group: Hashable = None  # such as its document; None for an ungrouped match


class WinRate(NamedTuple):
    """How often the first of each pair is better; a tie counts half."""

    rate: float
    interval: Interval | None  # the 95 % interval; None for a single group
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        bounds = f" ({self.interval[0]:.1%} to {self.interval[1]:.1%})" if self.interval else ""
        return f"{self.rate:.1%}{bounds}: {self.wins} won, {self.ties} tied, {self.losses} lost"


def win_rate(matches: Sequence[Match]) -> WinRate | None:
    """Return how often the first wins, with an interval over groups; None without matches."""
    if not matches:
        return None
    scores = [match.score for match in matches]
    figures, groups = group_figures((match.group, match.score) for match in matches)
    wins, ties = sum(score > 0.5 for score in scores), scores.count(0.5)
    interval = mean_interval(figures, groups)
    return WinRate(figures.mean, interval, wins, ties, len(scores) - wins - ties)


class Strength(NamedTuple):
    """The strength of a contestant: the log of its odds against an average one."""

    value: float
    interval: Interval | None  # the 95 % interval; None for a single group
    matches: int


def bradley_terry(matches: Sequence[Match]) -> dict[str, Strength]:
    """Return the strength of each contestant, the strongest first.

    The chance that A beats B is 1 / (1 + exp(strength of B - strength of A)). Strengths add up to
    0, and a tie is half a win for both (Bradley and Terry, Biometrika 39 (1952) 324). The fit uses
    Newton's method. The 95 % intervals use the Fisher information of all matches, times the design
    effect of their groups.
    """
    names = sorted({name for match in matches for name in match[:2]})
    place = {name: index for index, name in enumerate(names)}
    rows = [(place[each.first], place[each.second], each.score) for each in matches]
    values, covariances = [0.0] * len(names), [[0.0]]
    for _ in range(_MOST_STEPS):
        covariances, gradient = _step(values, rows)
        steps = [math.fsum(a * b for a, b in zip(row, gradient)) for row in covariances]
        values = [value + step for value, step in zip(values, steps)]
        if max(map(abs, steps)) < _STILL:
            break
    mean = math.fsum(values) / len(names)
    means = [math.fsum(column) / len(names) for column in zip(*covariances)]
    surprises = [score - _chance(values[one] - values[other]) for one, other, score in rows]
    found = {}
    for name, value, own in zip(names, values, covariances):
        away = [each - its for each, its in zip(own, means)]  # of strengths that add up to 0
        moves = [(away[row[0]] - away[row[1]]) * each for row, each in zip(rows, surprises)]
        effect = design_effect((match.group, move) for match, move in zip(matches, moves))
        interval = None
        if effect is not None:
            factor, freedom = effect
            variance = away[place[name]] - means[place[name]] + math.fsum(means) / len(names)
            half = t_of(freedom) * math.sqrt(variance * factor)
            interval = value - mean - half, value - mean + half
        found[name] = Strength(value - mean, interval, sum(name in each[:2] for each in matches))
    return dict(sorted(found.items(), key=lambda item: -item[1].value))


def _step(
    values: Sequence[float], rows: Sequence[tuple[int, int, float]]
) -> tuple[list[list[float]], list[float]]:
    """Return the covariances of strengths, and the gradient of the likelihood."""
    size = len(values)
    information = [[0.0] * size for _ in values]
    gradient = [_PRIOR - 2 * _PRIOR * _chance(value) for value in values]
    for index, value in enumerate(values):
        information[index][index] = 2 * _PRIOR * _chance(value) * (1 - _chance(value))
    for one, other, score in rows:
        chance = _chance(values[one] - values[other])
        weight = chance * (1 - chance)
        information[one][one] += weight
        information[other][other] += weight
        information[one][other] -= weight
        information[other][one] -= weight
        gradient[one] += score - chance
        gradient[other] -= score - chance
    return _inverse(information), gradient


def _chance(lead: float) -> float:
    return 1 / (1 + math.exp(-lead))


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Invert a positive definite matrix by elimination."""
    n = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        rows[i] = [each / rows[i][i] for each in rows[i]]
        for j in range(n):
            if j != i:
                factor = rows[j][i]
                rows[j] = [each - factor * own for each, own in zip(rows[j], rows[i])]
    return [row[n:] for row in rows]
