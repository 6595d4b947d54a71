"""Calls of the Berkeley Function Calling Leaderboard: right, and gone wrong."""

import json
from collections import Counter
from functools import cache

import bfcl_cases
import pytest
from bfcl_cases import CATEGORIES, as_expected, made, records, reference

from llmeval_integrations import ToolCalls, ToolCallSchema

pytestmark = [
    pytest.mark.skipif(not bfcl_cases.FOLDER.is_dir(), reason="the data is not here"),
    pytest.mark.once,
]

LISTED = ToolCalls(alternatives="listed")


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
