"""The figures of a run, checked by hand."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations import JsonValidity, LengthPenalty
from llmeval_integrations.runs import Row, evaluate
from llmeval_integrations.runs.summary import Tally
from llmeval_integrations.stats.intervals import wilson

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
    assert figures.pop("mean_ci95") == pytest.approx([-0.0581, 0.0081], abs=1e-4)
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


def rows_of(scores):
    return [Row(1, "e", score, None, None, None, {}, False, None) for score in scores]


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
        tally.add(rows_of(scores[start:end]))
    assert tally.summary()["mean"] == math.fsum(scores) / len(scores)
    assert tally.n == tally.scored == len(scores)


def failing(label, reason, passed=False):
    return Row(1, "e", 0, passed, label, reason, {}, False, None)


def test_a_finding_has_the_reason_that_was_given_most_often():
    tally = Tally()
    tally.add(
        [
            *(failing("type", each) for each in ("first", "often", "often", "often")),
            failing(None, "plain"),
            Row(1, "e", None, None, None, None, {}, False, "KeyError: row 1: 'x'"),
            Row(1, "e", None, None, None, "no reply", {}, True, None),
        ]
    )
    assert [(f.kind, f.count, f.reason, f.is_error) for f in tally.findings()] == [
        ("type", 4, "often", False),
        ("failed", 1, "plain", False),
        ("KeyError", 1, "row 1: 'x'", True),
        ("unscored", 1, "no reply", False),
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


def test_rows_of_groups_count_for_what_they_are_worth():
    plain = evaluate([{"output": x} for x in ["1"] * 60 + ["x"] * 40], [JsonValidity()]).summary
    rows = [{"output": x, "group": n} for n in range(10) for x in ["1" if n < 6 else "x"] * 10]
    grouped = evaluate(rows, [JsonValidity()]).summary["evaluators"]["json_validity"]
    figures = plain["evaluators"]["json_validity"]
    assert (grouped["mean"], grouped["pass_rate"]) == (figures["mean"], figures["pass_rate"])
    assert figures["pass_rate_ci95"] == [*wilson(60, 100)] == figures["mean_ci95"]
    low, high = grouped["pass_rate_ci95"]
    assert low < wilson(6, 10)[0] < wilson(6, 10)[1] < high
    assert grouped["mean_ci95"] == grouped["pass_rate_ci95"]
    assert "groups" not in figures


def test_groups_are_equal_where_they_are_in_json_and_rows_without_one_are_alone():
    rows = [{"output": "1", "group": each} for each in (1, 1.0, "1", {"a": 1}, {"a": 1.0}, None)]
    figures = evaluate(rows, [JsonValidity()]).summary["evaluators"]["json_validity"]
    assert figures["groups"]["n"] == 3
    alone = [{"output": x} for x in ["1"] * 50 + ["x"] * 50]
    repeats = [{"output": x, "group": x} for x in ["1"] * 10 + ["x"] * 10]
    figures = evaluate(alone + repeats, [JsonValidity()]).summary["evaluators"]["json_validity"]
    assert wilson(60, 120)[1] < figures["pass_rate_ci95"][1] < wilson(12, 24)[1]


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([f"t{n // 3}.{n % 3}" for n in range(27)], "ids such as 't0.0' and 't0.1' look like"),
        (["a", "b", "a"], "1 of 3 rows have the id of another, and no group is named"),
        ([f"row-{n}" for n in range(50)], None),
        ([f"2024-{n:03}" for n in range(90)], None),
        (["t1.0", "t1.1"], None),
    ],
)
def test_ids_that_look_like_repeats_are_told_unless_a_group_is_named(ids, said):
    rows = [{"id": each, "output": "1"} for each in ids]
    warnings = evaluate(rows, [JsonValidity()]).warnings
    assert len(warnings) == (said is not None)
    assert all(said in each for each in warnings)
    assert evaluate([{**each, "group": 1} for each in rows], [JsonValidity()]).warnings == []
