"""What is taken for a schema, and what is refused."""

import dataclasses
import functools
from collections.abc import Sequence

import pytest

from llmeval_integrations import InvalidOptionError, InvalidSchemaError, JsonFields, JsonSchema


@pytest.mark.parametrize(
    "schema",
    [{"type": "integer"}, ' {"type": "integer"}\n', '```json\n{"type": "integer"}\n```', {"type": ("integer",)}, True, "true", False, "false"],
)  # fmt: skip
def test_a_schema_may_be_a_mapping_a_boolean_or_text(schema):
    for evaluator, reference in ((JsonSchema(schema), None), (JsonSchema(), schema)):
        assert evaluator("1", reference).passed is (schema not in (False, "false"))
        assert evaluator('"x"', reference).passed is (schema in (True, "true"))


@pytest.mark.parametrize("kind", [list[int], int | None, int, Sequence[str]], ids=str)
def test_of_another_type_it_is_told_what_makes_a_schema(kind):
    for build in (JsonSchema, JsonFields):
        with pytest.raises(InvalidSchemaError, match=r"of other types .*TypeAdapter"):
            build(kind)


def test_a_schema_may_be_a_pydantic_model_or_a_type_adapter():
    pydantic = pytest.importorskip("pydantic")
    line = pydantic.create_model("Line", count=(int, ...))
    for schema, good, bad, pointer in (
        (line, '{"count": 1}', '{"count": "x"}', "/count"),
        (pydantic.TypeAdapter(list[line]), '[{"count": 1}]', '[{"count": "x"}]', "/0/count"),
    ):
        for evaluator, reference in ((JsonSchema(schema), None), (JsonSchema(), schema)):
            assert evaluator(good, reference).passed
            assert evaluator(bad, reference).metadata["errors"][0]["pointer"] == pointer
    # as OpenAI's, and Google's Schema
    kind = pydantic.create_model("Format", json_schema=(dict, ...))
    for make in (JsonSchema, JsonFields):
        with pytest.raises(InvalidSchemaError, match="an object of Format is no schema; give"):
            make(kind(json_schema={"type": "integer"}))


WRONG = [
    [], 5, 1.5, "[]", "5", "null", "{", "", "nonsense", object(), int, list, {"type": "nonsense"}, {"type": 5},
    {"minimum": "2"}, {"required": "a"}, {"properties": []}, {"pattern": "["}, {"pattern": "(?P<"},
    {"multipleOf": 0}, {"minLength": -1}, {"$ref": "#/definitions/absent"}, {"$ref": "#absent"},
    {"$schema": "http://json-schema.org/draft-03/schema#"}, {"$schema": "urn:own"}, {"$schema": 5},
    {"const": float("nan")}, {"const": {1, 2}}, {"\ud800": 1}, '{"title": "\\ud800"}', "[" * 100_000,
    functools.reduce(lambda inner, _: {"not": inner}, range(100_000), {}),
    '{"minimum": %s}' % ("9" * 5_000), {"minimum": 10**5_000}, {"const": [10**5_000]},
]  # fmt: skip


@pytest.mark.parametrize("schema", WRONG, ids=lambda schema: type(schema).__name__)
def test_what_is_no_schema_is_named_as_such(schema):
    with pytest.raises(InvalidOptionError, match="schema"):
        JsonSchema(schema)
    with pytest.raises(InvalidSchemaError, match="schema") as raised:
        JsonSchema()("1", schema)
    assert len(str(raised.value)) < 1_000


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"properties": {"a": {"type": "int"}}}, "at /properties/a/type in the schema"),
        ("schema.json", "is it a path"),
        ('{"enum": [NaN]}', "is not JSON"),
        ({"name": "string", "age": "integer"}, "without a keyword .*; its members belong under 'properties'$"),
        ({"name": "f", "strict": True, "schema": {"type": "object"}}, "without a keyword .*; is its 'schema' meant.$"),
        ({"json_schema": {"schema": {"type": "object"}}}, "without a keyword .*; is its 'json_schema' meant.$"),
    ],
)  # fmt: skip
def test_the_error_says_what_is_wrong_with_a_schema(schema, message):
    for evaluator, reference in ((lambda: JsonSchema(schema), None), (JsonSchema, schema)):
        with pytest.raises(InvalidSchemaError, match=message):
            evaluator()("1", reference)


@pytest.mark.parametrize(
    "schema",
    [{}, {"title": "Anything"}, {"description": "Any", "x-internal": 1}, {"$defs": {}, "name": 1}],
)
def test_a_schema_that_asks_for_nothing_may_say_so(schema):
    assert JsonSchema(schema)("1").passed


def test_a_schema_that_its_owner_changes_stays_and_one_of_a_sample_is_read_anew():
    schema = {"properties": {"a": {"type": "string"}}}
    evaluator = JsonSchema(schema)
    assert JsonSchema()({"a": "x"}, schema).passed
    schema["properties"]["a"]["type"] = "integer"
    assert not JsonSchema()({"a": "x"}, schema).passed
    kept = {"properties": {"a": {"type": "string"}}}
    assert (evaluator.schema, evaluator) == (kept, JsonSchema(kept))
    assert repr(kept) in repr(evaluator)
    for same in (evaluator, dataclasses.replace(evaluator, check_formats=True)):
        assert same('{"a": "x"}').passed
        assert not same('{"a": 1}').passed
