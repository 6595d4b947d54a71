"""Shares and Wilson's interval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations.stats.intervals import Share, wilson, z_of


@pytest.mark.parametrize(
    ("part", "whole", "level", "low", "high"),
    [
        (0, 10, 0.95, 0.0, 0.277533),  # statsmodels 0.15, proportion_confint(method="wilson")
        (10, 10, 0.95, 0.722467, 1.0),
        (1, 2, 0.95, 0.094531, 0.905469),
        (81, 263, 0.95, 0.255289, 0.366210),
        (81, 263, 0.99, 0.240137, 0.385283),
        (81, 263, 0.8, 0.272788, 0.345565),
    ],
)
def test_wilsons_interval_is_what_statsmodels_gives(part, whole, level, low, high):
    assert wilson(part, whole, level) == pytest.approx((low, high), abs=1e-6)
    assert Share(part, whole).interval(level) == wilson(part, whole, level)


def test_nothing_has_no_rate_and_no_interval():
    assert Share(0, 0).rate is None
    assert Share(0, 0).interval() is None


def test_the_usual_quantiles():
    assert z_of(0.95) == pytest.approx(1.959963984540054)
    assert z_of(0.99) == pytest.approx(2.5758293035489)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_rate_within_0_and_1_and_mirrors(pair):
    part, whole = pair
    low, high = wilson(part, whole)
    assert 0 <= low <= part / whole <= high <= 1
    assert wilson(whole - part, whole) == pytest.approx((1 - high, 1 - low))
