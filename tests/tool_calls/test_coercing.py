"""What is only written as another type is read as the one that the schema asks for."""

from decimal import Decimal

import pytest

from llmeval_integrations.json_value import equal
from llmeval_integrations.tool_calls.coercing import coerce
from llmeval_integrations.tool_calls.expected import AnyOf
from llmeval_integrations.tool_calls.schema_parts import SchemaPart


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
    ],
)
def test_a_value_is_read_as_the_type_that_is_asked_for(value, types, read):
    schema = SchemaPart({"type": types} if types else {})
    assert equal(coerce(value, schema), read)


def test_a_number_that_is_too_long_to_write_out_is_read():
    assert coerce("1e999999999", SchemaPart({"type": "integer"})) == Decimal("1e999999999")


def test_inner_values_and_choices_are_read_too():
    schema = {
        "properties": {"n": {"type": "integer"}, "l": {"items": {"type": "number"}}},
        "type": "object",
    }
    value = {"n": "3", "l": ["1.5", "x"], "other": "3"}
    assert coerce(value, SchemaPart(schema)) == {"n": 3, "l": [1.5, "x"], "other": "3"}
    assert coerce('{"n": "3"}', SchemaPart(schema)) == {"n": 3}
    choice = coerce({"n": AnyOf(["3", 4])}, SchemaPart(schema))
    assert choice == {"n": AnyOf([3, 4])}


@pytest.mark.parametrize(
    ("value", "beside", "text"),
    [
        (1.0, ["1.0"], "1.0"),
        (1, ["1.00"], "1.00"),
        (True, ["True"], "True"),
        (True, ["1"], "true"),
        (1, ["True"], "1"),
        (1.5, ["2", AnyOf(["+1.5"])], "+1.5"),
        (1.0, ["x", 1.0], "1"),
        (1.0, [], "1"),
    ],
)
def test_of_texts_that_say_the_same_the_one_beside_is_taken(value, beside, text):
    schema = SchemaPart({"type": "string"})
    assert coerce(value, schema, beside) == text
    members = SchemaPart({"properties": {"s": {"type": "string"}}})
    assert coerce({"s": value}, members, [{"s": one} for one in beside]) == {"s": text}
