"""Intervals of rates and means, tasks that were tried often, and confidences."""

from collections import Counter
from itertools import combinations, product
from math import sqrt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llmeval_integrations.stats import intervals
from llmeval_integrations.stats.confidence import Answer, confidence_figures, safe_threshold
from llmeval_integrations.stats.intervals import Figures, group_figures, mean_interval, wilson
from llmeval_integrations.stats.repeats import Tries, pass_at_k, pass_hat_k, repeats

GROUPS = st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), min_size=2, max_size=30)


def verdicts(groups):
    """Summarize groups, each given as the number of its rows and how many of them pass."""
    return group_figures(
        (n, float(place < passes))
        for n, (rows, passes) in enumerate(groups)
        for place in range(rows)
    )


@pytest.mark.parametrize(("part", "whole"), [(0, 10), (10, 10), (81, 263)])
def test_wilsons_interval_is_what_statsmodels_gives(part, whole):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    oracle = proportion.proportion_confint(part, whole, method="wilson")
    assert wilson(part, whole) == pytest.approx(oracle, abs=1e-12)
    rate = intervals.Rate.of([(None, place < part) for place in range(whole)])
    assert rate.interval == wilson(part, whole)


def test_quantiles_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    assert stats.norm.ppf(0.975) == intervals.Z
    for freedom in (1, 2, 3, 4, 10, 29, 1_000):
        assert intervals.t_of(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.0015)


@pytest.mark.parametrize(("rows", "passes"), [(2, 0), (10, 21)])
def test_groups_count_as_rows_if_all_their_rows_agree(rows, passes):
    found = mean_interval(*verdicts([(rows, rows)] * passes + [(rows, 0)] * (30 - passes)))
    t, rate = intervals.t_of(29), passes / 30
    center, half = rate + t * t / 60, t * sqrt(rate * (1 - rate) / 30 + t * t / 3600)
    assert found == pytest.approx([(center + x * half) / (1 + t * t / 30) for x in (-1, 1)])


@given(GROUPS | GROUPS.map(lambda groups: [(1, passes) for _, passes in groups]))
@example([(1, 1), (3, 2), (5, 4), (6, 3), (6, 4)])  # four degrees of freedom but for rounding
def test_an_interval_contains_the_rate_and_mirrors_and_knows_no_order(groups):
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
    assert mean_interval(*group_figures((1, each) for each in varied)) is None
    assert mean_interval(*verdicts([(20, 15)])) is None


def test_groups_of_one_row_are_none_and_one_low_score_tells_little_about_others():
    figures, groups = group_figures(enumerate([1.0] * 9 + [0.5]))
    found = mean_interval(figures)
    assert found == mean_interval(figures, groups)
    assert found == pytest.approx(intervals.wilson_of(0.95, 10, intervals.t_of(9)))


def test_students_interval_and_the_variance_of_groups():
    # Student, Biometrika 6 (1908) 1: the sleep of ten patients
    gains = Figures.of([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert mean_interval(gains) == pytest.approx((0.7001142, 2.4598858), abs=1e-4)
    api = pytest.importorskip("statsmodels.api")
    scores = [3.1, 2.0, 4.4, 4.1, 1.0, 1.7, 2.5, 2.2, 5.0, 4.2, 3.3, 3.9]
    numbers = [0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5]
    options = {"groups": numbers, "df_correction": False}
    fit = api.OLS(scores, [[1.0]] * len(scores)).fit(cov_type="cluster", cov_kwds=options)
    low, high = mean_interval(*group_figures(zip(numbers, scores, strict=True)))
    assert (high - low) / 2 == pytest.approx(intervals.t_of(5) * float(fit.bse[0]))


@given(st.integers(1, 8).flatmap(lambda n: st.builds(Tries, st.integers(0, n), st.just(n))))
def test_pass_at_k_is_the_share_of_all_draws_of_k_tries(tries):
    outcomes = [True] * tries.passes + [False] * (tries.n - tries.passes)
    for k in range(1, tries.n + 1):
        drawn = [*combinations(outcomes, k)]
        assert pass_at_k(tries, k) == pytest.approx(sum(map(any, drawn)) / len(drawn))
        assert pass_hat_k(tries, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))


def test_k_is_reported_with_intervals_if_half_of_the_tasks_have_k_tries():
    found = repeats(Counter({Tries(5, 5): 10, Tries(3, 5): 6, Tries(0, 5): 4}))
    assert [(each["k"], each["tasks"]) for each in found] == [(k, 20) for k in range(1, 6)]
    assert found[0]["pass_at_k"] == pytest.approx(found[0]["pass_hat_k"]) == pytest.approx(0.68)
    assert (found[4]["pass_at_k"], found[4]["pass_hat_k"]) == (0.8, 0.5)
    for each, name in product(found, ("pass_at_k", "pass_hat_k")):
        low, high = each[f"{name}_ci95"]
        assert 0 <= low < each[name] < high <= 1
    found = repeats(Counter({Tries(4, 4): 2, Tries(2, 4): 1, Tries(1, 2): 3}))
    assert [(each["k"], each["tasks"]) for each in found] == [(1, 6), (2, 6), (3, 3), (4, 3)]
    assert [each["k"] for each in repeats(Counter({Tries(4, 4): 2, Tries(1, 2): 3}))] == [1, 2]
    assert repeats(Counter()) == []
    assert repeats(Counter({Tries(1, 2): 1}))[0]["pass_at_k_ci95"] is None


ANSWERS = st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.55, 0.9, 1.0]), st.booleans())


@given(st.lists(ANSWERS, min_size=1))
def test_figures_are_those_of_sklearn(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    found = confidence_figures(Counter(rows))
    confidence, right = zip(*rows, strict=True)
    is_mixed = 0 < sum(right) < len(right)
    auroc = metrics.roc_auc_score(right, confidence) if is_mixed else None
    assert found["auroc"] == pytest.approx(auroc)
    assert found["brier"] == pytest.approx(sum((each - x) ** 2 for each, x in rows) / len(rows))


def test_the_least_sure_values_are_reviewed_first():
    found = confidence_figures(Counter((i / 100, i >= 8) for i in range(100)))
    assert found["caught"] == {"10%": 1.0, "30%": 1.0, "50%": 1.0}
    assert (found["n"], found["wrong"], found["auroc"]) == (100, 8, 1.0)
    same = confidence_figures({(0.5, True): 10, (0.5, False): 10})
    assert same["caught"] == pytest.approx({"10%": 0.1, "30%": 0.3, "50%": 0.5})
    assert (same["auroc"], same["calibration_error"]) == (0.5, 0.0)
    assert confidence_figures({(0.5, True): 1})["caught"]["10%"] is None
    assert confidence_figures({}) is None


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([Answer(0.9, right=True)] * 212, "not shown: 212 of 299 needed"),
        ([Answer(0.9996, right=True)] * 300, "0.9996: 300 values (100.0%) are accepted, 0 of "),
        ([Answer(0.9, right=i > 3) for i in range(300)], "not shown: 4 of 300 are wrong"),
        ([Answer(0.9, right=False)] * 300, "not shown: 300 of 300 are wrong"),
        ([Answer(0.9, True, i % 212) for i in range(3_000)], "not shown: 212 of 299 needed"),
    ],
)
def test_a_threshold_says_what_is_shown_or_lacking(rows, text):
    assert str(safe_threshold(rows)).startswith(text)
