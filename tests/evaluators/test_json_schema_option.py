"""What is taken for a schema, where it comes from, and what is refused."""

import dataclasses
import functools
import json

import pytest

from llmeval_integrations import (
    InvalidOptionError,
    InvalidSchemaError,
    JsonFields,
    JsonSchema,
    MissingFieldError,
    evaluate,
)


@pytest.mark.parametrize(
    "schema",
    [{"type": "integer"}, ' {"type": "integer"}\n', '```json\n{"type": "integer"}\n```', {"type": ("integer",)}, True, "true", False, "false"],
)  # fmt: skip
def test_a_schema_may_be_a_mapping_a_boolean_or_text(schema):
    for evaluator, reference in ((JsonSchema(schema), None), (JsonSchema(), schema)):
        assert evaluator("1", reference).passed is (schema not in (False, "false"))
        assert evaluator('"x"', reference).passed is (schema in (True, "true"))


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


WRONG = [
    [], 5, "null", "{", "", "nonsense", object(), int, {"type": "nonsense"}, {"minimum": "2"}, {"properties": []},
    {"pattern": "["}, {"$ref": "#/definitions/absent"}, {"$schema": "http://json-schema.org/draft-03/schema#"},
    {"const": float("nan")}, {"\ud800": 1}, '{"title": "\\ud800"}', "[" * 100_000,
    functools.reduce(lambda inner, _: {"not": inner}, range(100_000), {}), {"minimum": 10**5_000},
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
        ("schema.json", "if it is a path"),
        ('{"enum": [NaN]}', "is not JSON"),
        ({"name": "string", "age": "integer"}, "everything would conform to .*; its members belong under 'properties'$"),
        ({"name": "f", "strict": True, "schema": {"type": "object"}}, "everything would conform to .*; did you mean its 'schema'.$"),
        ({"json_schema": {"schema": {"type": "object"}}}, "everything would conform to .*; did you mean its 'json_schema'.$"),
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


# --- a sample's own ------------------------------------------------------------------------------

PRICE = {"properties": {"price": {"type": "number"}}}  # whose fractions have noise
OPTION, OWN, REFERENCE = {"const": 1}, {"const": 2}, {"const": 3}


@pytest.mark.parametrize(
    ("option", "own", "reference", "right"),
    [
        (OPTION, OWN, REFERENCE, 1),
        (None, OWN, REFERENCE, 2),
        (None, None, REFERENCE, 3),
        (None, json.dumps(OWN), REFERENCE, 2),
        (None, OWN, None, 2),
    ],
)
def test_the_option_comes_first_then_the_sample_s_schema_then_the_reference(
    option, own, reference, right
):
    for output in (1, 2, 3):
        given = {"output": output, "reference": reference, "schema": own}
        assert JsonSchema(option)(**given).passed is (output == right)
        assert JsonSchema(option).evaluate_many([given])[0].passed is (output == right)


@pytest.mark.parametrize(
    ("option", "own", "passed"),
    [
        ({"schema": PRICE}, {}, True),
        ({}, PRICE, True),
        ({}, None, False),
        ({"schema": {}}, PRICE, False),
        ({"schema": False}, PRICE, False),
    ],
)
def test_fields_are_compared_by_the_option_else_by_the_sample_s_schema(option, own, passed):
    result = JsonFields(**option)({"price": 0.1 + 0.2}, {"price": 0.3}, schema=own)
    assert result.passed is passed


@pytest.mark.parametrize("evaluator", [JsonFields(), JsonSchema()], ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("[1]", r"a schema is an object or a boolean, got '\[1\]'"),
        ({"type": "objekt"}, "objekt"),
        (3, "object or a boolean, got '3'"),
    ],
)
def test_a_sample_s_schema_that_is_none_is_an_error_of_its_row(evaluator, schema, said):
    words = f"{evaluator.name}: the sample's schema: .*{said}"
    with pytest.raises(InvalidSchemaError, match=words):
        evaluator("{}", "{}", schema=schema)
    samples = [{"output": "{}", "reference": "{}", "schema": each} for each in (schema, {})]
    bad, good = evaluate(samples, [evaluator]).rows
    assert bad.error.startswith("InvalidSchemaError: ")
    assert (bad.score, good.passed) == (None, True)


def test_a_reference_that_is_no_schema_is_named_and_none_at_all_is_asked_for():
    with pytest.raises(InvalidSchemaError, match="json_schema: the sample's reference: "):
        JsonSchema()("1", {"price": 3})
    with pytest.raises(MissingFieldError, match="json_schema needs a schema: "):
        JsonSchema()("1", reference=None, schema=None)
