"""What is only written as another type is read as the one that the schema asks for."""

import pytest

from llmeval_integrations import ToolCalls

INNER = {"type": "object", "properties": {"n": {"type": "integer"}}}


def passes(schema, one, other, *, coerce=True, **options):
    """Say whether two values are the same to ToolCalls, whichever of them is made."""
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}]
    calls = [{"name": "f", "arguments": {} if value is ... else {"a": value}} for value in (one, other)]  # fmt: skip
    evaluator = ToolCalls(tools, coerce=coerce, **options)
    found = {evaluator(made, expected).passed for made, expected in (calls, calls[::-1])}
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize(
    ("value", "types", "read"),
    [
        ("3", "integer", 3), ("3.0", "integer", 3), ("1.5", "number", 1.5), ("true", "boolean", True), ("False", "boolean", False),
        (" TRUE", "boolean", True), ("NULL", "null", None), ("+3", "integer", 3), ("-007", "integer", -7), (".5", "number", 0.5),
        ("5.", "number", 5), ("+1.5e1", "integer", 15), ("null", ["integer", "null"], None), ('{"a": 1}', "object", {"a": 1}),
        ("[1]", "array", [1]), (3, "string", "3"), (True, "string", "true"),
    ],
)  # fmt: skip
def test_a_value_is_read_as_the_type_that_is_asked_for(value, types, read):
    assert passes({"type": types}, value, read)
    assert not passes({"type": types}, value, read, coerce=False)


@pytest.mark.parametrize(
    ("value", "schema", "read", "same"),
    [
        ("1", {"enum": [1, 2]}, 1, True), ("1", {"const": 1}, 1, True), ("1.0", {"enum": ["a", 1]}, 1, True),
        ("True", {"enum": [True]}, True, True), ("null", {"enum": ["a", None]}, None, True), ("1", {"enum": [1, "1"]}, 1, False),
        ("3", {"enum": [1, 2]}, 3, False), ("1", {"type": "string", "enum": [2]}, 2, False), ("1", {"enum": []}, 1, False),
    ],
)  # fmt: skip
def test_a_text_is_read_as_one_of_the_values_that_are_allowed(value, schema, read, same):
    assert passes(schema, value, read) is same


@pytest.mark.parametrize(
    ("schema", "value", "read"),
    [
        (INNER, {"n": "3", "other": "3"}, {"n": 3, "other": "3"}),
        (INNER, '{"n": "3"}', {"n": 3}),
        ({"items": {"type": "number"}}, ["1.5", "x"], [1.5, "x"]),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["3", "4", "5"], ["3", 4, 5]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "3", 3),
        ({"type": "object", "patternProperties": {"^n_": {"type": "integer"}}}, {"n_1": "3"}, {"n_1": 3}),
    ],
)  # fmt: skip
def test_inner_values_are_read_too(schema, value, read):
    assert passes(schema, value, read)
    assert not passes(schema, value, read, coerce=False)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "default": "10"}, 10),
        ({"type": "integer", "default": "10"}, "010"),
        ({"type": "boolean", "default": "False"}, False),
        ({"type": "string", "default": 1.0}, "1.0"),
        ({"type": "string", "default": "1.0"}, 1),
        ({**INNER, "default": {"n": "1"}}, {"n": 1}),
        ({"type": "object", "properties": {"n": {"type": "integer", "default": "1"}}, "default": {}}, {"n": 1}),
    ],
)  # fmt: skip
def test_defaults_are_read_like_values(schema, value):
    assert passes(schema, value, ...)
    assert not passes(schema, value, ..., coerce=False)
