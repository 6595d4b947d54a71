"""Calls are valid for the tool that they name, or the result says what the schema has against them."""

import pytest

from llmeval_integrations import InvalidOptionError, MissingFieldError, ToolCallSchema

SEARCH = {
    "name": "search",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 1}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
}
OPEN = {"name": "open", "parameters": {"type": "dict", "properties": {}, "additionalProperties": {"type": "float"}}}  # fmt: skip
NAMED = {"name": "named", "parameters": {"properties": {"a": {}}, "patternProperties": {"^x_": {}}, "additionalProperties": False}}  # fmt: skip
CLOSED = {"name": "closed", "parameters": {"type": "object", "additionalProperties": False}}
REFERRING = {"name": "referring", "parameters": {"allOf": [{"$ref": "#/$defs/a%2520"}], "$defs": {"a%20": {"properties": {"b%20": {}}, "required": ["b%20"], "additionalProperties": False}}}}  # fmt: skip
PAIRED = {"name": "paired", "parameters": {"type": "object", "properties": {"from": {}, "to": {}}, "dependentRequired": {"to": ["from"]}}}  # fmt: skip
VALID = ToolCallSchema([SEARCH, OPEN, NAMED, CLOSED, REFERRING, PAIRED])


@pytest.mark.parametrize(
    ("name", "arguments", "pointer", "keyword"),
    [
        ("search", {"query": "x"}, None, None),
        ("search", {}, "", "required"),
        ("paired", {"to": 1}, "", "dependentRequired"),
        ("search", {"query": ""}, "/query", "minLength"),
        ("search", {"query": "x", "limit": 1.5}, "/limit", "type"),
        ("search", {"query": "x", "made_up": 1}, "", "additionalProperties"),
        ("search", "{", "", "unreadable"),
        ("find", {}, "", "unknown_tool"),
        ("open", {"anything": "x"}, "/anything", "type"),
        ("named", {"a": 1, "x_1": 2}, None, None),
        ("closed", {"zz": 3}, "", "additionalProperties"),
        ("referring", {"b%20": 1, "zz": 3}, "", "additionalProperties"),
    ],
)
def test_a_call_is_valid_or_its_errors_are_named(name, arguments, pointer, keyword):
    result = VALID({"name": name, "arguments": arguments})
    assert (result.score, result.passed, result.label) == (
        keyword is None,
        keyword is None,
        keyword,
    )
    (row,) = result.metadata["calls"]
    found = [(error["pointer"], error["keyword"]) for error in row["errors"]]
    assert found == ([] if keyword is None else [(pointer, keyword)])
    assert result.reason.startswith("Valid" if keyword is None else name)


def test_the_score_is_the_share_of_valid_calls():
    call = {"name": "search", "arguments": {"query": "x"}}
    result = VALID([call, {"name": "search"}, call, {"name": "open"}])
    assert (result.score, result.passed, result.label) == (3 / 4, False, "required")
    assert (result.metadata["called"], result.metadata["valid"]) == (4, 3)
    assert result.reason == 'search: "query" is a required property'
    assert VALID([{"name": "search"}] * 3).reason.endswith("; and 2 more")


def test_no_call_is_no_mistake_and_what_cannot_be_read_is_one():
    assert VALID("It rains.").passed
    broken = VALID('[{"name": "search"')
    assert (broken.score, broken.label) == (0.0, "truncated")
    assert VALID('{"answer": 42}').passed
    assert VALID({"tool": "search"}).label == "not_a_call"
    assert VALID([{"tool": "search"}]).label == "unreadable"


def test_tools_come_as_an_option_or_with_each_sample():
    call = {"name": "search", "arguments": {"query": "x"}}
    assert ToolCallSchema()(call, variables={"tools": [SEARCH]}).passed
    assert ToolCallSchema().needs == ("variables",)
    for variables in ({}, {"tools": None}, "tools"):
        with pytest.raises(MissingFieldError, match="tool_call_schema"):
            ToolCallSchema()(call, variables=variables)
    with pytest.raises(InvalidOptionError, match="tool_call_schema: tools"):
        ToolCallSchema()(call, variables={"tools": 3})


@pytest.mark.parametrize(
    ("more", "valid"),
    [
        ({}, False),
        ({"anyOf": [{"properties": {"zz": {}}}, {"required": ["b"]}]}, True),
        ({"allOf": [{"$ref": "#/$defs/More"}], "$defs": {"More": {}}}, True),
        ({"dependentSchemas": {"a": {"properties": {"zz": {}}}}}, True),
        ({"additionalProperties": {}}, True),
    ],
)
def test_a_schema_that_lists_the_arguments_allows_no_others_unless_it_speaks_of_them(more, valid):
    listing = {"type": "object", "properties": {"a": {}, "b": {}}, **more}
    tools = [{"name": "f", "parameters": listing}]
    call = {"name": "f", "arguments": {"a": 1, "zz": 1}}
    assert ToolCallSchema(tools)(call).passed is valid
    assert ToolCallSchema(tools, allow_undeclared=True)(call).passed
