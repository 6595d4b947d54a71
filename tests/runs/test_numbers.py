"""Figures as a person reads them."""

import pytest

from llmeval_integrations.core.figures import format_figure
from llmeval_integrations.runs.numbers import percent, percents, write_difference
from llmeval_integrations.stats.intervals import wilson


@pytest.mark.parametrize(
    ("part", "whole", "written"),
    [
        (0, 7, "0.0 %"),
        (7, 7, "100.0 %"),
        (1, 3, "33.3 %"),
        (999, 1_000, "99.9 %"),
        (4_999, 5_000, "99.98 %"),
        (9_999_999, 10_000_000, "99.99999 %"),
        (1, 1_000, "0.1 %"),
        (1, 25_000, "0.004 %"),
    ],
)
def test_a_share_is_all_or_nothing_only_where_it_is(part, whole, written):
    assert percent(part / whole) == written


def test_nor_is_a_bound_that_only_comes_near():
    assert percents(wilson(4_999, 5_000)) == "99.9 to 99.996 %"
    assert percents(wilson(7, 7)) == "64.6 to 100.0 %"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (29_999 / 30_000, "0.99997"),
        (1.0, "1"),
        (0.99999999, "0.99999999"),
        (0.0, "0"),
        (0.00001234, "1.234e-05"),
        (-0.00004, "-4e-05"),
        (0.2473111, "0.2473"),
        (12345.6, "1.235e+04"),
    ],
)
def test_a_figure_is_1_only_where_it_is(value, written):
    assert format_figure(value) == written


@pytest.mark.parametrize(
    ("difference", "written"),
    [
        (0.25, "+0.250"),
        (-0.0101, "-0.010"),
        (0.0049, "+0.0049"),
        (-9.94e-05, "-9.9e-05"),
        (-0.0, "+0.000"),
        (12.3456, "+12.346"),
        (-123456.0, "-1.235e+05"),
    ],
)
def test_a_difference_is_nothing_only_where_it_is(difference, written):
    assert write_difference(difference) == written
