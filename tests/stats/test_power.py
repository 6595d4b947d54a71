"""How small a difference a comparison can show."""

from random import Random

import pytest

from llmeval_integrations.stats.paired import mcnemar, sign_flip
from llmeval_integrations.stats.power import detectable, fewest_differences


@pytest.mark.parametrize(
    ("n", "changed", "least"),
    [(209, 60, 0.104), (209, 0, 0.0376), (1_000, 100, 0.028), (20, 4, 0.392)],
)
def test_the_formula(n, changed, least):
    differences = [1.0, -1.0] * (changed // 2) + [0.0] * (n - changed)
    assert detectable(differences, n, 0.05) == pytest.approx(least, rel=0.005)


def test_ten_equal_rows_in_a_group_show_no_more_than_one():
    groups = [10.0] * 6 + [-10.0] * 4 + [0.0] * 20
    assert detectable(groups, 300, 0.05) == detectable([each / 10 for each in groups], 30, 0.05)
    assert detectable([0.0] * 30, 300, 0.05) == detectable([0.0] * 30, 30, 0.05)


@pytest.mark.parametrize("level", [0.05, 2.01 * 0.5**7, 0.05 / 14, 1e-9])
def test_the_fewest_that_can_show_anything(level):
    n = fewest_differences(level)
    assert mcnemar(0, n) <= level < mcnemar(0, n - 1)
    assert detectable([1.0] * (n - 1), n - 1, level) is None
    assert detectable([1.0] * n, n, level) > 0


def test_more_rows_show_less():
    found = [detectable([1.0, -1.0] * (n // 20) + [0.0] * n, n, 0.05) for n in (20, 200, 2_000)]
    assert found == sorted(found, reverse=True)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n", "changed", "level"),
    [(50, 10, 0.05), (100, 10, 0.05), (200, 60, 0.05), (200, 0, 0.05), (400, 100, 0.05 / 10)],
)
def test_a_detectable_difference_of_rates_is_shown_about_four_times_in_five(n, changed, level):
    difference = detectable([1.0, -1.0] * (changed // 2) + [0.0] * (n - changed), n, level)
    share = max(changed / n, difference)
    chance, shown, runs = Random(n), 0, 2_000
    for _ in range(runs):
        count = sum(chance.random() < share for _ in range(n))
        better = sum(chance.random() < (1 + difference / share) / 2 for _ in range(count))
        shown += mcnemar(count - better, better) <= level
    assert 0.68 < shown / runs < 0.86  # the exact test takes a little more than the formula says


@pytest.mark.nightly
def test_a_detectable_difference_of_group_means_is_shown_about_four_times_in_five():
    chance, shown, runs = Random(2), 0, 300
    for _ in range(runs):
        noise = [chance.gauss(0, 1) for _ in range(50)]
        difference = detectable(noise, 500, 0.05) * 10
        shown += sign_flip([each + difference for each in noise]) <= 0.05
    assert 0.72 < shown / runs < 0.88
