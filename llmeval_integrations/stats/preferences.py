"""Win rates of pairs, and strengths of several contestants."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple

from llmeval_integrations.stats.groups import group_figures, mean_interval, unit_of
from llmeval_integrations.stats.intervals import Interval, Z

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
    interval: Interval
    matches: int


def bradley_terry(matches: Sequence[Match]) -> dict[str, Strength]:
    """Return the strength of each contestant, the strongest first.

    The chance that A beats B is 1 / (1 + exp(strength of B - strength of A)). Strengths add up to
    0, and a tie is half a win for both (Bradley and Terry, Biometrika 39 (1952) 324). The fit uses
    Hunter's algorithm, Ann. Stat. 32 (2004) 384. The 95 % intervals use the Fisher information of
    all matches, or the variance between groups if it is larger.
    """
    names = sorted({name for match in matches for name in match[:2]})
    found = _fit(names, matches)
    errors = _standard_errors(names, found, matches)
    reach = Z
    return {
        name: Strength(
            found[name],
            (found[name] - reach * errors[name], found[name] + reach * errors[name]),
            sum(name in match[:2] for match in matches),
        )
        for name in sorted(names, key=lambda name: -found[name])
    }


def _standard_errors(
    names: Sequence[str], strengths: Mapping[str, float], matches: Sequence[Match]
) -> dict[str, float]:
    place = {name: index for index, name in enumerate(names)}
    chances = {name: _chance(strengths[name]) for name in names}
    information = [
        [2 * _PRIOR * chances[one] * (1 - chances[one]) * (one == other) for other in names]
        for one in names
    ]
    slopes: dict[Hashable, list[float]] = defaultdict(lambda: [0.0] * len(names))
    for number, (first, second, score, group) in enumerate(matches):
        one, other = place[first], place[second]
        chance = _chance(strengths[first] - strengths[second])
        for row, column, sign in ((one, one, 1), (other, other, 1), (one, other, -1)):
            information[row][column] += sign * chance * (1 - chance)
        information[other][one] = information[one][other]
        slope = slopes[unit_of(group, number)]
        slope[one] += score - chance
        slope[other] -= score - chance
    covariances = _inverse(information)
    means = [math.fsum(column) / len(names) for column in zip(*covariances)]
    grouped = len(slopes) < len(matches)
    errors = {}
    for name, own in zip(names, covariances):  # errors of strengths that add up to 0
        away = [each - mean for each, mean in zip(own, means)]
        moves = (
            math.fsum(each * its for each, its in zip(away, slope)) for slope in slopes.values()
        )
        between = math.fsum(move * move for move in moves) * grouped
        within = away[place[name]] - means[place[name]] + math.fsum(means) / len(names)
        errors[name] = math.sqrt(max(within, between))
    return errors


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


def _fit(names: Sequence[str], matches: Sequence[Match]) -> Mapping[str, float]:
    wins: dict[str, float] = dict.fromkeys(names, _PRIOR)
    games: dict[tuple[str, str], int] = defaultdict(int)
    for first, second, score, _ in matches:
        wins[first] += score
        wins[second] += 1 - score
        games[min(first, second), max(first, second)] += 1
    skill = dict.fromkeys(names, 1.0)
    for _ in range(200):
        weight = {name: 2 * _PRIOR / (skill[name] + 1) for name in names}
        for (one, other), count in games.items():
            share = count / (skill[one] + skill[other])
            weight[one] += share
            weight[other] += share
        new = {name: wins[name] / weight[name] for name in names}
        mean = math.exp(math.fsum(map(math.log, new.values())) / len(names))
        new = {name: value / mean for name, value in new.items()}
        moved = max(abs(math.log(new[name] / skill[name])) for name in names)
        skill = new
        if moved < 1e-6:
            break
    return {name: math.log(value) for name, value in skill.items()}
