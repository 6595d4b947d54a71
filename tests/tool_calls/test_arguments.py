"""What an argument left out means, what each argument costs, and arrays without order."""

import time

import pytest

from llmeval_integrations import ToolCalls, ToolCallSchema

X = {"type": "integer", "default": 5}
Y = {"type": "integer"}


def tool(**parameters):
    return [{"name": "f", "parameters": {"type": "object", **parameters}}]


def call(**arguments):
    return {"name": "f", "arguments": arguments}


REQUIRED = tool(
    properties={
        "x": X,
        "y": Y,
        "o": {"type": "object", "properties": {"u": X, "v": Y}, "required": ["u"]},
    },
    required=["x"],
)


@pytest.mark.parametrize(
    ("output", "expected", "how", "score"),
    [
        (call(), call(x=5), "exact", 1),
        (call(x=5), call(), "exact", 1),
        (call(), call(), "exact", 1),
        (call(), call(x=6), "exact", 1 / 2),
        (call(y=1), call(x=6, y=1), "exact", 2 / 3),
        (call(y=1), call(x=5, y=1), "exact", 1),
        (call(x=5, o={}), call(x=5, o={"u": 5}), "exact", 1),
        (call(x=5, o={}), call(x=5, o={"u": 6}), "exact", 2 / 3),
        (call(o={}), call(), "superset", 1),
        (call(o={"v": "text"}), call(), "superset", 1 / 2),
        (call(o={}), call(), "ignore", 1),
    ],
)
def test_left_out_is_the_default_at_every_level_required_or_not(output, expected, how, score):
    assert ToolCalls(REQUIRED, arguments=how)(output, expected).score == pytest.approx(score)


def test_what_is_required_is_missing_without_a_default_and_by_the_schema_alone():
    tools = tool(properties={"x": Y}, required=["x"])
    result = ToolCalls(tools)(call(), call(x=5))
    assert (result.score, result.reason) == (1 / 2, "f: /x missing")
    assert ToolCallSchema(REQUIRED)(call()).label == "required"
    assert ToolCallSchema(REQUIRED)(call(x=1, o={})).label == "required"


def test_an_argument_that_is_right_and_yet_not_valid_counts_once():
    tools = tool(properties={"x": {"type": "boolean", "default": "no"}, "y": Y})
    assert ToolCalls(tools)(call(x="no"), call()).score == 1 / 2
    assert ToolCalls(tools)(call(x="no", y=1), call(y=1)).score == pytest.approx(2 / 3)


def test_arguments_that_a_pattern_declares_are_declared():
    tools = tool(properties={"a": {}}, patternProperties={"^x_": {}}, additionalProperties=False)
    result = ToolCalls(tools, arguments="superset")(call(a=1, x_1=2, zz=3), call(a=1))
    assert result.score == pytest.approx(2 / 3)
    assert result.reason == "f: /zz invalid: the tool declares no such argument"


def test_defaults_and_types_of_patterns_hold_for_nested_names():
    nested = {"type": "object", "patternProperties": {"^n_": X}}
    tools = tool(properties={"o": nested}, patternProperties={"^n_": X})
    for output, expected in ((call(o={}), call(o={"n_1": 5})), (call(n_1=5), call())):
        assert ToolCalls(tools)(output, expected).passed
        assert ToolCalls(tools)(expected, output).passed
    assert not ToolCalls(tools)(call(o={}), call(o={"m_1": 5})).passed
    assert ToolCalls(tools, coerce=True)(call(o={"n_1": "3"}), call(o={"n_1": 3})).passed


def test_a_name_that_json_escapes_is_missing_once():
    tools = tool(properties={'a"b\n': {}}, required=['a"b\n'])
    result = ToolCalls(tools)(call(), call(**{'a"b\n': 1}))
    assert result.score == 1 / 2
    (wrong,) = result.metadata["calls"][0]["arguments"]
    assert (wrong["path"], wrong["kind"]) == ('/a"b\n', "missing")


def sets_within_sets(levels, value):
    schema = Y
    for _ in range(levels):
        schema, value = {"type": "array", "uniqueItems": True, "items": schema}, [value]
    return schema, value


def test_sets_within_sets_cost_no_more_with_each_level():
    schema, ones = sets_within_sets(60, 1)
    _, twos = sets_within_sets(60, 2)
    evaluator = ToolCalls(tool(properties={"a": schema}))
    start = time.perf_counter()
    result = evaluator(call(a=ones), call(a=twos))
    assert time.perf_counter() - start < 1
    assert result.reason == "f: /a" + "/0" * 60 + " 1, expected 2"


@pytest.mark.parametrize(
    ("output", "expected", "reason"),
    [
        ([[1, 2], [3]], [[3], [2, 1]], "The call is right"),
        ([[1, 2], [3]], [[3], [2, 4]], "f: /a/0/0 1, expected 3; /a/0/1 extra; and 2 more"),
        ([[1, 2], [3]], [[2, 1]], "f: /a/1 extra"),
        ([[1], [1], [2]], [[1], [2], [2]], "f: /a/1/0 1, expected 2"),
        ([[1], [2]], [[{"$any_of": [1, 2]}], [1]], "The call is right"),
    ],
)
def test_sets_are_the_same_in_any_order_at_every_level(output, expected, reason):
    schema, _ = sets_within_sets(2, 0)
    result = ToolCalls(tool(properties={"a": schema}))(call(a=output), call(a=expected))
    assert result.reason == reason
