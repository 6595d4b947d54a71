"""A violated schema is worded as by `jsonschema`, in bounded time and offline."""

import json
import socket
import sys

import pytest
from pace import at_most

pytest.importorskip("langchain_core")

from llmeval_integrations.frameworks.langchain import JsonSchemaEvaluator

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
RUNAWAY = "^(a+)+$"
LONG = "a" * 40 + "!"
NEEDS_Z = '"z" is a required property'


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"child": value, "a": 1}
    return value


TREE = {"properties": {"child": {"$ref": "#/$defs/node"}}}


def tree(**node):
    """A schema of a tree whose nodes are like this, and whose root must have a member z."""
    return {"$ref": "#/$defs/node", "required": ["z"], "$defs": {"node": node}}


def words(value, schema, **options):
    evaluator = JsonSchemaEvaluator(**options)
    result = evaluator.evaluate_strings(prediction=json.dumps(value), reference=schema)
    assert result["score"] is False
    return result["reasoning"].removeprefix("<ValidationError: ").removesuffix(">")


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        (5, {"type": "string"}, "5 is not of type 'string'"),
        ({"b": 1}, {"additionalProperties": False}, "Additional properties are not allowed ('b' was unexpected)"),
        ("a", {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 2}]}, "'a' is too short"),
        ({"type": 5}, {"$ref": "https://json-schema.org/draft/2020-12/schema"}, "5 is not valid under any of the given schemas"),
        ({"a": {"a": 1}}, {"$schema": DRAFT_7, "properties": {"a": {"$ref": "#"}}, "type": "object"}, "1 is not of type 'object'"),
    ],
)  # fmt: skip
def test_the_words_are_jsonschemas(value, schema, message):
    pytest.importorskip("jsonschema")
    assert words(value, schema) == repr(message)


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        (5, {"allOf": [{"$ref": "#"}], "type": "string"}, '5 is not of type "string"'),
        (LONG, {"pattern": RUNAWAY}, f'"{LONG}" does not match "{RUNAWAY}"'),
        (nested(60), tree(**{"if": TREE, "then": TREE, "else": False}), NEEDS_Z),
        ([{"a": 1}] * 30_000, {"items": {"required": ["a", "z"], "properties": {"a": {"type": "integer"}}}}, NEEDS_Z),
    ],
    ids=["self-reference", "pattern", "if", "length"],
)  # fmt: skip
def test_what_would_keep_jsonschema_busy_is_in_our_words(value, schema, message):
    with at_most(10):
        assert words(value, schema) == repr(message)


def test_nothing_is_fetched_while_wording(monkeypatch):
    pytest.importorskip("jsonschema")
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection was made"))
    schema = {"$id": "https://example.invalid/root", "type": "object", "properties": {"a": {"$ref": "root#/$defs/b"}}, "$defs": {"b": {"type": "null"}}}  # fmt: skip
    assert words({"a": 1}, schema) == repr("1 is not of type 'null'")


def test_without_jsonschema_the_form_stays_and_the_words_are_ours(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    assert words(30, {"minimum": 66}) == repr("30 is less than the minimum of 66")
    assert words(5, {"type": "string"}) == repr('5 is not of type "string"')
