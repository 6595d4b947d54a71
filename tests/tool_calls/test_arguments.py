"""What an argument left out means, what each argument costs, and arrays without order."""

import pytest

from llmeval_integrations import ToolCalls

Y = {"type": "integer"}


def tool(**parameters):
    return [{"name": "f", "parameters": {"type": "object", **parameters}}]


def call(**arguments):
    return {"name": "f", "arguments": arguments}


SET = {"type": "array", "uniqueItems": True, "items": Y}


@pytest.mark.parametrize(
    ("output", "expected", "reason"),
    [
        ([[1, 2], [3]], [[3], [2, 1]], "The call is right"),
        ([[1, 2], [3]], [[2, 1]], "f: /a/1 extra"),
        ([[1], [1], [2]], [[1], [2], [2]], "f: /a/1 missing; /a/1 extra"),
        ([[1], [2]], [[{"$any_of": [1, 2]}], [1]], "The call is right"),
        ([[1, 2, 3]], [[3, 2, 9]], "f: /a/0/0 1, expected 9"),
        ([[1], [2, 3], [7]], [[7], [3, 4], [1]], "f: /a/1/0 2, expected 4"),
    ],
)
def test_sets_are_the_same_in_any_order_at_every_level(output, expected, reason):
    result = ToolCalls(tool(properties={"a": {**SET, "items": SET}}))(
        call(a=output), call(a=expected)
    )
    assert result.reason == reason


@pytest.mark.parametrize(
    ("how", "expected", "score"),
    [
        ("subset", call(x="a", y=1), 1),
        ("subset", call(y=1), 2 / 3),
        ("exact", call(x="a", y=1), 2 / 3),
        ("exact", call(x={"$any_of": ["a"], "$optional": True}, y=1), 1),
        ("superset", call(x={"$any_of": ["a"], "$optional": True}), 1),
    ],
)
def test_what_may_be_left_out_may_be_though_the_tool_requires_it(how, expected, score):
    tools = tool(properties={"x": {"type": "string"}, "y": Y}, required=["x"])
    assert ToolCalls(tools, arguments=how)(call(y=1), expected).score == pytest.approx(score)


@pytest.mark.parametrize(("how", "score"), [("exact", 2 / 3), ("subset", 1)])
def test_what_an_answer_of_bfcl_leaves_out_the_tool_must_not_require(how, score):
    tools = tool(properties={"x": {"type": "string"}, "y": Y}, required=["x"])
    evaluator = ToolCalls(tools, arguments=how, alternatives="listed")
    assert evaluator(call(y=1), call(x=["a", ""], y=[1])).score == pytest.approx(score)
