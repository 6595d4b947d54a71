"""The figures of a run, checked by hand."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_forms import row_of

from llmeval_integrations import LengthPenalty, ToolCalls
from llmeval_integrations.core.figures import format_figure
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.numbers import percent, percents, write_difference
from llmeval_integrations.runs.summary import Tally
from llmeval_integrations.stats.intervals import Rate, wilson


def validity(*rows):
    """Return the run of json_validity over these rows, and its figures."""
    run = evaluate([*rows], "json_validity")
    return run, run.summary["evaluators"]["json_validity"]


def test_figures_are_those_worked_out_by_hand():
    # the second to fourth are -0.03, -0.05 and -0.02; no text is unscored, no output an error
    samples = [*({"output": "x" * each} for each in (10, 7, 25, 8, 0)), {"answer": "x"}]
    run = evaluate(samples, [LengthPenalty(10, 20)])
    figures = run.summary["evaluators"]["length_penalty"]
    assert figures.pop("pass_rate_ci95") == pytest.approx([0.0456, 0.6994], abs=1e-4)
    assert figures.pop("mean_ci95") == pytest.approx([-0.0581, 0.0081], abs=1e-4)
    assert figures.pop("mean") == pytest.approx(-0.10 / 4, rel=1e-15)
    labels = {"too_short": 2, "empty": 1, "too_long": 1}
    counts = {"n": 6, "scored": 4, "unscored": 1, "errors": 1, "rated": 4}
    assert figures == {**counts, "pass_rate": 0.25, "labels": labels}
    empty = run.rows[4]
    assert (empty.unscored, empty.score, empty.passed, empty.error) == (True, None, None, None)


@given(
    st.lists(
        st.floats(-1e12, 1e12).filter(lambda score: not 0 < abs(score) < 1e-14)
        | st.integers(-5, 5)
        | st.booleans(),
        min_size=1,
    ),
    st.data(),
)
def test_the_mean_is_exact_and_does_not_depend_on_how_rows_are_grouped(scores, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(scores)), max_size=5)))
    tally = Tally()
    for start, end in pairwise([0, *cuts, len(scores)]):
        tally.add([row_of(1, score) for score in scores[start:end]])
    assert tally.summary()["mean"] == math.fsum(scores) / len(scores)
    assert tally.n == tally.scored == len(scores)


def failing(label, reason):
    return row_of(1, 0, False, label=label, reason=reason)


def test_a_finding_has_the_reason_that_was_given_most_often():
    tally = Tally()
    types = [failing("type", each) for each in ("first", "often", "often", "often")]
    error = row_of(1, error="KeyError: row 1: 'x'")
    unscored = row_of(1, reason="no reply", unscored=True)
    tally.add([*types, failing(None, "plain"), error, unscored])
    assert [(f.kind, f.count, f.reason, f.is_error) for f in tally.findings()] == [
        ("type", 4, "often", False),
        ("failed", 1, "plain", False),
        ("KeyError", 1, "row 1: 'x'", True),
        ("unscored", 1, "no reply", False),
    ]


def test_a_tally_stays_small_and_its_counts_right_however_many_labels_there_are():
    tally, common = Tally(), failing("common", "common reason")
    for number in range(20_000):
        tally.add([failing(f"label {number}", f"reason {number}"), common])
    labels = tally.summary()["labels"]
    assert len(labels) <= 1_001
    assert (sum(labels.values()), labels["common"]) == (40_000, 20_000)
    first, second = tally.findings()[:2]
    assert (first.kind, first.count, first.reason) == ("common", 20_000, "common reason")
    assert (second.kind, second.count) == ("(other)", 20_000 - 999)


def test_groups_are_equal_where_they_are_in_json_and_rows_without_one_are_alone():
    groups = (1, 1.0, "1", {"a": 1}, {"a": 1.0}, None)
    _, figures = validity(*({"output": "1", "group": each} for each in groups))
    assert figures["groups"]["n"] == 3
    alone = [{"output": x} for x in ["1"] * 50 + ["x"] * 50]
    repeats = [{"output": x, "group": x} for x in ["1"] * 10 + ["x"] * 10]
    _, plain = validity(*alone)
    assert plain["pass_rate_ci95"] == [*wilson(50, 100)] == plain["mean_ci95"]
    assert "groups" not in plain
    _, figures = validity(*alone, *repeats)
    assert figures["mean_ci95"] == pytest.approx(figures["pass_rate_ci95"])
    assert wilson(60, 120)[1] < figures["pass_rate_ci95"][1] < wilson(12, 24)[1]
    some = [*alone[48:51], *({"output": "1x"[n % 2], "group": n // 2} for n in range(8))]
    own = [(each.get("group"), each["output"] == "1") for each in some]
    _, figures = validity(*some)
    assert figures["pass_rate_ci95"] == pytest.approx(Rate.of(own).interval)


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([f"t{n // 3}.{n % 3}" for n in range(27)], "ids such as 't0.0' and 't0.1' look like"),
        (["a", "b", "a"], "1 of 3 rows has the id of another, and no group is named"),
        ([f"row-{n}" for n in range(50)], None),
        ([f"2024-{n:03}" for n in range(90)], None),
        (["t1.0", "t1.1"], None),
    ],
)
def test_ids_that_look_like_repeats_are_told_unless_a_group_is_named(ids, said):
    run, _ = validity(*({"id": each, "output": "1"} for each in ids))
    assert len(run.warnings) == (said is not None)
    assert all(said in each for each in run.warnings)
    run, _ = validity(*({"id": each, "output": "1", "group": 1} for each in ids))
    assert run.warnings == []


def weather(**arguments):
    return {"name": "weather", "arguments": arguments}


NOW = {"name": "now", "arguments": {}}
ROWS = [
    ([weather(city="Rome", days=2)], [weather(city="Rome", days=3)]),
    ([weather(city="Rome"), NOW], [weather(city="Rome")]),
    ([], [weather(city="Oslo", days=1)]),
    ('{"name": "weather", "argum', [weather(city="Rome", days=1)]),
]


def test_a_run_adds_up_calls_tools_and_arguments_and_averages_samples():
    samples = [{"output": output, "reference": reference} for output, reference in ROWS]
    figures = evaluate(samples, [ToolCalls()]).summary["evaluators"]["tool_calls"]
    # Of 3 calls made and 4 expected one is right.
    assert figures["micro"] == pytest.approx({"precision": 1 / 3, "recall": 1 / 4, "f1": 2 / 7})
    assert figures["macro"]["f1"] == pytest.approx((0 + 2 / 3 + 0 + 0) / 4)
    now, weather = figures["tools"]["now"], figures["tools"]["weather"]
    assert (now["called"], now["expected"], now["precision"], now["recall"]) == (1, 0, 0, None)
    assert (weather["called"], weather["expected"], weather["right"]) == (2, 4, 1)
    assert weather["f1"] == pytest.approx(2 / 6)
    city, days = figures["fields"]["/weather/city"], figures["fields"]["/weather/days"]
    assert (city["match"], city["missing"], city["f1"]) == (2, 2, pytest.approx(4 / 6))
    assert (days["mismatch"], days["missing"], days["recall"]) == (1, 2, 0)
    assert days["wrong_values"] == [{"output": "2", "reference": "3", "count": 1}]


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
