"""Rates estimated with a judge's verdicts, and the coverage of their intervals."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations.stats.agreement import Rating
from llmeval_integrations.stats.intervals import Share, width, wilson
from llmeval_integrations.stats.judged_rate import (
    labels_needed,
    prediction_powered_rate,
    rate_by_counts,
    rogan_gladen_rate,
)
from llmeval_integrations.stats.paired import PairCounts


def simulate(draws, labels, judged, rate, sensitivity, specificity):
    """Return coverage and mean width with the judge, then those of the labels alone."""
    choose = pytest.importorskip("numpy").random.default_rng(7)
    good, bad = rate * sensitivity, (1 - rate) * (1 - specificity)
    totals = [0.0] * 4
    for _ in range(draws):
        counts = choose.multinomial(labels, [good, rate - good, bad, 1 - rate - bad])
        cells = PairCounts(*map(int, counts))
        rest = int(choose.binomial(judged - labels, good + bad))
        alone, effect = wilson(cells.both + cells.worse, labels), (1.0, labels - 1)
        passed = Share(cells.both + cells.better + rest, judged)
        found = rate_by_counts(cells, passed, plain=alone, effect=effect).interval
        for place, (low, high) in enumerate((found, alone)):
            totals[2 * place] += low <= rate <= high
            totals[2 * place + 1] += high - low
    return [total / draws for total in totals]


TARGETS = [  # labels, judged, rate, sensitivity, specificity; the mean width
    ((300, 2000, 0.7, 0.95, 0.6), 0.090),
    ((100, 2000, 0.7, 0.9, 0.7), 0.150),
    ((60, 1000, 0.9, 0.95, 0.5), 0.145),
    ((300, 2000, 0.7, 0.9, 0.9), 0.078),
]


@pytest.mark.parametrize("draws", [400, pytest.param(10_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("case", "most"), TARGETS)
def test_intervals_are_narrow_and_cover_the_rate(draws, case, most):
    coverage, mean_width, _, alone = simulate(draws, *case)
    assert coverage >= 0.94 - 2 * (0.94 * 0.06 / draws) ** 0.5
    assert mean_width <= most + 0.002 * (draws < 10_000)
    assert most < alone + 0.01


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity"),
    [*itertools.product((0.5, 0.8, 0.9, 0.95), (0.7, 0.9, 0.99), (0.5, 0.7, 0.9))],
)
def test_thirty_labels_are_never_worse_with_the_judge(rate, sensitivity, specificity):
    for judged in (200, 1000):
        coverage, mean_width, alone, width_alone = simulate(
            10_000, 30, judged, rate, sensitivity, specificity
        )
        assert coverage >= alone - 0.01 - 2 * (0.05 * 0.95 / 10_000) ** 0.5
        assert mean_width <= width_alone


@given(
    st.lists(st.tuples(st.none() | st.booleans(), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 7),
)
def test_an_interval_contains_the_rate_and_groups_never_narrow_it(pairs, groups):
    rows = [Rating(*both) for both in pairs]
    alone = prediction_powered_rate(rows)
    if alone.rate is None:
        assert alone.reason == "no row has a person's label"
        return
    assert alone.interval[0] <= alone.rate <= alone.interval[1]
    in_groups = [row._replace(group=place % groups) for place, row in enumerate(rows)]
    grouped = prediction_powered_rate(in_groups).interval
    assert grouped is None or width(grouped) >= width(alone.interval) - 1e-9


@pytest.mark.parametrize(
    ("case", "labels"),
    [
        ({"width": 0.1, "judged": 2_000}, 150),
        ({"width": 0.1, "judged": 2_000, "sensitivity": 0.5, "specificity": 0.5}, 247),
        ({"width": 0.02, "judged": 300}, None),
    ],
)
def test_the_number_of_labels_for_an_interval(case, labels):
    assert labels_needed(**case) == labels


@pytest.mark.parametrize(
    ("judged", "sensitivity", "specificity", "reason"),
    [
        (Share(5, 10), Share(0, 3), Share(0, 3), "does no better than chance: sensitivity 0.000"),
        # in floats, 0.7 + 0.3 - 1 and its like come out as 1e-16
        (Share(5, 10), Share(7, 10), Share(3, 10), "no better than chance"),
        (Share(5, 10), Share(1, 1), Share(0, 0), "so the specificity is unknown"),
        (Share(5, 10), Share(0, 0), Share(1, 1), "so the sensitivity is unknown"),
        (Share(0, 0), Share(1, 1), Share(1, 1), "no row was judged"),
    ],
)
def test_a_missing_rate_has_a_reason(judged, sensitivity, specificity, reason):
    found = rogan_gladen_rate(judged, sensitivity, specificity)
    assert (found.rate, found.interval) == (None, None)
    assert re.search(reason, str(found))


def shares(most):
    counts = st.tuples(st.integers(0, most), st.integers(0, most)).map(sorted)
    return counts.map(lambda both: Share(*both))


@given(shares(1000), shares(60), shares(60))
def test_swapping_pass_and_fail_mirrors_the_rate(judged, sensitivity, specificity):
    found = rogan_gladen_rate(judged, sensitivity, specificity)
    failing = Share(judged.whole - judged.part, judged.whole)
    mirrored = rogan_gladen_rate(failing, specificity, sensitivity)
    assert (found.rate is None) == (mirrored.rate is None)
    if found.rate is not None:
        low, high = mirrored.interval
        assert 0 <= low <= mirrored.rate <= high <= 1
        assert found.rate == pytest.approx(1 - mirrored.rate)
        assert found.interval == pytest.approx((1 - high, 1 - low))


@pytest.mark.nightly
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.85])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.95, 0.9), (0.7, 0.85), (0.9, 0.99)])
def test_the_interval_with_labels_of_another_run_covers_the_rate(rate, sensitivity, specificity):
    choose = pytest.importorskip("numpy").random.default_rng(5)
    passes = rate * sensitivity + (1 - rate) * (1 - specificity)
    for half, run in ((20, 100), (50, 300), (100, 900)):
        cases = ((run, passes), (half, sensitivity), (half, specificity))
        drawn = (
            rogan_gladen_rate(*(Share(int(choose.binomial(n, p)), n) for n, p in cases)).interval
            for _ in range(1500)
        )
        found = [each for each in drawn if each is not None]
        assert sum(low <= rate <= high for low, high in found) / len(found) >= 0.93
