"""Shares, Wilson's interval, and intervals of means whose rows come in groups."""

from math import sqrt

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from llmeval_integrations.stats.intervals import (
    Figures,
    Group,
    Rate,
    Share,
    Z,
    mean_interval,
    student,
    t_of,
    wilson,
)

GROUPS = st.lists(
    st.integers(1, 8).flatmap(lambda rows: st.tuples(st.just(rows), st.integers(0, rows))),
    min_size=2,
    max_size=30,
)


def verdicts(groups):
    """Give the figures of groups of rows that pass or fail, and the groups."""
    n, passes = (sum(each) for each in zip(*groups, strict=True))
    low, high = float(passes == n), float(passes > 0)
    return Figures(n, passes, passes, low, high), [Group(*each) for each in groups]


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [
        (0, 10, 0.0, 0.277533),  # statsmodels 0.15, proportion_confint(method="wilson")
        (10, 10, 0.722467, 1.0),
        (81, 263, 0.255289, 0.366210),
    ],
)
def test_wilsons_interval_is_what_statsmodels_gives(part, whole, low, high):
    assert wilson(part, whole) == pytest.approx((low, high), abs=1e-6)
    rows = [(None, place < part) for place in range(whole)]
    assert Share(part, whole).interval() == Rate.of(rows).interval == wilson(part, whole)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_contains_the_rate_and_mirrors(pair):
    part, whole = pair
    low, high = wilson(part, whole)
    assert 0 <= low <= part / whole <= high <= 1
    assert wilson(whole - part, whole) == pytest.approx((1 - high, 1 - low))


def test_quantiles_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    assert stats.norm.ppf(0.975) == Z
    for freedom in (1, 2, 3, 4, 10, 29, 1_000):
        assert t_of(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.0015)


@pytest.mark.parametrize(("rows", "passes"), [(2, 0), (10, 21)])
def test_groups_count_as_rows_if_all_their_rows_agree(rows, passes):
    found = mean_interval(*verdicts([(rows, rows)] * passes + [(rows, 0)] * (30 - passes)))
    t, rate = t_of(29), passes / 30
    center, half = rate + t * t / 60, t * sqrt(rate * (1 - rate) / 30 + t * t / 3600)
    assert found == pytest.approx([(center + x * half) / (1 + t * t / 30) for x in (-1, 1)])


@given(GROUPS)
@example([(1, 1), (3, 2), (5, 4), (6, 3), (6, 4)])  # four degrees of freedom but for rounding
def test_an_interval_of_groups_contains_the_rate_and_mirrors(groups):
    assume(any(rows > 1 for rows, _ in groups))
    figures, _ = verdicts(groups)
    low, high = mean_interval(*verdicts(groups))
    assert 0 <= low <= figures.mean <= high <= 1
    turned = mean_interval(*verdicts([(rows, rows - passes) for rows, passes in groups]))
    assert turned == pytest.approx((1 - high, 1 - low))
    assert mean_interval(*verdicts(groups[::-1])) == pytest.approx((low, high))


@pytest.mark.parametrize("scores", [[0.7] * 9, [0.1 + 0.2, 0.3, 0.3], [7.0] * 9, [3.0]])
def test_equal_scores_have_a_wide_interval_and_beyond_1_or_in_one_group_none(scores):
    found = mean_interval(Figures.of(scores))
    assert (found is None) == (scores[0] > 1)
    assert found is None or found[0] + 0.1 < scores[0] < found[1] - 0.05
    varied = [*scores, 2.0, 5.0]
    assert student(Figures.of(varied), [Group(len(varied), sum(varied))]) is None
    assert mean_interval(*verdicts([(20, 15)])) is None


def test_students_interval_and_the_variance_of_groups():
    # Student, Biometrika 6 (1908) 1: the sleep of ten patients
    gains = Figures.of([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert mean_interval(gains) == pytest.approx((0.7001142, 2.4598858), abs=1e-4)
    api = pytest.importorskip("statsmodels.api")
    scores = [3.1, 2.0, 4.4, 4.1, 1.0, 1.7, 2.5, 2.2, 5.0, 4.2, 3.3, 3.9]
    numbers = [0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5]
    options = {"groups": numbers, "df_correction": False}
    fit = api.OLS(scores, [[1.0]] * len(scores)).fit(cov_type="cluster", cov_kwds=options)
    sums = [sum(s for s, n in zip(scores, numbers) if n == each) for each in range(6)]
    groups = [Group(numbers.count(each), total) for each, total in enumerate(sums)]
    low, high = student(Figures.of(scores), groups)
    assert (high - low) / 2 == pytest.approx(t_of(5) * float(fit.bse[0]))
