"""JsonSchema: verdicts against `jsonschema`, the words of errors, and where a schema comes from."""

import dataclasses
import functools
import json

import pydantic
import pytest
from hypothesis import given
from json_strategies import clashing, clashing_schemas, law

from llmeval_integrations import (
    InvalidOptionError,
    InvalidSchemaError,
    JsonFields,
    JsonSchema,
    MissingFieldError,
    evaluate,
)
from llmeval_integrations.json_values.values import read_pointer

DRAFTS = ["4", "6", "7", "2019-09", "2020-12"]

# --- verdicts ------------------------------------------------------------------------------------

# A schema that refers to itself at the same place has no verdict.
schemas = clashing_schemas.filter(lambda schema: 'ef": "#' not in json.dumps(schema))


def resolve(document, pointer):
    for name in read_pointer(pointer):
        document = document[int(name)] if isinstance(document, list) else document[name]


@pytest.mark.parametrize("draft", DRAFTS)
def test_verdicts_are_those_of_jsonschema_and_conformity_is_1_where_valid(draft):
    jsonschema = pytest.importorskip("jsonschema")
    kind = getattr(jsonschema, f"Draft{draft.replace('-', '')}Validator")
    meta = kind(kind.META_SCHEMA)

    @law
    @given(schemas, clashing)
    def check(schema, value):
        if not meta.is_valid(schema):
            if isinstance(schema, dict):  # else a boolean in draft 4
                with pytest.raises(InvalidOptionError):
                    JsonSchema(schema, draft=draft)
            return
        result = JsonSchema(schema, draft=draft)(json.dumps(value))
        assert result.passed is kind(schema).is_valid(value)
        schema_score = result.metadata["schema_score"]
        assert 0.0 <= schema_score <= 1.0
        assert (schema_score == 1.0) is result.passed is (not result.metadata.get("errors"))
        for error in result.metadata.get("errors", []):
            resolve(value, error["pointer"])
            resolve(schema, error["schema_pointer"])

    check()


@pytest.mark.parametrize("schema", [True, {"enum": [0, -0.0]}])
def test_a_boolean_and_an_enum_that_repeats_a_value_are_taken_in_draft_4_as_in_later_ones(schema):
    assert JsonSchema(schema, draft=4)("0").passed


DRAFT = {
    "4": "http://json-schema.org/draft-04/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2020": "https://json-schema.org/draft/2020-12/schema",
}


@pytest.mark.parametrize(
    ("schema", "draft", "passed"),
    [
        ({"$schema": DRAFT["7"], "prefixItems": [False]}, None, True),
        ({"$schema": DRAFT["2020"], "prefixItems": [False]}, None, False),
        ({"$schema": DRAFT["4"], "items": {"minimum": 1, "exclusiveMinimum": True}}, None, False),
        ({"prefixItems": [False]}, None, False),
        ({"$schema": DRAFT["2020"], "prefixItems": [False]}, 7, True),
        ({"$schema": DRAFT["7"], "prefixItems": [False]}, "2020-12", False),
    ],
)
def test_the_draft_is_that_of_the_option_else_of_the_schema_else_the_newest(schema, draft, passed):
    assert JsonSchema(schema, draft=draft)("[1]").passed is passed
    assert JsonSchema(draft=draft)("[1]", schema).passed is passed


@pytest.mark.parametrize("draft", [None, "7", "2020-12"])
@pytest.mark.parametrize(
    ("kind", "text"),
    [("email", "x"), ("date", "2024-13-01"), ("date-time", "yesterday"), ("uri", "a b"), ("ipv4", "1.2.3")],
)  # fmt: skip
def test_formats_are_asserted_only_where_asked(kind, text, draft):
    assert JsonSchema({"format": kind}, draft=draft)(f'"{text}"').passed
    assert JsonSchema({"format": kind}, True, draft)(f'"{text}"').label == "format"
    assert JsonSchema({"format": "nonsense"}, True, draft)(f'"{text}"').passed


# --- errors -------------------------------------------------------------------------------------


def test_all_errors_are_listed_with_pointers():
    schema = {
        "required": ["a", "b"],
        "properties": {"c": {"type": "string"}, "d/~": {"items": {"minimum": 3}}},
        "additionalProperties": False,
    }
    result = JsonSchema(schema)('{"c": 1, "d/~": [1, 5, 2], "x": 1}')
    listed = {tuple(error.values())[:3] for error in result.metadata["errors"]}
    assert listed == {
        ("", "/required", "required"),
        ("/c", "/properties/c/type", "type"),
        ("/d~1~0/0", "/properties/d~1~0/items/minimum", "minimum"),
        ("/d~1~0/2", "/properties/d~1~0/items/minimum", "minimum"),
        ("", "/additionalProperties", "additionalProperties"),
    }
    assert len(result.metadata["errors"]) == 6  # required twice
    first = result.metadata["errors"][0]
    assert result.label == first["keyword"]
    assert result.reason == f"{first['message']} at the root; and 5 more"


@pytest.mark.parametrize(
    ("schema", "output", "keyword", "place", "message"),
    [
        ({"additionalProperties": False}, '{"a": 1, "b": 2}', "additionalProperties", "/additionalProperties", "Additional properties are not allowed ('a', 'b' were unexpected)"),
        ({"dependentRequired": {"a": ["b"]}}, '{"a": 1}', "dependentRequired", "/dependentRequired", '"b" is a required property'),
        ({"properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}, "$defs": {"A": {"required": ["b"]}}}, '{"a": {}}', "required", "/$defs/A/required", '"b" is a required property'),
        ({"oneOf": [{"type": "null"}, {"anyOf": [{"minimum": 3}]}]}, "1", "minimum", "/oneOf/1/anyOf/0/minimum", "1 is less than the minimum of 3"),
        ({"anyOf": [{"properties": {"a": {"type": "null"}}}, {"required": ["b"]}]}, '{"a": 1}', "anyOf", "/anyOf", """{"a":1} is not valid under any of the schemas listed in the 'anyOf' keyword"""),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}}, '{"a": 1}', "dependencies", "/dependencies", '"b" is a required property'),
        ({"properties": {"items": False}}, '{"items": 1}', "properties", "/properties/items", "False schema does not allow 1"),
        ({"items": False}, "[1]", "items", "/items", "False schema does not allow 1"),
        (False, "1", "falseSchema", "", "False schema does not allow 1"),
        ({"enum": [f"v{n}" for n in range(200)]}, '"x"', "enum", "/enum", '"x" is not one of "v0", "v1" or 198 other candidates'),
        # a pattern as it is written
        ({"pattern": r"^(?!0)\d[\d\w\S]$"}, '"x"', "pattern", "/pattern", r'"x" does not match "^(?!0)\d[\d\w\S]$"'),
        ({"not": {"pattern": r"^(?!0)\D[\s\W\"]*\d$"}}, '"x3"', "not", "/not", r'{"pattern":"^(?!0)\\D[\\s\\W\\\"]*\\d$"} is not allowed for "x3"'),
        ({"patternProperties": {r"^(?!0)\w/": False}}, '{"x/": 1}', "patternProperties", r"/patternProperties/^(?!0)\w~1", "False schema does not allow 1"),
    ],
)  # fmt: skip
def test_the_keyword_is_one_that_the_schema_has(schema, output, keyword, place, message):
    result = JsonSchema(schema)(output)
    (error,) = result.metadata["errors"]
    assert (error["schema_pointer"], error["message"]) == (place, message)
    assert error["keyword"] == result.label == keyword
    assert result.reason == f"{message} at {error['pointer'] or 'the root'}"


CONFORMITY = [
    # schema, output, share of values without an error
    # 1 of 3 values: the object, name, age
    ({"properties": {"age": {"type": "integer"}}}, '{"name": "a", "age": "x"}', 2 / 3),
    # a missing member counts as one more value: 1 of 2
    ({"required": ["a"]}, "{}", 1 / 2),
    ({"required": ["a"], "additionalProperties": False}, '{"a": 1}', 1 / 2),  # one error, not two
    # what is unexpected is wrong itself, its container is not: 1 of 3
    ({"properties": {"a": {}}, "additionalProperties": False}, '{"a": 1, "b": 2}', 2 / 3),
    # an error about a container's members as a whole concerns the container alone: 1 of 3
    ({"minItems": 3}, "[1, 2]", 2 / 3),
    # a wrong type concerns all that is inside
    ({"type": "array"}, '{"a": 1, "b": 2}', 0.0),
    # two errors at one place count once
    ({"properties": {"a": {"minimum": 3, "multipleOf": 3}}}, '{"a": 1}', 1 / 2),
    # what is wrong within what is wrong counts once
    ({"properties": {"a": {"minProperties": 3, "type": "array", "properties": {"b": False}}}}, '{"a": {"b": [1]}, "c": 1}', 2 / 5),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "output", "share"), CONFORMITY)
def test_conformity_is_the_share_of_values_without_an_error(schema, output, share):
    assert JsonSchema(schema)(output).metadata["schema_score"] == pytest.approx(share)


# --- what is a schema, and where it comes from ----------------------------------------------------


LINE = pydantic.create_model("Line", count=(int, ...))


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "integer"}, "1", '"x"'),
        ({"type": ("integer",)}, "1", '"x"'),
        (' {"type": "integer"}\n', "1", '"x"'),
        ('```json\n{"type": "integer"}\n```', "1", '"x"'),
        (LINE, '{"count": 1}', '{"count": "x"}'),
        (pydantic.TypeAdapter(list[LINE]), '[{"count": 1}]', '[{"count": "x"}]'),
    ],
)
def test_a_schema_may_be_a_mapping_text_or_a_model(schema, right, wrong):
    for evaluator, reference in ((JsonSchema(schema), None), (JsonSchema(), schema)):
        assert evaluator(right, reference).passed
        assert not evaluator(wrong, reference).passed


@pytest.mark.parametrize(("schema", "passed"), [(True, True), ("true", True), (False, False), ("false", False)])  # fmt: skip
def test_a_schema_may_be_a_boolean(schema, passed):
    assert JsonSchema(schema)("1").passed is JsonSchema()("1", schema).passed is passed


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
        ('{"type": "object"', "is not JSON"),
        ('{"enum": [NaN]}', "is not JSON"),
        ({"name": "string", "age": "integer"}, "not a JSON Schema: any value conforms to it; its members belong under 'properties': "),
        ({"name": "f", "strict": True, "schema": {"type": "object"}}, "conforms to it; did you mean its 'schema'.: "),
        ({"type": "json_schema", "json_schema": {"name": "f", "schema": {}}}, "conforms to it; did you mean its 'json_schema'.: "),
        ({"patternProperties": {r"^(?!\d": {}}}, r'"\^\(\?!\\\\d" is not a "regex" at /patternProperties'),
        ({"pattern": "(((a{100}){100}){100}){100}"}, "needs too much memory at /pattern"),
        ({"pattern": r"(?!b)\p{L}{9000}"}, "needs too much memory at /pattern"),
        ({"json_schema": {"schema": {"type": "object"}}}, "conforms to it; did you mean its 'json_schema'.: "),
    ],
)  # fmt: skip
def test_the_error_says_what_is_wrong_with_a_schema(schema, message):
    lenient = functools.partial(JsonSchema, parsing="lenient")
    for evaluator, reference in ((lambda: JsonSchema(schema), None), (JsonSchema, schema), (lenient, schema)):  # fmt: skip
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


@pytest.mark.parametrize(
    ("schema", "said"),
    [("[1]", r"got '\[1\]'"), ({"type": "objekt"}, "objekt"), (3, "a boolean, got '3'")],
)
@pytest.mark.parametrize("evaluator", [JsonFields(), JsonSchema()], ids=lambda each: each.name)
def test_a_sample_s_schema_that_is_none_is_an_error_of_its_row(evaluator, schema, said):
    words = f"{evaluator.name}: the sample's schema: .*{said}"
    with pytest.raises(InvalidSchemaError, match=words):
        evaluator("{}", "{}", schema=schema)
    samples = [{"output": "{}", "reference": "{}", "schema": each} for each in (schema, {})]
    bad, good = evaluate(samples, [evaluator]).rows
    assert bad.error.startswith("InvalidSchemaError: ")
    assert (bad.score, good.passed) == (None, True)


def test_a_reference_that_is_no_schema_is_named_and_none_at_all_is_asked_for():
    with pytest.raises(InvalidSchemaError, match="there is no schema, so the reference is used: "):
        JsonSchema()("1", {"price": 3})
    with pytest.raises(MissingFieldError, match="json_schema needs a schema: "):
        JsonSchema()("1", reference=None, schema=None)
