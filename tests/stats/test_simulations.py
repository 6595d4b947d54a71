"""Numbers one can bet on: alarms, coverage and power by simulation.

Each figure is held against its promise less two standard errors at the draws named. The promises:
at most 5 % false alarms, 95 % intervals that hold the truth in 93.5 % or no less often than plain
Wilson's at that number of groups, and 90 % of the power of McNemar's exact test without groups.
"""

from collections import Counter
from functools import cache
from itertools import product
from math import comb, sqrt
from random import Random

import pytest
from row_forms import row_of, run_of

from llmeval_integrations.runs import compare
from llmeval_integrations.stats.intervals import Figures, Group, mean_interval, wilson
from llmeval_integrations.stats.paired import PairCounts, mcnemar, newcombe, sign_flip
from llmeval_integrations.stats.repeats import Tries, repeats

pytestmark = pytest.mark.once


def nightly(cases):
    return [pytest.param(*each, marks=pytest.mark.nightly) for each in cases]


def error(rate, draws):
    """Return two standard errors of a rate over so many draws."""
    return 2 * sqrt(rate * (1 - rate) / draws)


def outcomes(chance, rows, rate, correlation):
    """Draw the verdicts of a group: its own rate is drawn from a beta distribution."""
    own = rate
    if correlation == 1:
        own = float(chance.random() < rate)
    elif correlation:
        spread = (1 - correlation) / correlation
        own = chance.betavariate(rate * spread, (1 - rate) * spread)
    return [chance.random() < own for _ in range(rows)]


def alarms(draws, rows, correlation):
    """Count comparisons of 30 groups that find a difference where both runs are alike."""
    chance = Random(rows)

    def run():
        groups = enumerate(outcomes(chance, rows, 0.6, correlation) for _ in range(30))
        drawn = [(n, place, x) for n, group in groups for place, x in enumerate(group)]
        return run_of([row_of(f"{n}.{place}", float(x), x, group=n) for n, place, x in drawn])

    found = (compare(run(), run()).differences for _ in range(draws))
    return sum(any(each.verdict != "none shown" for each in all_) for all_ in found) / draws


@pytest.mark.parametrize(
    ("draws", "rows", "correlation"),
    [(100, 10, 1), *nightly(product([1_000], [1, 5, 10], [0.3, 1]))],
)
def test_at_most_one_comparison_in_twenty_is_a_false_alarm(draws, rows, correlation):
    assert alarms(draws, rows, correlation) <= 0.05 + error(0.05, draws)


@cache
def coverage_of_wilson(n, rate):
    held = (k for k in range(n + 1) if wilson(k, n)[0] <= rate <= wilson(k, n)[1])
    return sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in held)


def share_held(draws, draw):
    """Return how often an interval contains the true value; `draw` gives an interval and it."""
    drawn = (draw() for _ in range(draws))
    return sum(low <= truth <= high for (low, high), truth in drawn) / draws


def covered(draws, groups, rows, rate, correlation):
    """Return how often the interval of a pass rate holds the rate."""
    chance = Random(f"{groups} {rows} {rate}")
    sizes = [1 + n % 10 if rows == "1 to 10" else rows for n in range(groups)]

    def draw():
        drawn = [outcomes(chance, size, rate, correlation) for size in sizes]
        passes, n = sum(map(sum, drawn)), sum(sizes)
        figures = Figures(n, passes, passes, float(passes == n), float(passes > 0))
        return mean_interval(figures, [Group(len(each), sum(each)) for each in drawn]), rate

    return share_held(draws, draw)


CASES = product([1_000], [20, 50, 200], [1, 3, 10, "1 to 10"], [0.5, 0.8, 0.95], [0, 0.3, 0.6, 1])


@pytest.mark.parametrize(
    ("draws", "groups", "rows", "rate", "correlation"),
    [(200, 30, 10, 0.95, 0.6), (200, 30, 10, 0.5, 1), *nightly(CASES)],
)
def test_intervals_cover_the_rate(draws, groups, rows, rate, correlation):
    least = min(0.935, coverage_of_wilson(groups, rate))
    assert covered(draws, groups, rows, rate, correlation) >= least - error(least, draws)


@pytest.mark.nightly
@pytest.mark.parametrize("groups", [20, 100])
@pytest.mark.parametrize("spread", [0.3, 3])
def test_intervals_cover_the_mean_score(groups, spread):
    """Scores from 0 to 1 around those of their group; with a small spread most are near 0 or 1."""
    chance, draws = Random(groups), 1_000

    def draw():
        drawn = []
        for _ in range(groups):
            own = min(max(chance.betavariate(0.8 * spread, 0.2 * spread), 1e-6), 1 - 1e-6)
            drawn.append([chance.betavariate(5 * own, 5 * (1 - own)) for _ in range(5)])
        figures = Figures.of([score for group in drawn for score in group])
        return mean_interval(figures, [Group(5, sum(each)) for each in drawn]), 0.8

    assert share_held(draws, draw) >= 0.935 - error(0.935, draws)


@pytest.mark.nightly
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("correlation", [0.3, 0.6])
def test_intervals_cover_pass_at_k_and_pass_hat_k(rate, correlation):
    chance, draws, k = Random(9), 1_000, 3
    spread = (1 - correlation) / correlation
    a, b = rate * spread, (1 - rate) * spread
    all_pass = a * (a + 1) * (a + 2) / ((a + b) * (a + b + 1) * (a + b + 2))
    none = b * (b + 1) * (b + 2) / ((a + b) * (a + b + 1) * (a + b + 2))

    def tried():
        tasks = Counter(Tries(sum(outcomes(chance, 5, rate, correlation)), 5) for _ in range(50))
        return next(each for each in repeats(tasks) if each["k"] == k)

    for name, truth in (("pass_hat_k_ci95", all_pass), ("pass_at_k_ci95", 1 - none)):
        least = min(0.935, coverage_of_wilson(50, truth))
        held = share_held(draws, lambda name=name, truth=truth: (tried()[name], truth))
        assert held >= least - error(least, draws)


@pytest.mark.nightly
@pytest.mark.parametrize("groups", [20, 100])
@pytest.mark.parametrize("rows", [1, 5, 10])
@pytest.mark.parametrize("correlation", [0, 0.3, 1])
def test_intervals_cover_the_difference(groups, rows, correlation):
    chance, draws = Random(rows), 1_000

    def draw():
        counts, changes = Counter(), []
        for _ in range(groups):
            before, after = (outcomes(chance, rows, each, correlation) for each in (0.7, 0.6))
            counts.update(zip(before, after, strict=True))
            changes.append(Group(rows, sum(after) - sum(before)))
        order = ((True, True), (True, False), (False, True), (False, False))
        return newcombe(PairCounts(*(counts[each] for each in order)), changes), -0.1

    assert share_held(draws, draw) >= 0.935 - error(0.935, draws)


@pytest.mark.nightly
@pytest.mark.parametrize(("groups", "rows"), [(200, 1), (60, 5), (30, 10)])
def test_groups_of_independent_rows_cost_little_power(groups, rows):
    """Against McNemar's exact test, which takes each row for itself."""
    chance, draws, level = Random(groups), 1_000, 0.05
    exact = grouped = 0
    for _ in range(draws):
        sums, better, worse = [], 0, 0
        for _ in range(groups):
            changes = [chance.choices((0, 1, -1), (0.75, 0.08, 0.17))[0] for _ in range(rows)]
            better, worse = better + changes.count(1), worse + changes.count(-1)
            sums.append(float(sum(changes)))
        exact += mcnemar(worse, better) <= level
        grouped += sign_flip(sums) <= level
    assert 0.3 < exact / draws < 0.95
    assert grouped / draws >= 0.9 * exact / draws - error(exact / draws, draws)
