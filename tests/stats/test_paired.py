"""Tests and intervals of pairs, compared with published figures and scipy, and their laws."""

from itertools import count
from math import exp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations.stats.intervals import Group
from llmeval_integrations.stats.paired import (
    PairCounts,
    adjust,
    detectable,
    mcnemar,
    newcombe,
    sign_flip,
)

pytestmark = pytest.mark.once

DIFFERENCES = st.lists(st.integers(-8, 8).map(lambda n: n / 8), max_size=40)


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [
        (12, 2, 0.012939453125),  # StatsDirect's and Armitage's sputum cultures; scipy's binomtest
        (4_900_000, 5_000_000, 1.14641688e-221),
    ],
)
def test_mcnemars_exact_test(worse, better, p):
    assert mcnemar(worse, better) == pytest.approx(p, rel=1e-6)
    assert mcnemar(better, worse) == mcnemar(worse, better)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0),
        ([0.0, 0.0], 1.0),
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
    stats = pytest.importorskip("scipy.stats")
    chance = Random(n)
    differences = [chance.gauss(shift, 1) for _ in range(n)]
    other = stats.permutation_test(
        (differences,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        batch=2_000,
        rng=1,
    )
    assert sign_flip(differences) == pytest.approx(other.pvalue, abs=0.015)


@given(DIFFERENCES)
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
    mixed = [Group(10, 1.0)] * 20
    plain, wide, narrow = newcombe(counts), newcombe(counts, agreeing), newcombe(counts, mixed)
    as_rows = newcombe(PairCounts(6, 1, 3, 10))
    assert wide[1] - wide[0] > as_rows[1] - as_rows[0] > 2.5 * (plain[1] - plain[0])
    assert narrow[1] - narrow[0] == pytest.approx(plain[1] - plain[0], rel=0.1)
    assert newcombe(counts, [Group(200, 20.0)]) is None
    assert newcombe(counts, [Group(1, 0.1)] * 200) == plain


def test_holms_correction_is_that_of_statsmodels():
    multitest, choose = pytest.importorskip("statsmodels.stats.multitest"), Random(1)
    ps = [choose.random() ** 3 for _ in range(30)]  # once: it collects garbage at each call
    assert adjust(ps, [100] * 30, 0.05)[0] == pytest.approx(
        [*multitest.multipletests(ps, method="holm")[1]]
    )


@pytest.mark.parametrize(
    ("n", "changed", "least"),
    [(209, 60, 0.104), (209, 0, 0.0376), (1_000, 100, 0.028), (20, 4, 0.392)],
)
def test_the_detectable_difference(n, changed, least):
    differences = [1.0, -1.0] * (changed // 2) + [0.0] * (n - changed)
    groups = [10 * each for each in differences]  # of ten equal rows
    for found in (detectable(differences, n, 0.05), detectable(groups, 10 * n, 0.05)):
        assert found == pytest.approx(least, rel=0.005)


@pytest.mark.parametrize("level", [0.05, 2.01 * 0.5**7, 0.05 / 14, 1e-9])
def test_the_fewest_differences_that_can_be_significant(level):
    n = next(n for n in count(1) if mcnemar(0, n) <= level)
    assert mcnemar(0, n) <= level < mcnemar(0, n - 1)
    assert detectable([1.0] * (n - 1), n - 1, level) is None
    assert detectable([1.0] * n, n, level) > 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n", "changed", "level"),
    [(50, 10, 0.05), (100, 10, 0.05), (200, 60, 0.05), (200, 0, 0.05), (400, 100, 0.05 / 10)],
)
def test_a_detectable_difference_is_shown_four_times_in_five(n, changed, level):
    difference = detectable([1.0, -1.0] * (changed // 2) + [0.0] * (n - changed), n, level)
    share = max(changed / n, difference)
    chance, shown, runs = Random(n), 0, 2_000
    for _ in range(runs):
        count = sum(chance.random() < share for _ in range(n))
        better = sum(chance.random() < (1 + difference / share) / 2 for _ in range(count))
        shown += mcnemar(count - better, better) <= level
    assert 0.68 < shown / runs < 0.86  # the exact test takes a little more than the formula says
