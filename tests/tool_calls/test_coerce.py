"""What is only written as another type is read as the one that the schema asks for."""

import pytest

from llmeval_integrations import ToolCalls
from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.expected import write
from llmeval_integrations.tool_calls.node import ToolNode


@pytest.mark.parametrize(
    ("value", "types", "read"),
    [
        ("3", "integer", 3),
        ("3.0", "integer", 3),
        ("1.5", "integer", "1.5"),
        ("1.5", "number", 1.5),
        ("3", "string", "3"),
        ("3", ["string", "integer"], "3"),
        ("true", "boolean", True),
        ("False", "boolean", False),
        (" TRUE", "boolean", True),
        ("NULL", "null", None),
        ("+3", "integer", 3),
        ("-007", "integer", -7),
        (".5", "number", 0.5),
        ("5.", "number", 5),
        ("+1.5e1", "integer", 15),
        ("+.5", "integer", "+.5"),
        ("+-3", "integer", "+-3"),
        ("1e99999999999999999999", "number", "1e99999999999999999999"),
        ("true", "integer", "true"),
        ("3", "boolean", "3"),
        ("yes", "boolean", "yes"),
        ("null", ["integer", "null"], None),
        ('{"a": 1}', "object", {"a": 1}),
        ("[1]", "array", [1]),
        ("[1", "array", "[1"),
        ("", "integer", ""),
        (3, "string", "3"),
        (True, "string", "true"),
        (3, ["string", "null"], 3),
        (1, "boolean", 1),
        ("3", None, "3"),
        ("\u0663", "integer", "\u0663"),
        ("1.\u0663", "number", "1.\u0663"),
    ],
)
def test_a_value_is_read_as_the_type_that_is_asked_for(value, types, read):
    schema = ToolNode.root({"type": types} if types else {})
    assert equal(write(schema.coerce(value)), read)


@pytest.mark.parametrize(
    ("value", "schema", "read"),
    [
        ("1", {"enum": [1, 2]}, 1),
        ("1", {"const": 1}, 1),
        ("1.0", {"enum": ["a", 1]}, 1),
        ("True", {"enum": [True]}, True),
        ("null", {"enum": ["a", None]}, None),
        ("1", {"enum": [1, "1"]}, "1"),
        ("3", {"enum": [1, 2]}, "3"),
        ("a", {"enum": ["a", 1]}, "a"),
        ("1", {"type": "string", "enum": [1]}, "1"),
        ("1", {"enum": []}, "1"),
    ],
)
def test_a_text_is_read_as_one_of_the_values_that_are_allowed(value, schema, read):
    assert equal(ToolNode.root(schema).coerce(value), read)


def test_inner_values_and_choices_are_read_too():
    schema = {
        "properties": {"n": {"type": "integer"}, "l": {"items": {"type": "number"}}},
        "type": "object",
    }
    value = {"n": "3", "l": ["1.5", "x"], "other": "3"}
    assert ToolNode.root(schema).coerce(value) == {"n": 3, "l": [1.5, "x"], "other": "3"}
    assert ToolNode.root(schema).coerce('{"n": "3"}') == {"n": 3}
    choice = ToolNode.root(schema).coerce({"n": AnyOf(("3", 4))})
    assert choice == {"n": AnyOf((3, 4))}


@pytest.mark.parametrize(
    ("value", "text", "same"),
    [
        (1.0, "1.0", True),
        (1, "1.00", True),
        (True, "True", True),
        (True, "1", False),
        (1, "True", False),
        (1.5, "+1.5", True),
        (1.0, "x", False),
        (1.0, 1.0, True),
    ],
)
def test_any_text_that_says_a_number_or_boolean_is_the_same(value, text, same):
    node = ToolNode.root({"type": "string"})
    for one, other in ((value, text), (text, value)):
        assert (node.leaf(node.coerce(one), node.coerce(other)).kind == "match") is same


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "default": "10"}, 10),
        ({"type": "integer", "default": "10"}, "010"),
        ({"type": "boolean", "default": "False"}, False),
        ({"type": "string", "default": 1.0}, "1.0"),
        ({"type": "string", "default": "1.0"}, 1),
        ({"type": "object", "properties": {"n": {"type": "integer"}}, "default": {"n": "1"}}, {"n": 1}),
        ({"type": "object", "properties": {"n": {"type": "integer", "default": "1"}}, "default": {}}, {"n": 1}),
    ],
)  # fmt: skip
def test_defaults_are_read_like_values(schema, value):
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}]
    calls = [{"name": "f", "arguments": {"a": value}}], [{"name": "f", "arguments": {}}]
    for output, reference in (calls, calls[::-1]):
        assert ToolCalls(tools, coerce=True)(output, reference).passed
        assert not ToolCalls(tools)(output, reference).passed


def test_a_number_is_the_text_that_an_enum_has_for_it():
    part = ToolNode.root({"type": "string", "enum": ["1.0", "2.0", "True"]})
    assert [part.coerce(value) for value in (1, 2.0, True, "1")] == ["1.0", "2.0", "True", "1"]
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"v": {"type": "string", "enum": ["1.0"]}}}}  # fmt: skip
    open_to_more = ToolCalls([tool], coerce=True, arguments="superset")
    assert open_to_more({"name": "f", "arguments": {"v": 1.0}}, {"name": "f"}).passed


def test_of_several_spellings_in_an_enum_each_is_the_number():
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"v": {"type": "string", "enum": ["01", "1.00"]}}}}  # fmt: skip
    made = {"name": "f", "arguments": {"v": 1}}
    for text in ("01", "1.00"):
        evaluator = ToolCalls([tool], coerce=True)
        assert evaluator(made, {"name": "f", "arguments": {"v": text}}).passed
    assert ToolCalls([tool], coerce=True, arguments="superset")(made, {"name": "f"}).passed
