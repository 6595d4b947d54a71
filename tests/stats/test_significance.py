"""Tests and intervals of pairs, against published figures and by what has to hold."""

from math import comb, inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pace import at_most

from llmeval_integrations.stats.significance import (
    detectable_mean,
    detectable_rate,
    fewest_shown,
    holm,
    mcnemar,
    newcombe,
    sign_flip,
    standard_error,
    student,
    t_of,
)

pytestmark = pytest.mark.once

DIFFERENCES = st.lists(st.integers(-8, 8).map(lambda n: n / 8), max_size=40)


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [
        (12, 2, 0.012939453125),  # StatsDirect's and Armitage's sputum cultures; scipy's binomtest
        (1, 7, 0.0703125),  # airway responsiveness before and after transplantation
        (0, 6, 0.03125),
        (0, 5, 0.0625),
        (0, 1, 1.0),
        (3, 3, 1.0),
        (0, 0, 1.0),
        (500, 560, 0.06990955946),
    ],
)
def test_mcnemars_exact_test(worse, better, p):
    assert mcnemar(worse, better) == pytest.approx(p, rel=1e-9)
    assert mcnemar(better, worse) == mcnemar(worse, better)


def test_mcnemars_test_of_millions_is_quick_and_of_no_chance_is_nothing():
    assert mcnemar(4_900_000, 5_000_000) == pytest.approx(1.14641688e-221, rel=1e-6)
    assert mcnemar(0, 1_000_000) < 1e-300


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemars_test_is_the_sum_of_binomials(worse, better):
    n = worse + better
    tail = sum(comb(n, k) for k in range(min(worse, better) + 1))
    assert mcnemar(worse, better) == pytest.approx(min(1, 2 * tail / 2**n))


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        # Fagerland, Lydersen, Laake, Stat. Med. 33 (2014) 2850: the first less the second
        ((1, 1, 7, 12), -0.507, -0.026),
        # worked out by hand from Newcombe, Stat. Med. 17 (1998) 2635
        ((36, 12, 2, 0), 0.0569, 0.3404),
        ((43, 0, 1, 0), -0.1181, 0.0597),
    ],
)
def test_newcombes_interval_is_what_was_published(table, low, high):
    both, first, second, neither = table
    found = newcombe(both, first, second, neither)
    rounding = 0.0005 if abs(high) == 0.026 else 0.00005
    assert (-found[1], -found[0]) == pytest.approx((low, high), abs=rounding)


@given(st.tuples(*[st.integers(0, 200)] * 4).filter(any))
def test_newcombes_interval_holds_the_difference_and_mirrors(table):
    both, worse, better, neither = table
    low, high = newcombe(both, worse, better, neither)
    assert -1 - 1e-9 <= low <= (better - worse) / sum(table) <= high <= 1 + 1e-9
    turned = newcombe(both, better, worse, neither)
    assert turned == pytest.approx((-high, -low))
    assert newcombe(neither, better, worse, both) == pytest.approx((-high, -low))


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0),
        ([0.0, 0.0], 1.0),
        ([0.5], 1.0),
        ([1.0, 2.0, 3.0], 2 / 8),
        ([1.0, -2.0, 3.0], 6 / 8),
        ([0.25] * 6, 2 / 64),  # of one size, so McNemar's
        # Fisher's test of Darwin's maize, The Design of Experiments (1935), section 21: 1726 / 2^15
        ([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], 1726 / 2**15),
    ],
)
def test_turning_signs(differences, p):
    exact = len(differences) < 14
    assert sign_flip(differences) == pytest.approx(p, rel=1e-12 if exact else 0.08)


@pytest.mark.parametrize("n", [300, 5_000])
def test_turning_signs_of_many_agrees_with_the_normal_limit(n):
    chance = Random(n)
    differences = [chance.gauss(0, 1) for _ in range(n)]
    middle = sum(differences) / n
    wanted = 2.0 / n**0.5  # two standard errors from 0
    moved = [each - middle + wanted for each in differences]
    size = (sum(each * each for each in moved) / n) ** 0.5
    assert sign_flip([each / size for each in moved]) == pytest.approx(0.0455, abs=0.015)


@given(DIFFERENCES)
def test_turning_signs_knows_no_direction_and_no_scale(differences):
    p = sign_flip(differences)
    assert 0 < p <= 1
    assert sign_flip([-each for each in differences]) == p
    assert sign_flip([each * 1e300 for each in differences]) == p
    assert sign_flip([*differences, 0.0]) == p


def test_what_is_clear_is_bounded_without_drawing():
    differences = [0.5, 1.0] * 100
    assert sign_flip(differences, seed=1) == sign_flip(differences, seed=2) < 1e-30


def test_turning_signs_holds_its_level_where_few_of_many_differ():
    chance, alarms = Random(5), 0
    for _ in range(400):
        differences = [chance.choice((-1, 1)) * chance.random() ** 3 for _ in range(7)]
        alarms += sign_flip(differences + [0.0] * 93) <= 0.05
    assert 0.02 < alarms / 400 <= 0.05


def test_students_interval():
    # Student, Biometrika 6 (1908) 1: the sleep of ten patients
    gains = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    assert student(gains) == pytest.approx((0.7001142, 2.4598858), abs=1e-4)
    assert standard_error(gains) == pytest.approx(0.3889587, abs=1e-6)


@pytest.mark.parametrize("differences", [[], [1.0], [0.0] * 9, [0.25] * 3, [0.07] * 9, [0.03] * 7])
def test_without_a_spread_there_is_no_interval(differences):
    assert student(differences) is None
    assert detectable_mean(differences, 0.05) is None


@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (10, 2.22814), (1000, 1.96234)],
)
def test_students_quantiles(freedom, t):
    assert t_of(0.95, freedom) == pytest.approx(t, rel=0.0015)


def test_holms_correction():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1))
def test_holm_keeps_the_order_and_lies_between_nothing_and_bonferroni(ps):
    adjusted = holm(ps)
    for p, found in zip(ps, adjusted, strict=True):
        assert p <= found <= min(1.0, p * len(ps))
    assert sorted(range(len(ps)), key=lambda i: (adjusted[i], ps[i])) == sorted(
        range(len(ps)), key=lambda i: ps[i]
    )


@pytest.mark.parametrize(
    ("n", "changed", "alpha"),
    [
        *((6, 0, 0.05), (8, 2, 0.05), (10, 10, 0.05), (12, 5, 0.05), (20, 4, 0.05), (40, 30, 0.05)),
        *((12, 0, 0.005), (50, 5, 0.005), (100, 10, 0.05), (200, 0, 0.05), (1_000, 300, 0.05)),
    ],
)
def test_a_detectable_difference_of_rates_is_detected_four_times_in_five(n, changed, alpha):
    difference = detectable_rate(n, changed, alpha)
    share = max(changed / n, difference)
    chance, shown, runs = Random(n), 0, 300_000 // max(n, 100)
    for _ in range(runs):
        count = sum(chance.random() < share for _ in range(n))
        better = sum(chance.random() < (1 + difference / share) / 2 for _ in range(count))
        shown += mcnemar(count - better, better) <= alpha
    assert shown / runs == pytest.approx(0.8, abs=0.03 if runs > 1_000 else 0.06)


@pytest.mark.parametrize("n", [6, 9, 17])
def test_where_all_have_to_change_the_power_is_that_of_all_changing(n):
    assert detectable_rate(n, 0, 2.01 * 0.5**n) ** n == pytest.approx(0.8, abs=0.002)


def test_the_sum_meets_the_normal_distribution_where_that_takes_over():
    summed, normal = detectable_rate(1_000, 100, 0.05), detectable_rate(1_000, 101, 0.05)
    assert summed == pytest.approx(normal, rel=0.05)


def test_hundreds_of_differences_of_rates_take_seconds_at_most():
    with at_most(5):
        for changed in range(300):
            detectable_rate(400, changed, 0.05 / 300)


def test_a_detectable_mean_is_detected_four_times_in_five():
    chance, shown = Random(2), 0
    for _ in range(200):
        noise = [chance.gauss(0, 1) for _ in range(50)]
        difference = detectable_mean(noise, 0.05)
        shown += sign_flip([each + difference for each in noise]) <= 0.05
    assert shown / 200 == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(
    ("n", "alpha"), [(0, 0.05), (3, 0.05), (4, 0.05), (5, 0.05), (9, 0.05 / 14), (10, 1e-9)]
)
def test_too_few_pairs_show_no_difference(n, alpha):
    assert mcnemar(0, n) > alpha
    assert detectable_rate(n, 0, alpha) is None
    assert detectable_mean([0.1 * each for each in range(n)], alpha) is None


@pytest.mark.parametrize("alpha", [0.05, 2.01 * 0.5**7, 0.05 / 14, 1e-9])
def test_the_fewest_pairs_that_show_a_difference(alpha):
    n = fewest_shown(alpha)
    assert mcnemar(0, n) <= alpha < mcnemar(0, n - 1)
    assert detectable_rate(n, 0, alpha) < 1
    assert detectable_mean([0.1 * each for each in range(n)], alpha) > 0


def test_more_pairs_show_less():
    found = [detectable_rate(n, n // 10, 0.05) or inf for n in (20, 50, 200, 1_000, 10_000)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.01
