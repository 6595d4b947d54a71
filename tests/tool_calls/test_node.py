"""What a schema says about a part is found wherever it says it."""

import pytest

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.tool_calls.node import ToolNode

ROOT = {
    "properties": {
        "plain": {"type": "integer", "default": 1},
        "of another": {"$ref": "#/$defs/Size"},
        "beside a reference": {"$ref": "#/$defs/Size", "default": 3},
        "the same twice": {"allOf": [{"default": 1}, {"default": 1.0}]},
        "two that differ": {"allOf": [{"default": 1}, {"default": 2}]},
        "of one choice": {"anyOf": [{"default": 1}, {"type": "null"}]},
        "of every choice": {"anyOf": [{"default": 1}, {"default": 1.0}]},
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
        ("beside a reference", 3),
        ("of every choice", 1),
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
    assert ToolNode.root(ROOT).member(name).default == default


def test_types_are_those_of_every_branch():
    assert ToolNode.root(ROOT).member("null").types == {"string", "null"}
    assert ToolNode.root(ROOT).member("of another").types == {"integer"}
    assert ToolNode.root(ROOT).member("itself").member("plain").types == {"integer"}
    assert ToolNode.root(True).member("a").item(0).types == frozenset()


def test_a_part_is_found_by_the_place_of_its_value():
    schema = {"properties": {"a": {"items": {"properties": {"0": {"type": "integer"}}}}}}
    assert ToolNode.root(schema).at(["a", "1", "0"], {"a": [None, {"0": 1}]}).types == {"integer"}
    assert ToolNode.root(schema).at(["a", "b"], {"a": {"b": 1}}).types == frozenset()


def test_a_reference_to_an_anchor_that_is_not_there_says_nothing():
    root = {"properties": {"a": {"$ref": "#addr"}}, "default": 1, "type": "object"}
    assert ToolNode.root(root).member("a").types == frozenset()
    assert ToolNode.root(root).member("a").default is MISSING


def test_items_by_position_and_by_rule():
    part = ToolNode.root({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}})
    assert [part.item(n).types for n in (0, 1, 2)] == [{"string"}, {"integer"}, {"integer"}]
    assert ToolNode.root({"anyOf": [{"uniqueItems": True}]}).order == "any_order"
    assert (
        part.order == ToolNode.root({"uniqueItems": True, "prefixItems": [{}]}).order == "ordered"
    )


def test_items_by_position_as_older_drafts_have_them():
    part = ToolNode.root({"items": [{"type": "string"}], "additionalItems": {"type": "integer"}})
    assert [part.item(n).types for n in (0, 1, 2)] == [{"string"}, {"integer"}, {"integer"}]


CIRCLE = {
    "type": "object",
    "properties": {"kind": {"const": "circle"}, "color": {"default": "red"}, "r": {"default": 1}},
}
SQUARE = {
    "type": "object",
    "properties": {"kind": {"enum": ["square"]}, "color": {"default": "blue"}},
}
BOX = {
    "type": "object",
    "properties": {"w": {"type": "integer"}, "d": {"default": 1}},
    "required": ["w"],
}
BAG = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "d": {"default": 2}},
    "required": ["v"],
}
NOTE = {"type": "object", "properties": {"v": {"type": "string"}, "d": {"default": 3}}}


@pytest.mark.parametrize(
    ("alternatives", "value", "name", "default"),
    [
        ([CIRCLE, SQUARE], {"kind": "circle"}, "color", "red"),
        ([CIRCLE, SQUARE], {"kind": "square"}, "color", "blue"),
        ([CIRCLE, SQUARE], {"kind": "square"}, "r", MISSING),
        ([CIRCLE, SQUARE], {"kind": "oval"}, "color", MISSING),
        ([CIRCLE, SQUARE], {}, "color", MISSING),
        ([CIRCLE, {"type": "null"}], {}, "color", "red"),
        ([{"anyOf": [CIRCLE, SQUARE]}, {"type": "null"}], {"kind": "square"}, "color", "blue"),
        ([{"$ref": "#/$defs/Circle"}, SQUARE], {"kind": "circle"}, "r", 1),
        ([BOX, BAG], {"w": 1}, "d", 1),
        ([BOX, BAG], {"v": 1}, "d", 2),
        ([BAG, NOTE], {"v": "x"}, "d", 3),
        ([BAG, NOTE], {"v": 1}, "d", 2),
        ([BAG, NOTE], {"v": []}, "d", MISSING),
        ([BAG, NOTE], {}, "d", 3),
        ([BOX, CIRCLE], {"w": 1, "r": 1, "kind": "circle"}, "d", MISSING),
        ([{"required": ["a"]}, {"required": ["b"]}], {"a": 1}, "always", 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_default_is_that_of_the_alternative_that_is_meant(keyword, alternatives, value, name, default):  # fmt: skip
    root = {
        keyword: alternatives,
        "properties": {"always": {"default": 0}},
        "$defs": {"Circle": CIRCLE},
    }
    assert ToolNode.root(root).narrow(value).member(name).default == default
    within = ToolNode.root({"properties": {"p": {"items": root}}, "$defs": {"Circle": CIRCLE}})
    assert within.at(["p", "0"], {"p": [value]}).member(name).default == default


def test_a_schema_that_is_an_alternative_of_itself_has_an_end():
    part = ToolNode.root({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"properties": {"a": {"default": 1}}}]})  # fmt: skip
    assert part.narrow({"a": 2}).member("a").default == 1
    assert part.types == frozenset()


def test_a_part_of_a_schema_that_refers_to_itself_is_made_once():
    root = ToolNode.root({"properties": {"a": {"$ref": "#"}}})
    below = root.member("a")
    assert below.member("a").member("a") is below.member("a")


@pytest.mark.parametrize("optional", [False, True])
def test_a_union_that_refers_to_itself_has_one_part_for_all_deeper_levels(optional):
    def node(n):
        child = {"$ref": "#/$defs/N"}
        if optional:
            child = {"anyOf": [child, {"type": "null"}]}
        return {"type": "object", "properties": {"child": child, f"m{n}": {"default": n}}}

    schema = {"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [node(n) for n in range(20)]}}}
    levels = [ToolNode.root(schema)]
    for _ in range(3):
        levels.append(levels[-1].narrow({"child": {}}).member("child"))
    assert levels[2] is levels[1]
    assert levels[3].narrow({"m7": 1}).member("m7").default == 7
