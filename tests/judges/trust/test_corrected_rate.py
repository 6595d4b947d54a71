"""The pass rate corrected for the judge's errors, and how often its interval is right."""

import itertools
import random
import re
from functools import cache
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import Result
from llmeval_integrations.judges.trust.agreement import Agreement, agreement
from llmeval_integrations.judges.trust.corrected_rate import corrected
from llmeval_integrations.stats.intervals import Share, wilson

JUDGED = [True] * 45 + [False] * 5 + [True] * 10 + [False] * 40
HUMAN = [True] * 50 + [False] * 50


def shares(most):
    return st.integers(0, most).flatmap(
        lambda whole: st.builds(Share, st.integers(0, whole), st.just(whole))
    )


def test_the_rate_of_another_run_is_rogan_and_gladens():
    run = [Result(1.0, True)] * 620 + [Result(0.0, False)] * 380 + [Result.unscored("cut")] * 9
    found = agreement(JUDGED, HUMAN).corrected_pass_rate(run)
    assert found.rate == pytest.approx((0.62 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.judged == (620, 1000)
    assert found.interval == pytest.approx((0.494592, 0.716631), abs=1e-6)
    assert str(found) == ("0.600, 95 % interval 0.495 to 0.717 (the judge passed 620 of 1,000)")


def test_a_run_may_be_labelled_in_part():
    rest = [True] * 620 + [False] * 380
    whole = agreement(JUDGED + rest, HUMAN + [None] * 1000)
    part = agreement(JUDGED, HUMAN)
    assert whole.corrected.judged == (675, 1100)
    assert whole.corrected.rate == pytest.approx((675 / 1100 + 0.8 - 1) / 0.7)
    apart = part.corrected_pass_rate(JUDGED + rest)
    assert whole.corrected.rate == apart.rate
    assert width(whole.corrected) < width(apart)  # errors that cancel are known to


def width(found):
    low, high = found.interval
    return high - low


def test_where_every_row_is_labelled_the_rate_is_the_persons_own():
    found = agreement(JUDGED, HUMAN).corrected
    assert found.rate == 0.5
    assert found.interval == wilson(50, 100)


@pytest.mark.parametrize(
    ("judged", "human", "reason"),
    [
        ([True, False], [False, True], "does no better than chance: sensitivity 0.000"),
        ([True, True], [True, False], "sensitivity 1.000 .* specificity 0.000 is not above 1"),
        ([True] * 3 + [False] * 7, [True] + [False] * 2 + [True] * 7, "better than chance"),
        ([True], [True], "no scored row was failed by a person, so the specificity is unknown"),
        ([False], [False], "no scored row was passed by a person, so the sensitivity is unknown"),
        ([None, True], [True, False], "passed by a person"),
        ([], [], "no row was judged"),
    ],
)
def test_without_a_correction_it_says_why(judged, human, reason):
    found = agreement(judged, human).corrected
    assert (found.rate, found.interval) == (None, None)
    assert str(found).startswith("no corrected pass rate: ")
    assert re.search(reason, found.reason)


def test_tenths_that_add_up_to_one_are_not_taken_for_more():
    found = corrected(Share(5, 10), Share(7, 10), Share(3, 10), shared=0, level=0.95)
    assert found.rate is None  # in floats, 0.7 + 0.3 - 1 and its like come out as 1e-16


@pytest.mark.parametrize(
    ("judged", "sensitivity", "specificity", "low", "high"),
    [
        # 1 of 1 and 1 of 4 could be anything; smoothed they are 2/3 and 1/3, as good as chance
        (Share(5, 10), Share(1, 1), Share(1, 4), 0, 1),
        (Share(5, 10), Share(100, 1000), Share(1, 1), 0, 1),
        # the smoothed interval begins at 0.123, above the rate
        (Share(0, 1), Share(1, 1), Share(1000, 1000), 0, 1),
    ],
)
def test_next_to_nothing_known_gives_a_wide_interval_that_holds_the_rate(
    judged, sensitivity, specificity, low, high
):
    found = corrected(judged, sensitivity, specificity, shared=0, level=0.95)
    assert found.interval == (low, high)
    assert low <= found.rate <= high


@settings(deadline=None)
@given(shares(1000), shares(60), shares(60), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_a_rate_lies_in_its_interval_within_0_and_1(judged, sensitivity, specificity, level):
    found = corrected(judged, sensitivity, specificity, shared=0, level=level)
    if found.rate is None:
        assert found.reason
    else:
        low, high = found.interval
        assert 0 <= low <= found.rate <= high <= 1


@settings(deadline=None)
@given(shares(1000), shares(60), shares(60))
def test_to_call_a_pass_a_fail_mirrors_everything(judged, sensitivity, specificity):
    found = corrected(judged, sensitivity, specificity, shared=0, level=0.95)
    failing = Share(judged.whole - judged.part, judged.whole)
    mirrored = corrected(failing, specificity, sensitivity, shared=0, level=0.95)
    assert (found.rate is None) == (mirrored.rate is None)
    if found.rate is not None:
        low, high = mirrored.interval
        assert found.rate == pytest.approx(1 - mirrored.rate)
        assert found.interval == pytest.approx((1 - high, 1 - low))


@cache
def binomial(n, p):
    """Give the distribution function of a binomial variable, to draw from."""
    return list(itertools.accumulate(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)))


def draw(choose, n, p):
    return choose.choices(range(n + 1), cum_weights=binomial(n, p))[0]


def of_another_run(choose, case):
    """Label half good, half bad outputs; correct a run that shares none of them."""
    rate, (se, sp), (labelled, run) = case
    half = labelled // 2
    sensitivity = Share(draw(choose, half, se), half)
    specificity = Share(draw(choose, half, sp), half)
    judged = Share(draw(choose, run, rate * se + (1 - rate) * (1 - sp)), run)
    return lambda level: corrected(judged, sensitivity, specificity, shared=0, level=level)


def of_the_same_run(choose, case):
    """Judge a run and label the first rows of it."""
    rate, (se, sp), (labelled, run) = case
    good = draw(choose, labelled, rate)
    tp, tn = draw(choose, good, se), draw(choose, labelled - good, sp)
    fn, fp = good - tp, labelled - good - tn
    rest = draw(choose, run - labelled, rate * se + (1 - rate) * (1 - sp))
    confusion = {(True, True): tp, (True, False): fn, (False, True): fp, (False, False): tn}
    passes = tp + fp + rest
    judged = {True: passes, False: run - passes}
    return lambda level: Agreement(confusion, judged, 0, run - labelled, level=level).corrected


def coverage(design, case, level=0.95, times=1500):
    """Give how often the interval holds the true rate, of the times that there is one."""
    choose = random.Random(repr(case))
    intervals = [design(choose, case)(level).interval for _ in range(times)]
    holds = [low <= case[0] <= high for low, high in filter(None, intervals)]
    return sum(holds) / len(holds)


RATES = (0.1, 0.5, 0.85)
JUDGES = ((0.95, 0.9), (0.7, 0.85), (0.9, 0.99))
SIZES = ((40, 100), (100, 300), (200, 900))


@pytest.mark.once
@pytest.mark.parametrize("design", [of_another_run, of_the_same_run])
def test_a_95_percent_interval_holds_the_true_rate_95_times_in_a_hundred(design):
    found = {case: coverage(design, case) for case in itertools.product(RATES, JUDGES, SIZES)}
    assert {case: share for case, share in found.items() if share < 0.93} == {}
    assert 0.945 < sum(found.values()) / len(found) < 0.975
    large = [share for (_, _, (labelled, _)), share in found.items() if labelled == 200]
    assert max(large) < 0.985


@pytest.mark.parametrize("level", [0.8, 0.9, 0.99])
def test_other_levels_hold_as_well(level):
    found = coverage(of_another_run, (0.5, (0.9, 0.85), (200, 900)), level)
    assert level - 0.02 < found < level + 0.03
