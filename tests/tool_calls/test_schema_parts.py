"""What a schema says about a part is found wherever it says it."""

import pytest

from llmeval_integrations.sample import MISSING
from llmeval_integrations.tool_calls.schema_parts import SchemaPart

ROOT = {
    "properties": {
        "plain": {"type": "integer", "default": 1},
        "of another": {"$ref": "#/$defs/Size"},
        "beside a reference": {"$ref": "#/$defs/Size", "default": 3},
        "the same twice": {"allOf": [{"default": 1}, {"default": 1.0}]},
        "two that differ": {"allOf": [{"default": 1}, {"default": 2}]},
        "of one choice": {"anyOf": [{"default": 1}, {"type": "null"}]},
        "none": {"type": "string"},
        "null": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "itself": {"$ref": "#"},
        "nowhere": {"$ref": "#/$defs/Lost"},
        "outside": {"$ref": "https://example.org/schema"},
        "escaped": {"$ref": "#/$defs/a~1b%20c"},
        "of an anchor": {"$ref": "#size"},
        "of an older anchor": {"$ref": "#older"},
        "of no anchor": {"$ref": "#lost"},
        "of an anchor in a value": {"$ref": "#quoted"},
        "both": {"default": 7},
    },
    "patternProperties": {"^x_": {"default": 6}, "h$": {"default": 7.0}},
    "additionalProperties": {"default": "other"},
    "$defs": {"Size": {"type": "integer", "default": 2}, "a/b c": {"default": 5},
              "Anchored": {"allOf": [{"$anchor": "size", "default": 8}]},
              "Older": {"$id": "#older", "default": 9},
              "Value": {"const": {"$anchor": "quoted", "default": 10}}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("plain", 1),
        ("of another", 2),
        ("beside a reference", MISSING),
        ("the same twice", 1.0),
        ("two that differ", MISSING),
        ("of one choice", MISSING),
        ("none", MISSING),
        ("null", None),
        ("itself", MISSING),
        ("nowhere", MISSING),
        ("outside", MISSING),
        ("escaped", 5),
        ("unnamed", "other"),
        ("of an anchor", 8),
        ("of an older anchor", 9),
        ("of no anchor", MISSING),
        ("of an anchor in a value", MISSING),
        ("x_1", 6),
        ("x_h", MISSING),
        ("both", 7),
        ("\ud800", "other"),
    ],
)
def test_a_default_is_one_that_holds_without_a_choice(name, default):
    assert SchemaPart(ROOT).member(name).default == default


def test_types_are_those_of_every_branch():
    assert SchemaPart(ROOT).member("null").types == {"string", "null"}
    assert SchemaPart(ROOT).member("of another").types == {"integer"}
    assert SchemaPart(ROOT).member("itself").member("plain").types == {"integer"}
    assert SchemaPart(True).member("a").item(0).types == frozenset()


def test_a_part_is_found_by_the_place_of_its_value():
    schema = {"properties": {"a": {"items": {"properties": {"0": {"type": "integer"}}}}}}
    assert SchemaPart(schema).at(["a", "1", "0"], {"a": [None, {"0": 1}]}).types == {"integer"}
    assert SchemaPart(schema).at(["a", "b"], {"a": {"b": 1}}).types == frozenset()


def test_a_reference_to_an_anchor_that_is_not_there_says_nothing():
    root = {"properties": {"a": {"$ref": "#addr"}}, "default": 1, "type": "object"}
    assert SchemaPart(root).member("a").types == frozenset()
    assert SchemaPart(root).member("a").default is MISSING


def test_items_by_position_and_by_rule():
    part = SchemaPart({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}})
    assert [part.item(n).types for n in (0, 1, 2)] == [{"string"}, {"integer"}, {"integer"}]
    assert SchemaPart({"anyOf": [{"uniqueItems": True}]}).unordered
    assert not part.unordered
