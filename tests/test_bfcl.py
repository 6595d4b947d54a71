"""Calls of the Berkeley Function Calling Leaderboard: right, gone wrong, and beside its checker."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import bfcl_cases
import pytest
from bfcl_cases import CATEGORIES, KINDS, as_expected, made, records, reference

from llmeval_integrations import ToolCalls, ToolCallSchema

pytestmark = [
    pytest.mark.skipif(not bfcl_cases.FOLDER.is_dir(), reason="the data is not here"),
    pytest.mark.once,
]

LISTED = ToolCalls(alternatives="listed")
VERDICTS = json.loads((Path(__file__).parent / "bfcl_verdicts.json").read_text())["verdicts"]


@cache
def cases():
    return [
        (category, n, case) for category in CATEGORIES for n, case in enumerate(records(category))
    ]


def judged(case, kind, evaluator=LISTED):
    """Give the result of calls of one kind; None where the case does not allow for them."""
    calls = made(case, kind)
    if calls is None:
        return None
    return evaluator(json.dumps(calls), reference(case), variables={"tools": case["functions"]})


@cache
def results(kind):
    found = {case["id"]: judged(case, kind) for _, _, case in cases()}
    return {number: result for number, result in found.items() if result is not None}


def test_every_call_made_of_accepted_values_is_right():
    assert len(results("as_expected")) == 800
    for result in results("as_expected").values():
        assert (result.score, result.passed) == (1.0, True)
        assert (result.metadata["precision"], result.metadata["recall"]) == (1.0, 1.0)


def test_every_accepted_value_of_every_argument_is_right():
    for _, _, case in cases():
        calls = as_expected(case)
        for call, expected in zip(calls, reference(case)):
            for name, values in expected["arguments"].items():
                for value in values:
                    if (
                        value in ("", None)
                        or isinstance(value, dict)
                        or bfcl_cases.first([value]) != value
                    ):
                        continue
                    changed = [
                        {**one, "arguments": {**one["arguments"], name: value}}
                        if one is call
                        else one
                        for one in calls
                    ]
                    assert LISTED(changed, reference(case), variables={"tools": case["functions"]}).passed  # fmt: skip


PASSING = {
    "without_optional": (796, 800),  # four times the tool itself requires what may be left out
    "permuted": (400, 400),
    "integer_as_float": (512, 512),
    "default_spelled_out": (86, 91),  # five defaults are the text "false", for a boolean
    "default_left_out": (3, 3),
}


@pytest.mark.parametrize("kind", PASSING)
def test_a_harmless_difference_is_right(kind):
    passed = [result.passed for result in results(kind).values()]
    assert (sum(passed), len(passed)) == PASSING[kind]


FAILING = {
    # kind: how many, the label, the kinds of wrong arguments
    "wrong_value": (800, {"wrong_arguments"}, {"mismatch", "extra"}),
    "dropped_required": (
        800,
        {"wrong_arguments"},
        {"missing", "mismatch"},
    ),  # its default is another
    "extra_argument": (800, {"wrong_arguments"}, {"extra"}),
    "wrong_name": (800, {"wrong_name", "wrong_arguments", "extra"}, None),
    "number_as_text": (512, {"wrong_arguments"}, {"wrong_type"}),
    "text_in_another_case": (570, {"wrong_arguments"}, {"mismatch"}),
    "missing_call": (800, {"missing"}, None),
    "extra_call": (800, {"extra"}, None),
}


@pytest.mark.parametrize("kind", FAILING)
def test_a_mistake_is_wrong_and_told_as_what_it_is(kind):
    count, labels, wrong = FAILING[kind]
    assert len(results(kind)) == count
    for number, result in results(kind).items():
        assert not result.passed, number
        assert 0 <= result.score < 1
        if wrong is None:
            continue
        assert result.label in labels, (number, result.reason)
        rows = [row for row in result.metadata["calls"] if row["kind"] != "right"]
        assert {one["kind"] for row in rows for one in row["arguments"]} <= wrong, number
        assert len(rows) >= 1


ONE_WRONG = ("wrong_value", "dropped_required", "extra_argument", "number_as_text")


@pytest.mark.parametrize("kind", [*ONE_WRONG, "wrong_name"])
def test_the_score_of_one_mistake_is_as_stated(kind):
    """Of each call it is the share of what is right: its name, and each argument.

    A wrong array has the similarity of the nearest that will do.
    """
    found = 0
    for _, _, case in cases():
        result = results(kind).get(case["id"])
        if result is None:
            continue
        calls = result.metadata["calls"]
        both = result.metadata["called"] + result.metadata["expected"]
        assert result.score == pytest.approx(2 * sum(call["score"] for call in calls) / both)
        if case["id"].startswith("simple"):
            [call], [expected] = made(case, kind), reference(case)
            left_out = {name for name, value in call["arguments"].items() if value == []}
            things = 1 + len({*call["arguments"], *expected["arguments"]} - left_out)
            right = 0 if kind == "wrong_name" else things - 1
            if kind == "wrong_value":
                assert right / things - 1e-9 <= result.score < 1, case["id"]
            else:
                assert result.score == pytest.approx(right / things), case["id"]
            found += 1
    assert found == (135 if kind == "number_as_text" else 200)


def test_one_mistake_among_parallel_calls_costs_that_call_alone():
    for number, result in results("extra_argument").items():
        assert result.metadata["right"] == result.metadata["expected"] - 1, number


def test_calls_that_are_wrong_by_the_schema_alone_are_found_without_a_reference():
    schemas = ToolCallSchema()
    found = {kind: Counter(judged(case, kind, schemas).passed for _, _, case in cases() if made(case, kind))
             for kind in ("as_expected", "dropped_required", "extra_argument", "number_as_text", "integer_as_float")}  # fmt: skip
    # Five of the answers are not valid by the schema of their own tool, two of which have integers.
    assert found["as_expected"] == {True: 795, False: 5}
    assert found["dropped_required"] == {False: 800}
    assert found["extra_argument"] == {False: 800}
    assert found["number_as_text"] == {False: 512}
    assert found["integer_as_float"] == {True: 510, False: 2}


DIFFERENCES = {
    # kind: whether we say it is right, in how many cases bfcl-eval says otherwise, who is right
    "as_expected": (True, 2, "they: the answers name an argument that the tool has not; we take the reference's word"),
    "permuted": (True, 3, "we in one, where they pair the first that fits; the two of as_expected again"),
    "integer_as_float": (True, 512, "we: 3.0 is 3 in JSON, and conforms to integer"),
    "default_spelled_out": (True, 4, "we in two: what may be left out may be said; the two of as_expected again"),
    "default_left_out": (True, 3, "we: the tool gets the same value"),
    "text_in_another_case": (False, 570, "either: they leave out case, spaces and some punctuation; we list what will do"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_beside_the_checker_of_bfcl_only_these_differ(kind):
    ours, different, _ = DIFFERENCES.get(kind, (None, 0, ""))
    found = Counter()
    for category, n, case in cases():
        theirs = VERDICTS[kind][category][n]
        result = results(kind).get(case["id"])
        assert (result is None) is (theirs == "-")
        if result is not None and result.passed is not (theirs == "1"):
            found[result.passed] += 1
    assert found == ({ours: different} if different else {})
