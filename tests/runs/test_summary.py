"""The figures of a run, checked by hand."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_forms import row_of

from llmeval_integrations import LengthPenalty
from llmeval_integrations.runs import evaluate
from llmeval_integrations.runs.summary import Tally
from llmeval_integrations.stats.intervals import wilson


def validity(*rows):
    """Return the run of json_validity over these rows, and its figures."""
    run = evaluate([*rows], "json_validity")
    return run, run.summary["evaluators"]["json_validity"]


def test_figures_are_those_worked_out_by_hand():
    lengths = (10, 7, 25, 8)  # the last three are -0.03, -0.05 and -0.02
    samples = [*({"output": "x" * each} for each in lengths), {"answer": "x"}]
    summary = evaluate(samples, [LengthPenalty(10, 20)]).summary
    assert summary["samples"] == 5
    figures = summary["evaluators"]["length_penalty"]
    assert figures.pop("pass_rate_ci95") == pytest.approx([0.0456, 0.6994], abs=1e-4)
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
    tally.add(
        [
            *(failing("type", each) for each in ("first", "often", "often", "often")),
            failing(None, "plain"),
            row_of(1, error="KeyError: row 1: 'x'"),
            row_of(1, reason="no reply", unscored=True),
        ]
    )
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


def test_rows_of_groups_count_for_what_they_are_worth():
    rows = [{"output": "1" if n < 60 else "x", "group": n // 10} for n in range(100)]
    _, plain = validity(*({"output": row["output"]} for row in rows))
    _, grouped = validity(*rows)
    assert (grouped["mean"], grouped["pass_rate"]) == (plain["mean"], plain["pass_rate"])
    assert plain["pass_rate_ci95"] == [*wilson(60, 100)] == plain["mean_ci95"]
    low, high = grouped["pass_rate_ci95"]
    assert low < wilson(6, 10)[0] < wilson(6, 10)[1] < high
    assert grouped["mean_ci95"] == grouped["pass_rate_ci95"]
    assert "groups" not in plain


def test_groups_are_equal_where_they_are_in_json_and_rows_without_one_are_alone():
    groups = (1, 1.0, "1", {"a": 1}, {"a": 1.0}, None)
    _, figures = validity(*({"output": "1", "group": each} for each in groups))
    assert figures["groups"]["n"] == 3
    alone = [{"output": x} for x in ["1"] * 50 + ["x"] * 50]
    repeats = [{"output": x, "group": x} for x in ["1"] * 10 + ["x"] * 10]
    _, figures = validity(*alone, *repeats)
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
    run, _ = validity(*({"id": each, "output": "1"} for each in ids))
    assert len(run.warnings) == (said is not None)
    assert all(said in each for each in run.warnings)
    run, _ = validity(*({"id": each, "output": "1", "group": 1} for each in ids))
    assert run.warnings == []
