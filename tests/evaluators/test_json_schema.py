"""Schemas: verdicts against the `jsonschema` package, the words of errors, the graded score."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import law

from llmeval_integrations import InvalidOptionError, JsonSchema
from llmeval_integrations.json_values.pointer import read_pointer

DRAFTS = ["4", "6", "7", "2019-09", "2020-12"]

# --- verdicts ------------------------------------------------------------------------------------


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, "", "a", "ab", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "1", "a/b", "~"]), inner, max_size=3)
    ),
    max_leaves=6,
)
types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
names = st.lists(st.sampled_from(["a", "b", "1", "a/b", "~"]), max_size=2, unique=True)
schemas = st.recursive(
    st.booleans() | st.fixed_dictionaries({}, optional={
        "type": types, "minimum": st.integers(-2, 2), "maxLength": st.integers(0, 2),
        "minItems": st.integers(0, 2), "maxProperties": st.integers(0, 2), "required": names,
        "uniqueItems": st.booleans(), "const": values, "enum": st.sampled_from([[1, "a"], [None, [1]], [True, 0], [{"a": 1.0}]]),
    }),
    lambda inner: st.fixed_dictionaries({}, optional={
        "properties": st.dictionaries(st.sampled_from(["a", "b", "1", "a/b", "~"]), inner, max_size=2),
        "prefixItems": st.lists(inner, min_size=1, max_size=2), "format": st.just("email"),
        "allOf": st.lists(inner, min_size=1, max_size=2), "dependentRequired": st.just({"a": ["b"]}),
        "additionalProperties": inner, "patternProperties": st.fixed_dictionaries({"^a": inner}),
        "items": inner, "contains": inner, "not": inner, "propertyNames": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=2), "if": inner, "then": inner,
        "oneOf": st.lists(inner, min_size=1, max_size=2), "unevaluatedProperties": inner,
        "dependentSchemas": st.dictionaries(st.sampled_from(["a", "1"]), inner, max_size=1),
    }),
    max_leaves=5,
)  # fmt: skip


def resolve(document, pointer):
    for name in read_pointer(pointer):
        document = document[int(name)] if isinstance(document, list) else document[name]


@pytest.mark.parametrize("draft", DRAFTS)
def test_verdicts_are_those_of_jsonschema_and_conformity_is_1_where_valid(draft):
    jsonschema = pytest.importorskip("jsonschema")
    kind = getattr(jsonschema, f"Draft{draft.replace('-', '')}Validator")
    meta = kind(kind.META_SCHEMA)

    @law
    @given(schemas, values)
    def check(schema, value):
        if isinstance(schema, dict) and not meta.is_valid(schema):
            with pytest.raises(InvalidOptionError):
                JsonSchema(schema, draft=draft)
            return
        result = JsonSchema(schema, draft=draft)(json.dumps(value))
        if meta.is_valid(schema):  # draft 4 has no booleans, which we take all the same
            assert result.passed is kind(schema).is_valid(value)
        schema_score = result.metadata["schema_score"]
        assert 0.0 <= schema_score <= 1.0
        assert (schema_score == 1.0) is result.passed is (not result.metadata.get("errors"))
        for error in result.metadata.get("errors", []):
            resolve(value, error["pointer"])
            resolve(schema, error["schema_pointer"])

    check()


DRAFT = {
    "7": "http://json-schema.org/draft-07/schema#",
    "2020": "https://json-schema.org/draft/2020-12/schema",
}


@pytest.mark.parametrize(
    ("schema", "options", "output", "score"),
    [
        ({"$schema": DRAFT["7"], "prefixItems": [False]}, {}, "[1]", True),
        ({"$schema": DRAFT["2020"], "prefixItems": [False]}, {}, "[1]", False),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}, {}, "1", False),
        ({"$schema": DRAFT["2020"], "prefixItems": [False]}, {"draft": 7}, "[1]", True),
        ({"$schema": DRAFT["7"], "prefixItems": [False]}, {"draft": "2020-12"}, "[1]", False),
    ],
)  # fmt: skip
def test_the_draft_is_that_of_the_option_else_of_the_schema_else_the_newest(
    schema, options, output, score
):
    assert JsonSchema(schema, **options)(output).passed is score
    assert JsonSchema(**options)(output, schema).passed is score


@pytest.mark.parametrize(
    ("kind", "text"),
    [("email", "x"), ("date", "2024-13-01"), ("date-time", "yesterday"), ("uri", "a b"), ("ipv4", "1.2.3")],
)  # fmt: skip
@pytest.mark.parametrize("draft", [None, "7", "2020-12"])
def test_formats_are_asserted_only_where_asked(kind, text, draft):
    schema, output = {"properties": {"a": {"format": kind}}}, {"a": text}
    assert JsonSchema(schema, draft=draft)(output).passed
    failed = JsonSchema(schema, draft=draft, check_formats=True)(output)
    assert (failed.passed, failed.label) == (False, "format")
    assert JsonSchema({"format": "nonsense"}, draft=draft, check_formats=True)('"x"').passed


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
        ({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}}, '{"a": 1}', "dependencies", "/dependencies", '"b" is a required property'),
        ({"properties": {"items": False}}, '{"items": 1}', "properties", "/properties/items", "False schema does not allow 1"),
        ({"items": False}, "[1]", "items", "/items", "False schema does not allow 1"),
        (False, "1", "falseSchema", "", "False schema does not allow 1"),
    ],
)  # fmt: skip
def test_the_keyword_is_one_that_the_schema_has(schema, output, keyword, place, message):
    result = JsonSchema(schema)(output)
    (error,) = result.metadata["errors"]
    assert (error["keyword"], error["schema_pointer"], error["message"]) == (
        keyword,
        place,
        message,
    )
    assert result.label == keyword
    assert result.reason == f"{message} at {error['pointer'] or 'the root'}"


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_required_member_that_is_there_is_not_missing(draft):
    schema = {"required": ["a"], "properties": {"b": {}}, "additionalProperties": False}
    for wrapped, output in ((schema, '{"a": 1}'), ({"items": schema}, '[{"a": 1}]')):
        (error,) = JsonSchema(wrapped, draft=draft)(output).metadata["errors"]
        assert error["message"] == "Additional properties are not allowed ('a' was unexpected)"
    missing = JsonSchema(schema, draft=draft)('{"d": 1}').metadata["errors"]
    assert [error["keyword"] for error in missing] == ["additionalProperties", "required"]


CONFORMITY = [
    # schema, output, share of values without an error
    # 1 of 3 values: the object, name, age
    ({"properties": {"age": {"type": "integer"}}}, '{"name": "a", "age": "x"}', 2 / 3),
    # a missing member counts as one more value: 1 of 2
    ({"required": ["a"]}, "{}", 1 / 2),
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
