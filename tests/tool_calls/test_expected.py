"""References in which several values will do, in the form of BFCL's answers."""

import json

import bfcl_cases
import pytest

from llmeval_integrations import InvalidReferenceError
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.expected import read_answers, read_listed, read_marked
from llmeval_integrations.tool_calls.read import read_calls

AREA = {"calculate_triangle_area": {"base": [10], "height": [5], "unit": ["units", ""]}}
CALL = {"name": "calculate_triangle_area", "arguments": AREA["calculate_triangle_area"]}


@pytest.mark.parametrize(
    "reference", [[AREA], (AREA,), AREA, json.dumps([AREA]), f"```json\n{json.dumps([AREA])}\n```"]
)
def test_answers_of_bfcl_are_calls(reference):
    (call,) = read_calls(read_answers(reference))
    assert call == ToolCall("calculate_triangle_area", AREA["calculate_triangle_area"])
    assert read_listed(call.arguments) == {
        "base": AnyOf((10,)),
        "height": AnyOf((5,)),
        "unit": AnyOf(("units",), optional=True),
    }


def test_a_tool_without_arguments_and_calls_beside_answers():
    assert read_answers([{"now": {}}, CALL, AREA]) == [{"name": "now", "arguments": {}}, CALL, CALL]


@pytest.mark.parametrize(
    "reference",
    [
        CALL,
        [CALL],
        {"function": {"name": "f", "arguments": {"a": [1]}}},
        {"function": {"a": [1]}},
        {"message": {"tool_calls": [CALL]}},
        [{"message": {"content": []}}],
        {"f": {"a": [1]}, "g": {"a": [1]}},
        {"f": {"a": 1}},
        {"f": [1]},
        [[AREA]],
        "no JSON",
        f"<tool_call>{json.dumps(CALL)}</tool_call>",
        "",
        None,
        [],
        {},
    ],
)
def test_whatever_else_stays_as_it_is(reference):
    assert read_answers(reference) is reference


def test_broken_answers_stay_broken():
    broken = '[{"f": {"a": [1]}'
    assert read_answers(broken) is broken


@pytest.mark.parametrize("key", ["$anyof", "$Any_of", "$any", "$optinal", "$Optional", "$option"])
def test_a_mark_that_is_misspelt_is_refused(key):
    with pytest.raises(InvalidReferenceError, match=r"is not \{'\$any_of'"):
        read_marked({"a": [{key: [1]}]})


@pytest.mark.parametrize("key", ["$in", "$all", "$options", "$ref", "$or", "any_of", "$" * 10_000])
def test_what_only_begins_like_a_mark_is_a_value(key):
    assert read_marked({key: [1]}) == {key: [1]}


@pytest.mark.skipif(not bfcl_cases.FOLDER.is_dir(), reason="the data is not here")
@pytest.mark.parametrize("category", bfcl_cases.CATEGORIES)
def test_the_records_of_bfcl_are_read_as_they_are(category):
    for record in bfcl_cases.records(category):
        for answers in (record["possible_answers"], json.dumps(record["possible_answers"])):
            calls = read_calls(read_answers(answers))
            assert calls == read_calls(bfcl_cases.reference(record)), record["id"]
            assert all(read_listed(call.arguments) is not None for call in calls)
