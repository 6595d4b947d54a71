"""JSON schemas as strict mode wants them."""

import copy

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations.llm.sdks.strict_schema import strict_schema

TEXT = {"type": "string"}


def an_object(**properties):
    return {"type": "object", "properties": properties, "required": [*properties]}


def closed(**properties):
    return {**an_object(**properties), "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (an_object(a=TEXT), closed(a=TEXT)),
        ({**an_object(a=TEXT, b=TEXT), "required": ["b"]}, closed(a=TEXT, b=TEXT)),
        ({"type": "object", "properties": {"a": TEXT}}, closed(a=TEXT)),
        (an_object(a=an_object(b=TEXT)), closed(a=closed(b=TEXT))),
        (
            an_object(a={"type": "array", "items": an_object(b=TEXT), "maxItems": 3}),
            closed(a={"type": "array", "items": closed(b=TEXT), "maxItems": 3}),
        ),
        (
            an_object(a={"anyOf": [an_object(b=TEXT), {"type": "null"}], "default": None}),
            closed(a={"anyOf": [closed(b=TEXT), {"type": "null"}]}),
        ),
        (
            {
                **an_object(a={"$ref": "#/$defs/B", "description": "b"}),
                "$defs": {"B": an_object(c=TEXT)},
            },
            {**closed(a={"$ref": "#/$defs/B"}), "$defs": {"B": closed(c=TEXT)}},
        ),
        (an_object(a={"enum": ["x", 1, None]}), closed(a={"enum": ["x", 1, None]})),
        (an_object(a={"const": "x"}), closed(a={"const": "x"})),
        (an_object(a={"type": ["string", "null"]}), closed(a={"type": ["string", "null"]})),
        (
            an_object(a={"type": "integer", "minimum": 1, "maximum": 5, "title": "A"}),
            closed(a={"type": "integer", "minimum": 1, "maximum": 5, "title": "A"}),
        ),
        (an_object(a={**TEXT, "format": "date"}), closed(a={**TEXT, "format": "date"})),
    ],
)
def test_objects_are_closed_and_their_members_required(schema, strict):
    before = copy.deepcopy(schema)
    assert strict_schema(schema) == strict
    assert schema == before
    assert strict_schema(strict) == strict


def test_members_keep_their_order():
    schema = an_object(reasoning=TEXT, verdict=TEXT, confidence=TEXT)
    assert [*strict_schema(schema)["properties"]] == ["reasoning", "verdict", "confidence"]
    assert strict_schema(schema)["required"] == ["reasoning", "verdict", "confidence"]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        TEXT,
        {"anyOf": [an_object(a=TEXT)]},
        {"$ref": "#/$defs/A", "$defs": {"A": an_object(a=TEXT)}},
        {"type": "object"},
        {"type": "object", "additionalProperties": TEXT},
        {**an_object(a=TEXT), "additionalProperties": True},
        {**an_object(a=TEXT), "required": ["a", "b"]},
        {**an_object(a=TEXT), "patternProperties": {"^x": TEXT}},
        an_object(a={}),
        an_object(a=True),
        an_object(a={"type": "object"}),
        an_object(a={"type": "array"}),
        an_object(a={"type": "array", "items": {}}),
        an_object(a={**TEXT, "minLength": 1}),
        an_object(a={**TEXT, "format": "uri"}),
        an_object(a={"oneOf": [TEXT, {"type": "null"}]}),
        an_object(a={"allOf": [TEXT]}),
        an_object(a={"not": TEXT}),
    ],
    ids=str,
)
def test_what_strict_mode_lacks_stays_as_it_is(schema):
    assert strict_schema(schema) is None


leaves = st.sampled_from(
    [TEXT, {"type": "integer", "minimum": 0}, {"enum": ["x", 1]}, {"type": ["null", "boolean"]}]
)
names = st.sampled_from("abc")
schemas = st.recursive(
    leaves,
    lambda inner: (
        st.builds(
            lambda properties, required: {
                "type": "object",
                "properties": properties,
                "required": sorted(required & properties.keys()),
            },
            st.dictionaries(names, inner, min_size=1, max_size=3),
            st.sets(names),
        )
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda *ways: {"anyOf": [*ways]}, inner, inner)
    ),
    max_leaves=6,
)
values = st.recursive(
    st.sampled_from(["x", "", 0, 1, -1, None, True]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(schemas, values)
def test_what_fits_the_strict_schema_fits_the_schema(schema, value):
    schema, value = an_object(root=schema), {"root": value}
    strict = strict_schema(schema)
    if jsonschema_rs.is_valid(strict, value):
        assert jsonschema_rs.is_valid(schema, value)
