"""Figures as a person reads them."""

import pytest

from llmeval_integrations.core.figures import format_figure
from llmeval_integrations.runs.numbers import percent, percents, write_difference
from llmeval_integrations.stats.intervals import wilson


@pytest.mark.parametrize(
    ("write", "value", "written"),
    [
        (percent, 0, "0.0 %"),
        (percent, 1 / 3, "33.3 %"),
        (percent, 4_999 / 5_000, "99.98 %"),
        (percent, 1 / 25_000, "0.004 %"),
        (percents, wilson(4_999, 5_000), "99.9 to 99.996 %"),
        (percents, wilson(7, 7), "64.6 to 100.0 %"),
        (format_figure, 29_999 / 30_000, "0.99997"),
        (format_figure, 0.00001234, "1.234e-05"),
        (format_figure, 12345.6, "1.235e+04"),
        (write_difference, -0.0101, "-0.010"),
        (write_difference, 0.0049, "+0.0049"),
        (write_difference, -0.0, "+0.000"),
        (write_difference, -123456.0, "-1.235e+05"),
    ],
)
def test_a_figure_is_nothing_or_all_only_where_it_is(write, value, written):
    assert write(value) == written
