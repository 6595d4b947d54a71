"""The interval of a mean holds no figure that the mean cannot have."""

from random import Random

import pytest

from llmeval_integrations.reports.parts.scores import Scores
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.stats.intervals import wilson


def interval(*values):
    scores = Scores()
    for n, value in enumerate(values):
        scores.add(Row(n, "x", value, None, None, None, {}, False, None))
    return scores.interval


@pytest.mark.parametrize("zero", [0, 0.0, False])
@pytest.mark.parametrize("one", [1, 1.0, True])
@pytest.mark.parametrize(("ones", "n"), [(3, 8), (0, 8), (8, 8), (1, 2), (1, 1)])
def test_of_zeros_and_ones_it_is_the_pass_rates(zero, one, ones, n):
    assert interval(*[one] * ones, *[zero] * (n - ones)) == wilson(ones, n)


@pytest.mark.parametrize("values", [[1, 1, 1, 1, 0.9], [0, 0, 0.1, 0, 0], [0.5, 1, 0, 1, 0, 1, 1]])
def test_of_scores_from_0_to_1_it_lies_within_them(values):
    low, high = interval(*values)
    assert 0 <= low < sum(values) / len(values) < high <= 1


def test_it_goes_beyond_the_scores_that_were_seen():
    assert interval(0.5, 0.5, 0.5, 0.5, 0.6) == pytest.approx((0.46447, 0.57553), abs=2e-4)


@pytest.mark.parametrize("values", [[0, 0, 0, 0, 2], [1, 1, 1, 1, -1], [7, 7, 7, 7, 8]])
def test_of_other_scores_nothing_is_known(values):
    low, high = interval(*values)
    mean = sum(values) / 5
    assert low < min(mean, sorted(values)[1]) or high > max(mean, sorted(values)[-2])
    assert high - mean == pytest.approx(mean - low)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5], [0.1] * 9])
def test_where_the_spread_is_not_known_there_is_none(values):
    assert interval(*values) is None


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        # by the tables of t: 12.7062, 4.30265 and 3.18245 standard errors to either side
        ([10, 12], 11 - 12.7062, 11 + 12.7062),
        ([10, 11, 12], 11 - 4.30265 / 3**0.5, 11 + 4.30265 / 3**0.5),
        ([10, 11, 12, 13], 11.5 - 3.18245 * 0.645497, 11.5 + 3.18245 * 0.645497),
        ([0.1, 0.4, 0.6665], 0, 1),
        ([0.5, 0.52, 0.54], 0.52 - 4.30265 * 0.02 / 3**0.5, 0.52 + 4.30265 * 0.02 / 3**0.5),
    ],
)
def test_of_few_scores_it_is_as_wide_as_the_tables_say(values, low, high):
    assert interval(*values) == pytest.approx((low, high), abs=0.003)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_of_few_scores_it_holds_the_mean_19_times_in_20(n):
    chance, held = Random(n), 0
    for _ in range(4_000):
        low, high = interval(*(chance.gauss(10, 1) for _ in range(n)))
        held += low <= 10 <= high
    assert held / 4_000 == pytest.approx(0.95, abs=0.012)
