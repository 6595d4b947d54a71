"""What an argument that is left out means, and arrays without order."""

import pytest

from llmeval_integrations import ToolCalls

NOTHING = object()
SOME = [*range(1, 11), "red", "blue", "other"]


def tool(**parameters):
    return [{"name": "f", "parameters": {"type": "object", **parameters}}]


def call(**arguments):
    return {"name": "f", "arguments": arguments}


def defaults(tools, less, more, name):
    """Give the values of a member that are the same as leaving it out, on either side."""
    evaluator = ToolCalls(tools)
    found = [value for value in SOME if evaluator(more(name, value), less).passed]
    assert found == [value for value in SOME if evaluator(less, more(name, value)).passed]
    return found


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
        "escaped": {"$ref": "#/$defs/a~1b%20c"},
        "both": {"default": 7},
    },
    "patternProperties": {"^x_": {"default": 6}, "h$": {"default": 7.0}},
    "additionalProperties": {"default": "other"},
    "$defs": {"Size": {"type": "integer", "default": 2}, "a/b c": {"default": 5}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("plain", 1), ("of another", 2), ("beside a reference", 3), ("of every choice", 1), ("the same twice", 1),
        ("two that differ", NOTHING), ("of one choice", NOTHING), ("none", NOTHING), ("null", NOTHING), ("itself", NOTHING),
        ("escaped", 5), ("unnamed", "other"), ("x_1", 6), ("x_h", NOTHING), ("both", 7),
    ],
)  # fmt: skip
def test_a_default_is_one_that_holds_without_a_choice(name, default):
    inner = tool(properties={"o": {"$ref": "#/$defs/Root"}}, **{"$defs": {"Root": ROOT, **ROOT["$defs"]}})  # fmt: skip
    expected = [] if default is NOTHING else [default]
    assert defaults(tool(**ROOT), call(), lambda key, value: call(**{key: value}), name) == expected
    assert defaults(inner, call(o={}), lambda key, value: call(o={key: value}), name) == expected


def of_kind(kind, **properties):
    return {"type": "object", "properties": {"kind": kind, **properties}}


CIRCLE = of_kind({"const": "circle"}, color={"default": "red"}, r={"default": 1})
SQUARE = of_kind({"enum": ["square"]}, color={"default": "blue"})
BOX = {"type": "object", "properties": {"w": {"type": "integer"}, "d": {"default": 1}}, "required": ["w"]}  # fmt: skip
BAG = {"type": "object", "properties": {"v": {"type": "integer"}, "d": {"default": 2}}, "required": ["v"]}  # fmt: skip


@pytest.mark.parametrize(
    ("alternatives", "value", "name", "default"),
    [
        ([CIRCLE, SQUARE], {"kind": "circle"}, "color", "red"),
        ([CIRCLE, SQUARE], {"kind": "square"}, "color", "blue"),
        ([CIRCLE, SQUARE], {"kind": "square"}, "r", NOTHING),
        ([CIRCLE, SQUARE], {}, "color", NOTHING),
        ([CIRCLE, {"type": "null"}], {}, "color", "red"),
        ([{"$ref": "#/$defs/Circle"}, SQUARE], {"kind": "circle"}, "r", 1),
        ([BOX, BAG], {"w": 1}, "d", 1),
        ([BOX, BAG], {"v": 1}, "d", 2),
        ([{"required": ["a"]}, {"required": ["b"]}], {"a": 1}, "always", 5),
    ],
)  # fmt: skip
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_default_is_that_of_the_alternative_that_is_meant(keyword, alternatives, value, name, default):  # fmt: skip
    union = {keyword: alternatives, "properties": {"always": {"default": 5}, "a": {}}}
    expected = [] if default is NOTHING else [default]
    definitions = {"$defs": {"Circle": CIRCLE}}
    root = tool(**union, **definitions)
    within = tool(properties={"p": {"items": union}}, **definitions)
    unordered = tool(properties={"p": {"items": union, "uniqueItems": True}}, **definitions)
    assert defaults(root, call(**value), lambda key, one: call(**value, **{key: one}), name) == expected  # fmt: skip
    for tools in (within, unordered):
        assert defaults(tools, call(p=[value]), lambda key, one: call(p=[{**value, key: one}]), name) == expected  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "right"),
    [(["circle"], "red"), (["circle", "oval"], "red"), (["square"], "blue"), (["circle", "square"], NOTHING)],
)  # fmt: skip
def test_accepted_values_of_a_reference_select_the_alternative_that_one_of_them_fits(kinds, right):
    tools = tool(properties={"s": {"anyOf": [CIRCLE, SQUARE]}})
    marked, listed = call(s={"kind": {"$any_of": kinds}}), call(s=[{"kind": kinds}])
    for color in ("red", "blue"):
        made = call(s={"kind": kinds[0], "color": color})
        assert ToolCalls(tools)(made, marked).passed is (color == right)
        assert ToolCalls(tools, alternatives="listed")(made, listed).passed is (color == right)


def variant(kind, required=(), **defaults):
    properties = {name: {} if value is ... else {"default": value} for name, value in defaults.items()}  # fmt: skip
    return {**of_kind({"const": kind}, **properties), "required": ["kind", *required]}


SHAPES = [variant("circle", color="red", r=1), variant("square", color="blue"), {"type": "null"}]
LIMITS = [variant("a", limit=10), variant("b", ["limit"], limit=...)]


@pytest.mark.parametrize(
    ("alternatives", "output", "reference", "reason"),
    [
        (LIMITS, {"kind": "b"}, {"kind": "b", "limit": 10}, "limit missing"),
        (SHAPES, {"kind": "circle"}, {"kind": "circle", "color": "red"}, None),
        (SHAPES, {"kind": "square"}, {"kind": "square", "color": "red"}, 'color "blue", expected "red"'),
        (SHAPES, {"kind": "square", "n": 1}, {"kind": "circle", "n": 1}, 'kind "square", expected'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_the_alternative_that_is_meant(alternatives, output, reference, reason):  # fmt: skip
    tools = tool(properties={"s": {"anyOf": alternatives}, "many": {"items": {"oneOf": alternatives}}})  # fmt: skip
    for made, expected in (
        (call(s=output), call(s=reference)),
        (call(many=[output]), call(many=[reference])),
    ):
        result = ToolCalls(tools)(made, expected)
        assert result.passed is (reason is None)
        assert reason is None or reason in result.reason


def test_beyond_the_limit_of_pairs_defaults_still_count():
    tags = {"type": "array", "default": [{"n": n} for n in range(20)], "uniqueItems": True}
    item = {"type": "object", "properties": {"id": {}, "tags": tags}}
    items = {"type": "array", "items": item, "uniqueItems": True}
    tools = tool(properties={"items": items, "last": {"type": "array", "default": ["p", "q"]}})
    reference = call(items=[{"id": n + 1000 * (n % 2)} for n in range(210)])
    others = [{"n": n} for n in range(20, 40)]
    made = [{"id": n, "tags": others} for n in reversed(range(210))]
    result = ToolCalls(tools)(call(items=made, last=["p", "z"]), reference)
    assert "/items" in result.metadata["limit_reached"]
    assert result.metadata["fields"]["/f/last/*"] == {"match": 1, "mismatch": 1}


SET = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("output", "expected", "reason"),
    [
        ([[1, 2], [3]], [[3], [2, 1]], "The call is right"),
        ([[1, 2], [3]], [[2, 1]], "f: /a/1 extra"),
        ([[1], [1], [2]], [[1], [2], [2]], "f: /a/1 missing; /a/1 extra"),
        ([[1], [2]], [[{"$any_of": [1, 2]}], [1]], "The call is right"),
        ([[1, 2, 3]], [[3, 2, 9]], "f: /a/0/0 1, expected 9"),
        ([[1], [2, 3], [7]], [[7], [3, 4], [1]], "f: /a/1/0 2, expected 4"),
    ],
)
def test_sets_are_the_same_in_any_order_at_every_level(output, expected, reason):
    result = ToolCalls(tool(properties={"a": {**SET, "items": SET}}))(
        call(a=output), call(a=expected)
    )
    assert result.reason == reason


@pytest.mark.parametrize(
    ("how", "expected", "score"),
    [
        ("subset", call(x="a", y=1), 1),
        ("exact", call(x="a", y=1), 2 / 3),
        ("exact", call(x={"$any_of": ["a"], "$optional": True}, y=1), 1),
        ("superset", call(x={"$any_of": ["a"], "$optional": True}), 1),
    ],
)
def test_what_may_be_left_out_may_be_though_the_tool_requires_it(how, expected, score):
    tools = tool(properties={"x": {"type": "string"}, "y": {"type": "integer"}}, required=["x"])
    assert ToolCalls(tools, arguments=how)(call(y=1), expected).score == pytest.approx(score)
