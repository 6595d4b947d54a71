"""The arithmetic of ToolCalls, counted by hand; and the law that no looser rule lowers a score."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llmeval_integrations import ToolCalls

TOOLS = [
    {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "d": {"type": "integer", "default": 1},
                "o": {"type": "object"},
                "l": {"type": "array"},
                "t": {"type": "string"},
            },
        },
    },
    {"name": "g", "parameters": {"type": "object", "properties": {"a": {}}}},
]


def f(**arguments):
    return {"name": "f", "arguments": arguments}


def g(**arguments):
    return {"name": "g", "arguments": arguments}


@pytest.mark.parametrize(
    ("options", "output", "reference", "calls", "leaves"),
    [
        ({}, [], [], 1, 1),
        ({}, f(), f(), 1, 1),
        ({}, f(a=1), f(a=2), 1 / 2, 2 * 1 / (2 + 2)),
        ({}, f(a=1, t="x"), f(a=1), 2 / 3, 2 * 2 / (3 + 2)),
        ({}, f(a=1), f(a=1, t="x"), 2 / 3, 2 * 2 / (2 + 3)),
        # One argument with three leaves counts three times.
        ({}, f(a=1, o={"x": 1, "y": 2, "z": 3}), f(a=2, o={"x": 1, "y": 2, "z": 3}), 4 / 5, 2 * 4 / (5 + 5)),
        ({}, f(l=["x", "y", "z"]), f(l=["y", "z"]), 3 / 4, 2 * 3 / (4 + 3)),
        # Calls that one side lacks, and calls of another tool.
        ({}, [f(a=1), f(a=1)], f(a=1), 2 / 3, 2 * 2 / (4 + 2)),
        ({}, [], f(a=1), 0, 0),
        ({}, g(a=1), f(a=1), 0, 0),
        # A default is a leaf where one side leaves it out, and none where both do.
        ({}, f(a=1, d=1), f(a=2), 2 / 3, 2 * 2 / (3 + 3)),
        ({}, f(a=1), f(a=2, d=1), 2 / 3, 2 * 2 / (3 + 3)),
        # Null and empty members are left out.
        ({}, f(a=1, t=None, o={}, l=[]), f(a=1), 1, 1),
        ({}, f(a=1), f(a=1, o={"x": None}), 1, 1),
        ({}, f(a=1, d=None), f(a=1, d=1), 1, 1),
        ({}, f(a=1), f(a=1, t={"$any_of": ["x", None]}), 1, 1),
        ({}, f(l=[None]), f(l=[]), 1 / 2, 2 * 1 / (2 + 1)),
        # An empty item is a leaf, however items are paired.
        ({"defaults": {"order": "ordered"}}, f(l=[{}]), f(l=[{"x": 1}]), 1 / 2, 2 * 1 / (2 + 2)),
        # Choices are one leaf, as similar as the nearest.
        ({}, f(a=1), f(a={"$any_of": [2, 1]}), 1, 1),
        ({}, f(a=1, o={"x": 1, "y": 2}), f(a=1, o={"$any_of": [{"x": 1}, {"z": 5}]}), (1 + 1 + 2 / 3) / 3, 2 * (2 + 2 / 3) / (3 + 3)),
        ({}, f(a=1), f(a=1, o={"$any_of": [{"x": 1, "y": 2}, 3]}), 2 / 3, 2 * 2 / (2 + 3)),
        ({"arguments": "superset"}, f(a=1, t="x"), f(a=1), 1, 1),
        ({"arguments": "superset"}, f(a=1, t=None), f(a=1), 1, 1),
        ({"arguments": "subset"}, f(a=1), f(a=1, t="x"), 1, 1),
        ({"arguments": "subset"}, f(a=1, t="x"), f(a=1), 2 / 3, 2 * 2 / (3 + 2)),
        ({"arguments": "ignore"}, f(a=1, t="x"), f(a=2), 1 / 2, 2 * 1 / (2 + 2)),
        ({"arguments": "ignore"}, f(a=1, t="x"), f(a=1, l=[1]), 1, 1),
        ({"call_order": "strict"}, [g(), f(a=1)], [f(a=1), g()], 1 / 2, 2 * 2 / (3 + 3)),
        # Of pairs with equal matches, the one that needs no default has fewer leaves.
        ({"call_order": "strict"}, f(a=9), [f(a=1, d=3), f(a=1)], 1 / 3, 2 * 1 / (2 + 5)),
        # A call that has no pair counts with all its leaves, and pairs are those of the best score.
        ({"call_order": "strict", "arguments": "superset"}, [f(t="x"), g(a=1)], [g(a=1), f()], 1 / 2, 2 * 2 / (4 + 3)),
        ({"call_order": "strict", "arguments": "superset"}, [f(a=1, t="y"), f(a=1, l=[1] * 9)], f(a=1, t="y"), 2 / 3, 2 * 2 / (5 + 3)),
        ({"call_order": "strict", "arguments": "ignore"}, [f(a=1), g(a=1)], [g(a=1), f(a=2)], 1 / 2, 2 * 2 / (4 + 4)),
        ({"before": [("f", "g")]}, [g(), f(a=1)], [f(a=1), g()], 1 / 2, 2 * 2 / (3 + 3)),
        ({"defaults": {"similarity": 0.8}}, f(t="Harbour"), f(t="Harbor"), (1 + 6 / 7) / 2, 2 * (1 + 6 / 7) / 4),
        ({"fields": {"f/t": {"weight": 3}}}, f(a=1, t="x"), f(a=1, t="y"), 2 / 5, 2 * 2 / (5 + 5)),
        ({"fields": {"f/t": {"ignore": True}}}, f(a=1, t="x"), f(a=1), 1, 1),
    ],
)  # fmt: skip
def test_the_score_is_what_one_counts_by_hand(options, output, reference, calls, leaves):
    for score, expected in (("calls", calls), ("leaves", leaves)):
        result = ToolCalls(TOOLS, score=score, **options)(output, reference)
        assert result.score == pytest.approx(expected)
        is_graded = "similarity" in str(options)
        assert result.passed is (expected == 1 or is_graded)


def test_of_pairings_with_the_same_score_the_one_with_more_right_calls_counts():
    made = [f(a=1, b=1, c=1), f(a=1, b=3, c=1)]
    expected = [f(a=1, b=1, c=2), f(a=1, b=1, c=1)]
    result = ToolCalls(arguments="superset")(made, expected)
    assert (result.score, result.metadata["right"]) == (pytest.approx(3 / 4), 1)


values = st.sampled_from([1, 1.04, 2, "a", "A ", "ab", None, [], [1, 2], [2, 1], [2], {"x": 1}])
arguments = st.dictionaries(st.sampled_from(["a", "b", "c"]), values, max_size=3)
several = st.lists(
    st.builds(lambda name, its: {"name": name, "arguments": its}, st.sampled_from("fg"), arguments),
    max_size=4,
)
LOOSER = [
    {"ignore_case": True, "ignore_whitespace": True},
    {"tolerance": 0.1},
    {"similarity": 0.4},
    {"coerce": True},
    {"order": "any_order"},
]


SCORES = st.sampled_from(["calls", "leaves"])


DEFAULTS = {"b": {"default": 2}, "c": {"default": "a"}}
WITH_DEFAULTS = [
    {"name": name, "parameters": {"properties": DEFAULTS, "additionalProperties": True}}
    for name in "fg"
]


TOOLS_OR_NONE = st.sampled_from([None, WITH_DEFAULTS])
HOW = st.sampled_from(["exact", "superset", "subset", "ignore"])


@settings(max_examples=400, deadline=None)
@given(several, several, st.sampled_from(LOOSER), SCORES, TOOLS_OR_NONE, HOW)
@example([f(c=True, a=2)], [f(c="true"), f(c=True, a=2, b=[1, 2])], {"coerce": True}, "leaves", None, "exact")  # fmt: skip
def test_no_looser_rule_lowers_the_score_of_calls(output, reference, looser, score, tools, how):  # fmt: skip
    options = {"tools": tools, "score": score, "arguments": how}
    tight = ToolCalls(**options)(output, reference)
    loose = ToolCalls(defaults=looser, **options)(output, reference)
    assert loose.score >= tight.score - 1e-9
    assert loose.passed or not tight.passed


@settings(max_examples=400, deadline=None)
@given(several, several, SCORES, TOOLS_OR_NONE, HOW)
@example([f(a=1), g()], [f(a=2), f(a=1, b=2, c=3)], "leaves", None, "exact")
@example([f(b=3), f()], [f(a=1, b=2)], "leaves", WITH_DEFAULTS, "exact")
@example([f(), f(a=9, b=2)], [f(c=7, b=2), f()], "leaves", WITH_DEFAULTS, "exact")
@example([f(e=[1, 2]), f(a=1, b=3)], [f(a=1, b=4, c=2), f(), f(b=5)], "leaves", None, "ignore")
def test_no_order_of_calls_is_better_than_any(output, reference, score, tools, how):
    options = {"tools": tools, "score": score, "arguments": how}
    scores = [ToolCalls(**options)(made, reference).score for made in (output, output[::-1])]
    assert scores[0] == pytest.approx(scores[1])
    strict = ToolCalls(call_order="strict", **options)(output, reference)
    assert strict.score <= scores[0] + 1e-9
