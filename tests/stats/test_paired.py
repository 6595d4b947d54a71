"""Pairs: tests and intervals beside published figures and scipy's, win rates and strengths."""

from itertools import count
from math import exp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations.stats import paired
from llmeval_integrations.stats.intervals import Group, width, wilson
from llmeval_integrations.stats.paired import PairCounts, mcnemar, newcombe, sign_flip
from llmeval_integrations.stats.preferences import Match, bradley_terry, win_rate

pytestmark = pytest.mark.once


def test_mcnemars_exact_test():
    # StatsDirect's and Armitage's sputum cultures; scipy's binomtest
    assert mcnemar(12, 2) == mcnemar(2, 12) == pytest.approx(0.012939453125, rel=1e-6)
    assert mcnemar(4_900_000, 5_000_000) == pytest.approx(1.14641688e-221, rel=1e-6)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0),
        ([1.0, -2.0, 3.0], 6 / 8),
        ([0.25] * 6, 2 / 64),  # of one size, so McNemar's
        ([0.5, 1.0] * 100, 2 * exp(-(150**2) / 250)),  # so clear that no signs are drawn
        # Fisher's test of Darwin's maize, The Design of Experiments (1935), section 21
        ([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], 1726 / 2**15),
    ],
)
def test_sign_flip(differences, p):
    assert sign_flip(differences) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(("n", "shift"), [(9, 0.4), (24, 0.3), (25, 0.4), (60, 0.2), (300, 0.1)])
def test_sign_flip_is_scipys_permutation_test(n, shift):
    stats, chance = pytest.importorskip("scipy.stats"), Random(n)
    differences = [chance.gauss(shift, 1) for _ in range(n)]
    options = {"permutation_type": "samples", "vectorized": True, "n_resamples": 20_000}
    options |= {"batch": 2_000, "rng": 1}
    other = stats.permutation_test((differences,), lambda x, axis: x.sum(axis=axis), **options)
    assert sign_flip(differences) == pytest.approx(other.pvalue, abs=0.015)


@given(st.lists(st.integers(-8, 8).map(lambda n: n / 8), max_size=40))
def test_sign_flip_ignores_direction_and_scale(differences):
    p = sign_flip(differences)
    assert 0 < p <= 1
    assert sign_flip([-each for each in differences]) == p
    assert sign_flip([each * 1e300 for each in differences]) == p
    assert sign_flip([*differences, 0.0]) == p


@pytest.mark.parametrize(
    ("table", "low", "high", "digits"),
    [
        # Fagerland, Lydersen, Laake, Stat. Med. 33 (2014) 2850: the first less the second
        ((1, 1, 7, 12), -0.507, -0.026, 3),
        # worked out by hand from Newcombe, Stat. Med. 17 (1998) 2635
        ((36, 12, 2, 0), 0.0569, 0.3404, 4),
        ((43, 0, 1, 0), -0.1181, 0.0597, 4),
    ],
)
def test_newcombes_interval_is_as_published(table, low, high, digits):
    found = newcombe(PairCounts(*table))
    assert (-found[1], -found[0]) == pytest.approx((low, high), abs=0.5 * 10**-digits)


@given(st.tuples(*[st.integers(0, 200)] * 4).filter(any))
def test_newcombes_interval_contains_the_difference_and_mirrors(table):
    both, worse, better, neither = table
    low, high = newcombe(PairCounts(*table))
    assert -1 - 1e-9 <= low <= (better - worse) / sum(table) <= high <= 1 + 1e-9
    for turned in ((both, better, worse, neither), (neither, better, worse, both)):
        assert newcombe(PairCounts(*turned)) == pytest.approx((-high, -low))


def test_newcombes_interval_of_groups():
    counts = PairCounts(60, 10, 30, 100)
    agreeing = [Group(10, 10.0)] * 3 + [Group(10, -10.0)] + [Group(10, 0.0)] * 16
    plain, as_rows = width(newcombe(counts)), width(newcombe(PairCounts(6, 1, 3, 10)))
    assert width(newcombe(counts, agreeing)) > as_rows > 2.5 * plain
    assert width(newcombe(counts, [Group(10, 1.0)] * 20)) == pytest.approx(plain, rel=0.1)
    assert newcombe(counts, [Group(200, 20.0)]) is None
    assert newcombe(counts, [Group(1, 0.1)] * 200) == newcombe(counts)


def test_holms_correction_is_that_of_statsmodels():
    multitest, choose = pytest.importorskip("statsmodels.stats.multitest"), Random(1)
    ps = [choose.random() ** 3 for _ in range(30)]  # once: it collects garbage at each call
    adjusted, _ = paired.adjust(ps, [100] * 30, 0.05)
    assert adjusted == pytest.approx([*multitest.multipletests(ps, method="holm")[1]])


@pytest.mark.parametrize(
    ("n", "changed", "least"),
    [(209, 60, 0.104), (209, 0, 0.0376), (1_000, 100, 0.028), (20, 4, 0.392)],
)
def test_the_detectable_difference(n, changed, least):
    differences = [1.0, -1.0] * (changed // 2) + [0.0] * (n - changed)
    of_groups = paired.detectable([10 * each for each in differences], 10 * n, 0.05)
    assert paired.detectable(differences, n, 0.05) == pytest.approx(of_groups)
    assert of_groups == pytest.approx(least, rel=0.005)


@pytest.mark.parametrize("level", [0.05, 2.01 * 0.5**7, 0.05 / 14, 1e-9])
def test_the_fewest_differences_that_can_be_significant(level):
    n = next(n for n in count(1) if mcnemar(0, n) <= level)
    assert paired.detectable([1.0] * (n - 1), n - 1, level) is None
    assert paired.detectable([1.0] * n, n, level) > 0


# --- pairs of outputs that a judge compares -------------------------------------------------------


def matches(*scores, size=1):
    """Make matches of two contestants, in groups of this size."""
    return [Match("a", "b", float(score), n // size) for n, score in enumerate(scores)]


def test_a_win_rate_counts_ties_half_and_respects_groups():
    scores = [1] * 60 + [0] * 40
    found = win_rate(matches(*scores))
    assert (found.rate, found.wins, found.ties, found.losses) == (0.6, 60, 0, 40)
    assert found.interval == wilson(60, 100)
    assert str(found) == "60.0% (50.2% to 69.1%): 60 won, 0 tied, 40 lost"
    tied = win_rate(matches(*scores, *[0.5] * 100))
    assert (tied.rate, tied.ties) == (0.55, 100)
    assert win_rate(matches(*scores, size=10)).interval[0] < found.interval[0]
    assert win_rate([]) is None


def test_a_contestant_that_wins_all_has_a_finite_strength_and_groups_widen_its_interval():
    value, (low, high), played = bradley_terry(matches(*[1] * 20))["a"]
    assert (0 < low < value < high < 5, played) == (True, 20)
    # half a win and half a loss of each against an average contestant
    [own, _] = bradley_terry(matches(1)).values()
    p = 1 / (1 + exp(-own.value))
    assert 1 - 1 / (1 + exp(-2 * own.value)) + 0.5 - p == pytest.approx(0, abs=1e-9)
    scores = [n < 9 for n in range(12)]
    alone, grouped = (bradley_terry(matches(*scores, size=size))["a"] for size in (1, 4))
    assert grouped.value == pytest.approx(alone.value)
    assert grouped.interval[0] < alone.interval[0]
