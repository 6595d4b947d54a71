"""The figures of a run, checked by hand."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations import LengthPenalty
from llmeval_integrations.runs import Row, evaluate
from llmeval_integrations.runs.summary import Tally, wilson

SAMPLES = [
    {"output": "x" * 10},
    {"output": "x" * 7},  # -0.03
    {"output": "x" * 25},  # -0.05
    {"output": "x" * 8},  # -0.02
    {"answer": "x"},  # an error
]


def test_figures_are_those_worked_out_by_hand():
    summary = evaluate(SAMPLES, [LengthPenalty(10, 20)]).summary
    assert summary["samples"] == 5
    figures = summary["evaluators"]["length_penalty"]
    low, high = figures.pop("pass_rate_ci95")
    assert figures.pop("mean") == pytest.approx(-0.10 / 4, rel=1e-15)
    assert figures == {
        "n": 5,
        "scored": 4,
        "unscored": 0,
        "errors": 1,
        "pass_rate": 0.25,
        "labels": {"too_short": 2, "too_long": 1},
    }
    assert (round(low, 4), round(high, 4)) == (0.0456, 0.6994)


# Figures published for the Wilson score interval without continuity correction, among them
# those of Newcombe, Statistics in Medicine 17 (1998) 857, table I.
WILSON = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0, 0.1611),
    (1, 29, 0.0061, 0.1718),
    (29, 29, 0.8830, 1.0),
    (5, 10, 0.2366, 0.7634),
]


@pytest.mark.parametrize(("passes", "n", "low", "high"), WILSON)
def test_the_interval_is_the_published_one(passes, n, low, high):
    assert [round(bound, 4) for bound in wilson(passes, n)] == [low, high]


def test_no_rows_have_no_interval():
    assert wilson(0, 0) is None


@given(st.integers(1, 10**7), st.data())
def test_the_interval_holds_the_rate_and_stays_between_0_and_1(n, data):
    passes = data.draw(st.integers(0, n))
    low, high = wilson(passes, n)
    assert 0 <= low <= passes / n <= high <= 1
    assert (low == 0) == (passes == 0)


def rows_of(scores):
    return [Row(1, "e", score, None, None, None, {}, False, None) for score in scores]


@given(st.lists(st.floats(-1e12, 1e12) | st.integers(-5, 5) | st.booleans(), min_size=1), st.data())
def test_the_mean_is_exact_and_does_not_depend_on_how_rows_are_grouped(scores, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(scores)), max_size=5)))
    tally = Tally()
    for start, end in pairwise([0, *cuts, len(scores)]):
        tally.add(rows_of(scores[start:end]))
    assert tally.summary()["mean"] == math.fsum(scores) / len(scores)
    assert tally.n == tally.scored == len(scores)


def test_truth_values_count_as_1_and_0():
    tally = Tally()
    tally.add(rows_of([True, False, True, True]))
    assert tally.summary()["mean"] == 0.75


def failing(label, reason, passed=False):
    return Row(1, "e", 0, passed, label, reason, {}, False, None)


def test_labels_come_most_frequent_first_and_are_counted_in_rows_that_pass_too():
    tally = Tally()
    tally.add([failing("b", ""), failing("a", ""), failing("c", ""), failing("c", "", True)])
    assert list(tally.summary()["labels"].items()) == [("c", 2), ("a", 1), ("b", 1)]
    assert {(found.kind, found.count) for found in tally.findings()} == {
        ("a", 1),
        ("b", 1),
        ("c", 1),
    }


def test_a_label_without_a_verdict_is_counted_and_nothing_that_went_wrong():
    tally = Tally()
    tally.add([failing("positive", "", None), failing("negative", "", None), failing("bad", "")])
    assert tally.summary()["labels"] == {"bad": 1, "negative": 1, "positive": 1}
    assert [(found.kind, found.count) for found in tally.findings()] == [("bad", 1)]


def test_a_finding_has_the_reason_that_was_given_most_often():
    tally = Tally()
    tally.add(
        [failing("type", "first")] + [failing("type", "often")] * 3 + [failing(None, "plain")]
    )
    tally.add([Row(1, "e", None, None, None, None, {}, False, "KeyError: row 1: 'x'")])
    tally.add([Row(1, "e", None, None, None, "no reply", {}, True, None)])
    found = [(f.kind, f.count, f.reason, f.of_reason, f.is_error) for f in tally.findings()]
    assert found == [
        ("type", 4, "often", 3, False),
        ("failed", 1, "plain", 1, False),
        ("KeyError", 1, "row 1: 'x'", 1, True),
        ("unscored", 1, "no reply", 1, False),
    ]


def test_a_tally_stays_small_and_its_counts_right_however_many_labels_there_are():
    tally = Tally()
    for number in range(20_000):
        tally.add(
            [failing(f"label {number}", f"reason {number}"), failing("common", "common reason")]
        )
    labels = tally.summary()["labels"]
    assert len(labels) <= 1_001
    assert sum(labels.values()) == 40_000
    assert labels["common"] == 20_000
    first, second = tally.findings()[:2]
    assert (first.kind, first.count, first.reason) == ("common", 20_000, "common reason")
    assert (second.kind, second.count) == ("(other)", 20_000 - 999)


def test_a_rare_finding_keeps_a_reason_among_very_many_others():
    tally = Tally()
    tally.add([failing("often", f"reason {number}") for number in range(5_000)])
    tally.add([failing("rare", "the rare one")])
    tally.add([failing("often", f"later {number}") for number in range(5_000)])
    assert [found.reason for found in tally.findings()][1] == "the rare one"


def test_of_reasons_that_all_differ_the_first_is_told_in_a_long_run_too():
    tally = Tally()
    tally.add([failing("kind", f"line {number}") for number in range(1, 5_001)])
    [found] = tally.findings()
    assert (found.reason, found.of_reason) == ("line 1", 1)


def test_the_reason_given_most_often_is_told_among_the_first_thousand():
    reasons = [f"reason {number}" for number in range(20_000)]
    reasons[500:500] = ["the same"]
    tally = Tally()
    tally.add([failing("kind", reason) for reason in [*reasons, *["the same"] * 64]])
    [found] = tally.findings()
    assert (found.reason, found.of_reason) == ("the same", 65)
