"""Numbers one can bet on: alarms, coverage, power and narrow intervals by simulation.

Each figure is held against its promise less two standard errors at the draws named. The promises:
at most 5 % false alarms, 95 % intervals that hold the truth in 93.5 % or no less often than plain
Wilson's at that number of groups, and 90 % of the power of McNemar's exact test without groups.
"""

from collections import Counter
from functools import cache
from itertools import product
from math import comb, exp, sqrt
from random import Random
from statistics import fmean

import pytest
from row_forms import row_of, run_of

from llmeval_integrations.runs import compare
from llmeval_integrations.stats.agreement import Rating, kappa
from llmeval_integrations.stats.confidence import Answer, safe_threshold
from llmeval_integrations.stats.intervals import (
    Figures,
    Group,
    Share,
    group_figures,
    mean_interval,
    width,
    wilson,
)
from llmeval_integrations.stats.judged_rate import rate_by_counts, rogan_gladen_rate
from llmeval_integrations.stats.paired import PairCounts, detectable, mcnemar, newcombe, sign_flip
from llmeval_integrations.stats.preferences import Match, bradley_terry
from llmeval_integrations.stats.repeats import Tries, repeats

pytestmark = pytest.mark.once

PAIRS = [*product((True, False), repeat=2)]


def nightly(*cases):
    return [pytest.param(*each, marks=pytest.mark.nightly) for each in cases]


def error(rate, draws):
    """Return two standard errors of a rate over so many draws."""
    return 2 * sqrt(rate * (1 - rate) / draws)


def beta_of(rate, correlation):
    """Return the beta distribution of the rates of groups whose rows correlate."""
    spread = (1 - correlation) / correlation
    return rate * spread, (1 - rate) * spread


def outcomes(chance, rows, rate, correlation):
    """Draw the verdicts of a group: its own rate is drawn from a beta distribution."""
    own = rate
    if correlation == 1:
        own = float(chance.random() < rate)
    elif correlation:
        own = chance.betavariate(*beta_of(rate, correlation))
    return [chance.random() < own for _ in range(rows)]


# --- 95 % intervals: each function draws one, and gives the true value with it --------------------


def rate_of_groups(chance, groups, sizes, rate, correlation):
    drawn = [outcomes(chance, sizes[n % len(sizes)], rate, correlation) for n in range(groups)]
    return mean_interval(*figures_of(drawn)), rate


def mean_score_of_groups(chance, groups, spread):
    """Scores from 0 to 1 around those of their group; with a small spread most are near 0 or 1."""
    drawn = []
    for _ in range(groups):
        own = min(max(chance.betavariate(0.8 * spread, 0.2 * spread), 1e-6), 1 - 1e-6)
        drawn.append([chance.betavariate(5 * own, 5 * (1 - own)) for _ in range(5)])
    return mean_interval(*figures_of(drawn)), 0.8


def figures_of(groups):
    return group_figures((n, float(each)) for n, group in enumerate(groups) for each in group)


def rate_of_tries(chance, tasks, name, rate, correlation):
    drawn = (sum(outcomes(chance, 5, rate, correlation)) for _ in range(tasks))
    counts = Counter(Tries(each, 5) for each in drawn)
    found = next(each for each in repeats(counts) if each["k"] == 3)
    return found[f"{name}_ci95"], chance_of_three(name, rate, correlation)


def chance_of_three(name, rate, correlation):
    """Return the chance that all of three tries pass, or at least one of them."""
    a, b = beta_of(rate, correlation)
    first = a if name == "pass_hat_k" else b
    alike = first * (first + 1) * (first + 2) / ((a + b) * (a + b + 1) * (a + b + 2))
    return alike if name == "pass_hat_k" else 1 - alike


def difference_of_rates(chance, groups, rows, correlation):
    counts, changes = Counter(), []
    for _ in range(groups):
        before, after = (outcomes(chance, rows, each, correlation) for each in (0.7, 0.6))
        counts.update(zip(before, after, strict=True))
        changes.append(Group(rows, sum(after) - sum(before)))
    return newcombe(PairCounts(*(counts[each] for each in PAIRS)), changes), -0.1


def few_losses(chance, n, share):
    """A few samples lose a part of their score."""
    return [1 - chance.random() * (chance.random() < share) for _ in range(n)]


def mean_score(chance, n, share):
    return mean_interval(Figures.of(few_losses(chance, n, share))), 1 - share / 2


def difference_of_scores(chance, n, share):
    before, after = ([*map(row_of, range(n), x)] for x in ([1.0] * n, few_losses(chance, n, share)))
    return compare(run_of(before), run_of(after)).differences[0].interval, -share / 2


def tournament(chance, strengths, pairs):
    for _ in range(pairs):
        first, second = chance.sample([*strengths], 2)
        odds = exp(strengths[first] - strengths[second])
        yield Match(first, second, float(chance.random() < odds / (1 + odds)))


def strength(chance, name):
    truth = {"a": 0.6, "b": 0.0, "c": -0.6}
    return bradley_terry([*tournament(chance, truth, 300)])[name].interval, truth[name]


def kappa_of_pairs(chance, n, chances):
    both, person, judge, neither = chances
    by_chance = (both + person) * (both + judge) + (judge + neither) * (person + neither)
    found = kappa([Rating(*each) for each in chance.choices(PAIRS, chances, k=n)])
    return found and found.interval, (both + neither - by_chance) / (1 - by_chance)


def rate_by_other_labels(chance, rate, errors, sizes):
    """The judge's error rates are known from labels of another run."""
    (sensitivity, specificity), (half, run) = errors, sizes
    passes = rate * sensitivity + (1 - rate) * (1 - specificity)
    cases = ((run, passes), (half, sensitivity), (half, specificity))
    rows = ([(None, chance.random() < p) for _ in range(n)] for n, p in cases)
    return rogan_gladen_rate(*rows).interval, rate


def share_held(draws, draw, case):
    """Return how often an interval, if there is one, contains the true value, and this value."""
    chance = Random(f"{draw.__name__} {case}")
    drawn = [draw(chance, *case) for _ in range(draws)]
    found = [(interval, truth) for interval, truth in drawn if interval is not None]
    return fmean(low <= truth <= high for (low, high), truth in found), drawn[0][1]


@cache
def coverage_of_wilson(n, rate):
    held = (k for k in range(n + 1) if wilson(k, n)[0] <= rate <= wilson(k, n)[1])
    return sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in held)


SIZES = [(1,), (3,), (10,), range(1, 11)]
GROUPED = product([20, 50, 200], SIZES, [0.5, 0.8, 0.95], [0, 0.3, 0.6, 1])
TASKS = product([50], ["pass_hat_k", "pass_at_k"], [0.5, 0.8, 0.95], [0.3, 0.6])


@pytest.mark.parametrize(
    ("draws", "draw", "case"),
    [
        (200, rate_of_groups, (30, (10,), 0.95, 0.6)),
        (200, rate_of_groups, (30, (10,), 0.5, 1)),
        *nightly(*product([1_000], [rate_of_groups], GROUPED)),
        *nightly(*product([1_000], [rate_of_tries], TASKS)),
    ],
)
def test_intervals_cover_rates(draws, draw, case):
    held, truth = share_held(draws, draw, case)
    least = min(0.935, coverage_of_wilson(case[0], truth))
    assert held >= least - error(least, draws)


KAPPAS = [
    (0.45, 0.05, 0.05, 0.45),
    (0.665, 0.035, 0.12, 0.18),
    (0.882, 0.018, 0.01, 0.09),
    (0.693, 0.007, 0.006, 0.294),  # hardly ever wrong
]
ERRORS = [(0.95, 0.9), (0.7, 0.85), (0.9, 0.99)]
LABELLED = product([0.1, 0.5, 0.85], ERRORS, [(20, 100), (50, 300), (100, 900)])
DIFFERENCES = product([20, 100], [1, 5, 10], [0, 0.3, 1])


@pytest.mark.parametrize(
    ("draws", "draw", "case"),
    [
        (50, strength, "a"),
        *nightly(*product([2_000], [mean_score], product([20, 50, 200], [0.03, 0.1, 0.5]))),
        *nightly(*product([1_000], [difference_of_scores], product([50, 200], [0.1, 0.5]))),
        *nightly(*product([1_000], [strength], "abc")),
        *nightly(*product([1_000], [mean_score_of_groups], product([20, 100], [0.3, 3]))),
        *nightly(*product([1_000], [difference_of_rates], DIFFERENCES)),
        *nightly(*product([2_000], [kappa_of_pairs], product([60, 200], KAPPAS))),
        *nightly(*product([1_500], [rate_by_other_labels], LABELLED)),
    ],
)
def test_intervals_cover_other_figures(draws, draw, case):
    assert share_held(draws, draw, case)[0] >= 0.935 - error(0.935, draws)


# --- tests of two runs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draws", "rows", "correlation"),
    [(100, 10, 1), *nightly(*product([1_000], [1, 5, 10], [0.3, 1]))],
)
def test_at_most_one_comparison_in_twenty_is_a_false_alarm(draws, rows, correlation):
    """Two runs of 30 groups that are alike."""
    chance = Random(rows)

    def run():
        groups = enumerate(outcomes(chance, rows, 0.6, correlation) for _ in range(30))
        drawn = [(n, place, x) for n, group in groups for place, x in enumerate(group)]
        return run_of([row_of(f"{n}.{place}", float(x), x, group=n) for n, place, x in drawn])

    found = (compare(run(), run()).differences for _ in range(draws))
    alarms = fmean(any(each.verdict != "none shown" for each in all_) for all_ in found)
    assert alarms <= 0.05 + error(0.05, draws)


@pytest.mark.nightly
@pytest.mark.parametrize(("groups", "rows"), [(200, 1), (60, 5), (30, 10)])
def test_groups_of_independent_rows_cost_little_power(groups, rows):
    """Against McNemar's exact test, which takes each row for itself."""
    chance, draws = Random(groups), 1_000
    exact, grouped = [], []
    for _ in range(draws):
        drawn = [chance.choices((0, 1, -1), (0.75, 0.08, 0.17), k=rows) for _ in range(groups)]
        exact.append(mcnemar(*(sum(each.count(sign) for each in drawn) for sign in (-1, 1))))
        grouped.append(sign_flip([float(sum(each)) for each in drawn]))
    power, by_groups = (fmean(p <= 0.05 for p in found) for found in (exact, grouped))
    assert 0.3 < power < 0.95
    assert by_groups >= 0.9 * power - error(power, draws)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n", "changed", "level"),
    [(50, 10, 0.05), (100, 10, 0.05), (200, 60, 0.05), (200, 0, 0.05), (400, 100, 0.05 / 10)],
)
def test_a_detectable_difference_is_shown_four_times_in_five(n, changed, level):
    difference = detectable([1.0, -1.0] * (changed // 2) + [0.0] * (n - changed), n, level)
    share = max(changed / n, difference)
    weights, chance = ((share + difference) / 2, (share - difference) / 2, 1 - share), Random(n)
    drawn = (chance.choices((1, -1, 0), weights, k=n) for _ in range(2_000))
    shown = fmean(mcnemar(each.count(-1), each.count(1)) <= level for each in drawn)
    assert 0.68 < shown < 0.86  # the exact test takes a little more than the formula says


def simulate(draws, labels, judged, rate, sensitivity, specificity):
    """Return coverage and mean width with the judge, then those of the labels alone."""
    choose = pytest.importorskip("numpy").random.default_rng(7)
    good, bad = rate * sensitivity, (1 - rate) * (1 - specificity)
    found = []
    for _ in range(draws):
        counts = choose.multinomial(labels, [good, rate - good, bad, 1 - rate - bad])
        cells, rest = PairCounts(*map(int, counts)), choose.binomial(judged - labels, good + bad)
        alone, effect = wilson(cells.both + cells.first, labels), (1.0, labels - 1)
        passed = Share(cells.both + cells.second + int(rest), judged)
        found.append((rate_by_counts(cells, passed, plain=alone, effect=effect).interval, alone))
    for each in zip(*found, strict=True):
        yield fmean(low <= rate <= high for low, high in each)
        yield fmean(map(width, each))


TARGETS = [  # labels, judged, rate, sensitivity, specificity; the least coverage; the mean width
    ((300, 2000, 0.7, 0.95, 0.6), 0.94, 0.090),
    ((100, 2000, 0.7, 0.9, 0.7), 0.94, 0.150),
    ((60, 1000, 0.9, 0.95, 0.5), 0.94, 0.145),
    ((300, 2000, 0.7, 0.9, 0.9), 0.94, 0.078),
]
THIRTY = product([30], [200, 1000], [0.5, 0.8, 0.9, 0.95], [0.7, 0.9, 0.99], [0.5, 0.7, 0.9])


@pytest.mark.parametrize(
    ("draws", "case", "least", "most"),
    [
        *((400, case, least, most + 0.002) for case, least, most in TARGETS),
        *nightly(*((10_000, *each) for each in TARGETS)),
        *nightly(*product([10_000], THIRTY, [0], [1])),
    ],
)
def test_a_judge_never_makes_an_interval_worse_than_labels_alone(draws, case, least, most):
    coverage, mean_width, alone, width_alone = simulate(draws, *case)
    assert coverage >= max(least, alone - 0.01) - error(0.95, draws)
    assert mean_width <= min(most, width_alone)


def documents_of(chance, documents, leaves, wrong, sharpness):
    """Draw documents, each with leaves that are wrong together or not."""
    for document in range(documents):
        bad = chance.random() < wrong
        for _ in range(leaves):
            right = not (bad and chance.random() < 0.6)
            confidence = chance.random() ** (1 / sharpness if right else sharpness)
            yield Answer(confidence, right, document)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("documents", "case", "is_shown"),  # leaves, the share of wrong documents, sharpness
    [
        (2_000, (1, 0.12, 8), True),
        (800, (1, 0.02, 1.2), False),
        (1_000, (6, 0.05, 9), True),
        (600, (5, 0.03, 1.5), False),
    ],
)
def test_a_threshold_breaks_its_promise_in_at_most_five_of_a_hundred_draws(
    documents, case, is_shown
):
    chance, draws = Random(5), 200
    large = [*documents_of(chance, 200_000 // case[0], *case)]
    found = [safe_threshold([*documents_of(chance, documents, *case)]) for _ in range(draws)]
    shown = [each.confidence for each in found if each.confidence is not None]

    def breaks(threshold):
        accepted = [each for each in large if each.confidence >= threshold]
        wrong = {each.group for each in accepted if not each.right}
        return len(wrong) > 0.01 * len({each.group for each in accepted})

    assert sum(map(breaks, shown)) / draws <= 0.05 + error(0.05, draws)
    assert (len(shown) > 0.3 * draws) == is_shown
