"""Tool calls: what is right, what each mistake costs, and what the result says about it."""

import json
import random

import pytest
from pace import at_most

from llmeval_integrations import (
    InvalidOptionError,
    InvalidReferenceError,
    InvalidSchemaError,
    ToolCalls,
)

TOOLS = [
    {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "default": 1},
                "units": {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
            },
            "required": ["city"],
        },
    },
    {"name": "book", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}},
    {"name": "now"},
]  # fmt: skip
PLAIN = ToolCalls()


def call(name="weather", **arguments):
    return {"name": name, "arguments": arguments}


PARIS = call(city="Paris")


WRONG = "wrong_arguments"


@pytest.mark.parametrize(
    ("output", "reference", "score", "label", "reason"),
    [
        (PARIS, PARIS, 1, None, "The call is right"),
        ([PARIS, call("book", id=1)], [call("book", id=1), PARIS], 1, None, "All 2 calls are right"),
        ([], [], 1, None, "No call, as expected"),
        ("It rains.", [], 1, None, "No call, as expected"),
        ('{"answer": 42}', [], 1, None, "No call, as expected"),
        ('{"answer": 42}', PARIS, 0, "not_a_call", None),
        (call(city="Rome"), PARIS, 1 / 2, WRONG, 'weather: /city "Rome", expected "Paris"'),
        (call(), PARIS, 1 / 2, WRONG, "weather: /city missing"),
        (call(a={"b": [1, 2]}), call(a={"b": [1, 3]}), 2 / 3, WRONG, "weather: /a/b/1 2, expected 3"),
        (call(city="Rome"), call(city={"$any_of": ["Oslo", "Bern", "Cork", "Graz"]}), 1 / 2, WRONG,
         'weather: /city "Rome", expected "Oslo" or "Bern" or "Cork" or 1 more'),
        (call(city="x" * 80 + "Rome"), call(city={"$any_of": ["x" * 80 + "Oslo", "Bern"]}), 1 / 2, WRONG,
         f'weather: /city ...{"x" * 20}Rome", expected ...{"x" * 20}Oslo" or "Bern"'),
        (call(a=1, b=1, c=1), call(a=2, b=2, c=2), 1 / 4, WRONG, "weather: /a 1, expected 2; /b 1, expected 2; and 1 more"),
        (call("book", city="Paris"), PARIS, 0, "wrong_name", "called book, expected weather"),
        ([call("book"), call(city="Rome")], [call(city="Oslo"), call(city="Bern")], 1 / 4, "wrong_name",  # the nearest of equal pairs
         'called book, expected weather; weather: /city "Rome", expected "Bern"'),
        ([], PARIS, 0, "missing", "weather missing"),
        ([PARIS, PARIS], PARIS, 2 / 3, "extra", "weather extra"),
        ([call(city="Rome"), PARIS, call("book")], [call(city="Oslo"), PARIS], 3 / 5, "extra", 'weather: /city "Rome", expected "Oslo"; book extra'),
        ('{"name": "weather", "arguments": {', PARIS, 0, "truncated", None),
        ({"name": "weather", "arguments": "{"}, PARIS, 0, "unreadable", None),
    ],
)  # fmt: skip
def test_a_score_is_the_share_of_what_is_right_and_the_reason_names_the_rest(output, reference, score, label, reason):  # fmt: skip
    result = PLAIN(output, reference)
    assert result.score == pytest.approx(score)
    assert (result.passed, result.label) == (score == 1, label)
    assert reason is None or result.reason == reason


def test_each_call_is_told_with_its_places_and_pointers():
    output = [call(city="Rome", days=2), call("book", id=1), call("book", id=9), {"name": "now", "arguments": "["}]  # fmt: skip
    reference = [call("book", id=1), call(city="Paris"), call("now"), call("gone")]
    result = PLAIN(output, reference)
    assert result.metadata["calls"] == [
        {"kind": "right", "score": 1.0, "name": "book", "output": 1, "reference": 0},
        {"kind": "wrong_arguments", "score": pytest.approx(1 / 3), "name": "weather", "output": 0, "reference": 1,
         "arguments": [{"pointer": "/city", "kind": "mismatch", "output": "Rome", "reference": "Paris", "field": "/weather/city"},
                       {"pointer": "/days", "kind": "extra", "output": 2, "field": "/weather/days"}]},
        {"kind": "unreadable", "score": 0.0, "name": "now", "output": 3, "reference": 2,
         "problem": result.metadata["calls"][2]["problem"]},
        {"kind": "wrong_name", "score": 0.0, "name": "book", "output": 2, "reference": 3, "expected_name": "gone", "arguments": [{"pointer": "/id", "kind": "extra", "output": 9}]},
    ]  # fmt: skip
    assert "truncated" in result.metadata["calls"][2]["problem"]
    assert result.score == pytest.approx((1 + 1 / 3) / 4)
    counts = {
        key: value for key, value in result.metadata.items() if key not in ("calls", "fields")
    }
    shares = dict.fromkeys(("precision", "recall", "f1"), 1 / 4)
    assert counts == {"called": 4, "expected": 4, "right": 1, **shares}
    assert result.metadata["fields"] == {
        "/book/id": {"match": 1, "extra": 1},
        "/weather/city": {"mismatch": 1},
        "/weather/days": {"extra": 1},
    }


def test_an_expected_call_counts_for_its_tool_whatever_is_made_in_its_place():
    for made in ({"tool": "?"}, call("book"), {"name": "book", "arguments": "{"}):
        tally = PLAIN.breakdown()
        tally.add(None, PLAIN([made], PARIS).metadata)
        expected = {name: tool["expected"] for name, tool in tally.summary()["tools"].items()}
        assert expected == {made.get("name", "(unreadable)"): 0, "weather": 1}


@pytest.mark.parametrize(
    ("made", "wanted", "places"),
    [
        ([{"k": 1}], [{"z": 9}, {"k": 1, "o": {"p": 1, "q": 2}}], {"/a/0/o": "missing", "/a/0": "missing"}),
        ([1, ""], [{"x": {"y": 1}}, "2024-01-05", ""], {"/a/0": "wrong_type and missing"}),
    ],
)  # fmt: skip
def test_what_is_missing_is_listed_beside_what_is_wrong_at_its_position(made, wanted, places):
    [row] = ToolCalls(arguments="superset")(call(a=made), call(a=wanted)).metadata["calls"]
    found = [(each["pointer"], each["kind"]) for each in row["arguments"]]
    assert found == [(place, kind) for place in places for kind in places[place].split(" and ")]


def test_a_reason_lists_no_graded_match_and_says_that_a_date_is_ambiguous():
    evaluator = ToolCalls(defaults={"similarity": 0.8, "dates": "any"})
    result = evaluator(call(a="Harbour", b="05/01/2024"), call(a="Harbor", b="2024-02-01"))
    wrong = 'weather: /b "05/01/2024", expected "2024-02-01"'
    assert result.reason == f"{wrong} (05/01/2024: day or month first?)"


def test_whether_a_call_is_valid_is_no_question_of_a_comparison():
    for extra in ({"units": "miles"}, {"made_up": 1}):
        assert ToolCalls(TOOLS, arguments="superset")(call(city="Paris", **extra), PARIS).passed


def test_a_call_that_equals_its_reference_is_right_even_if_the_schema_refuses_both():
    schema = {"type": "object", "properties": {"x": {}, "y": {}}, "minProperties": 2}
    f = {"name": "f", "arguments": {"x": 1}}
    assert ToolCalls([{"name": "f", "parameters": schema}])(f, f).passed


def test_in_a_union_the_side_that_lacks_a_member_defines_its_default():
    kinds = [
        {"properties": {"k": {"const": "a"}, "p": {}}},
        {"properties": {"k": {"const": "b"}, "p": {"default": 5}}},
    ]
    schema = {"type": "object", "properties": {"u": {"anyOf": kinds}}}
    evaluator = ToolCalls([{"name": "f", "parameters": schema}])
    long, short = ({"name": "f", "arguments": {"u": u}} for u in ({"k": "a", "p": 5}, {"k": "b"}))
    assert evaluator(long, short).score == pytest.approx(2 / 3)
    assert evaluator(short, long).score == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("how", "expected", "output", "right"),
    [
        ("marked", {"a": {"$any_of": ["NYC", "New York"]}}, {"a": "New York"}, True),
        ("marked", {"a": {"$any_of": ["NYC"], "$optional": True}}, {}, True),
        ("marked", {"a": {"$optional": True}}, {}, True),
        ("marked", {"a": [{"b": {"$any_of": [1, [2]]}}]}, {"a": [{"b": [2.0]}]}, True),
        ("marked", {"a": {"$any_of": [{"b": {"$any_of": [1, 2]}}, 3]}}, {"a": {"b": 2}}, True),
        ("listed", {"a": [1, 2]}, {"a": 2}, True),
        ("listed", {"a": [1, ""]}, {}, True),
        ("listed", {"a": [1]}, {}, False),
        ("listed", {"a": [{"$any_of": [1, 2]}]}, {"a": 1}, False),
        ("listed", {"a": [{"b": [1, 2], "c": ["x", ""]}]}, {"a": {"b": 2}}, True),
        ("listed", {"a": [["x", "y"]]}, {"a": ["x", "y"]}, True),
    ],
)
def test_alternatives_are_marked_in_the_reference_or_listed_as_in_bfcl(
    how, expected, output, right
):
    evaluator = ToolCalls(alternatives=how)
    assert evaluator(call("f", **output), call("f", **expected)).passed is right


def test_the_answers_of_bfcl_are_read_in_their_own_form():
    answers = [{"area": {"base": [10], "unit": ["units", ""]}}]
    evaluator = ToolCalls(alternatives="listed")
    for form in (answers, answers[0], json.dumps(answers)):
        assert evaluator(call("area", base=10), form).passed
        assert not evaluator(call("area", base=10, unit="cm"), form).passed
    several = {**answers[0], "now": {}}
    assert evaluator([call("now"), call("area", base=10)], several).passed


A, B, C = call("a"), call("b"), call("c")


@pytest.mark.parametrize(
    ("output", "before", "late"),
    [
        ([C, B, A], [("a", "b"), ("b", "c")], [1, 2]),
        ([C, A, B], [("a", "b"), ("b", "c")], [2]),
        ([C, A, B], [("a", 2)], [2]),
        ([B, A, C], [[0, 1]], [1]),
        # What was not made, and what was not expected, comes before and after nothing.
        ([C, A], [("a", "b"), ("b", "c")], []),
    ],
)
def test_of_each_pair_that_is_violated_the_call_that_came_too_early_is_wrong(output, before, late):
    result = ToolCalls(before=before)(output, [A, B, C])
    assert result.label in ("wrong_order", "missing")
    assert PLAIN(output, [A, B, C], variables={"before": before}) == result
    rows = result.metadata["calls"]
    assert [row["reference"] for row in rows if row["kind"] == "wrong_order"] == late
    assert result.score == pytest.approx(2 * (len(output) - len(late)) / (len(output) + 3))


def test_one_thousand_calls_are_paired_and_the_limit_is_named():
    calls = [call("f", n=n) for n in range(1_000)]
    shuffled = random.Random(1).sample(calls, 1_000)
    with at_most(3):
        result = PLAIN(shuffled, calls)
    assert result.passed
    assert "limit_reached" not in result.metadata  # calls that are equal need no trying
    made = [*shuffled[:500], *(call("f", n=-n) for n in range(1, 501))]
    worse = PLAIN([*made, call("g", x=2, y=3), call("g", x=1, y=4)], [*calls, call("g", x=1, y=1), call("g", x=2, y=2)])  # fmt: skip
    assert (worse.metadata["right"], "not all were tried" in worse.reason) == (500, True)
    assert worse.metadata["limit_reached"] == [""]
    assert ToolCalls(call_order="strict")(shuffled, calls).metadata["limit_reached"] == [""]
    # All pairs of the other tool are tried.
    assert [row["output"] for row in worse.metadata["calls"] if row["name"] == "g"] == [1001, 1000]


def test_pairs_of_long_texts_that_may_be_similar_reach_the_limit_sooner():
    def texts(start):
        return [f"{n} " * 2_000 for n in range(start, start + 60)]

    evaluator = ToolCalls(defaults={"similarity": 0.9})
    made, expected = texts(1_000), texts(2_000)
    forms = [
        (lambda several: [call(text=text) for text in several], ""),
        (lambda several: call(texts=several), "/texts"),
        (lambda several: call(items=[{"text": text} for text in several]), "/items"),
    ]
    for write, place in forms:
        with at_most(1):
            result = evaluator(write(made), write(expected))
        assert result.metadata["limit_reached"] == [place]
    # Equal calls are still paired, in any order.
    result = evaluator([call(text=text) for text in [*made[::-1], "x"]], [call(text=text) for text in [*made, "y"]])  # fmt: skip
    assert result.metadata["right"] == 60


NO_CALLS = "contains no tool calls"
MISSPELT = r"is not \{'\$any_of'"
LISTING = {"alternatives": "listed"}


@pytest.mark.parametrize(
    ("reference", "options", "words"),
    [
        *((text, {}, NO_CALLS) for text in ("It rains.", "", "{", "5", '"see ticket 12"', '{"answer": 1}', "[1]")),
        (False, {}, NO_CALLS),
        ({"name": "weather", "arguments": "{"}, {}, "truncated"),
        *((form, {}, r'; write {"name": ..., "arguments": {...}}, or a list of these, not ') for form in
          (["weather"], {"tool": "weather", "args": {}}, {"name": "weather", "kwargs": {"city": "Paris"}})),
        (call("wether"), {"tools": TOOLS}, "no tool 'wether', .*; did you mean 'weather'. there are weather, book, now$"),
        *((call(city=choice), {}, r"\$any_of") for choice in
          ({"$any_of": "x"}, {"$any_of": []}, {"$optional": False}, {"$any_of": [1], "x": 1})),
        *((call(city=[{key: [1]}]), {}, MISSPELT) for key in ("$anyof", "$Any_of", "$any", "$optinal", "$Optional")),
        ({"name": "f", "arguments": {"$anyof": [{"a": 1}]}}, {}, "any_of"),
        *(({"name": "f", "arguments": choice}, {}, "replaces all arguments of 'f'") for choice in
          ({"$any_of": [{"a": 1}]}, {"$optional": True})),
        *((answers, LISTING, NO_CALLS) for answers in
          ({"f": {"a": 1}}, {"f": [1]}, [[{"f": {"a": [1]}}]], '[{"f": {"a": [1]}')),
        (call("f", a=1), LISTING, "'a'"),
    ],
)  # fmt: skip
def test_a_reference_that_holds_no_calls_is_the_callers_fault(reference, options, words):
    with pytest.raises(InvalidReferenceError, match=words):
        ToolCalls(**options)([], reference)


@pytest.mark.parametrize("arguments", ["exact", "superset"])
def test_a_reference_has_no_argument_that_its_tool_does_not_declare(arguments):
    reference = call(city="Paris", made_up=1)
    with pytest.raises(InvalidReferenceError, match="declares no argument 'made_up'"):
        ToolCalls(TOOLS, arguments=arguments)(PARIS, reference)
    for how in ("subset", "ignore"):
        assert ToolCalls(TOOLS, arguments=how)(PARIS, reference).scored


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tools": 3}, "tool_calls: tools"),
        ({"tools": [{"name": "f", "parameters": {"type": "nonsense"}}]}, "tool 'f'"),
        ({"call_order": "partial"}, "call_order="),
        ({"call_order": "strict", "before": [("a", "b")]}, "call_order='any'"),
        ({"before": "ab"}, "before="),
        ({"before": [1]}, "before="),
        ({"before": [(True, -1)]}, "before="),
        ({"before": [(0, 0)]}, "0 before 0"),
        ({"before": [("a", "b"), ("b", "c"), ("c", "a")]}, "'a' before 'b' before 'c' before 'a'"),
        ({"tools": TOOLS, "before": [("wether", "now")]}, "no tool 'wether'; did you mean 'weather'"),
    ],
)  # fmt: skip
def test_an_option_that_makes_no_sense_is_refused(options, words):
    with pytest.raises(InvalidOptionError, match=words):
        ToolCalls(**options)


def test_what_a_sample_lacks_or_says_wrongly_is_named():
    with pytest.raises(InvalidReferenceError, match="before"):
        PLAIN(A, A, variables={"before": [[0, 1]]})
    with pytest.raises(InvalidReferenceError, match="before contradicts itself: 'a' before 'a'"):
        PLAIN(A, A, variables={"before": [["a", "a"]]})
    with pytest.raises(InvalidReferenceError, match="did you mean 'weather'"):
        PLAIN(PARIS, PARIS, variables={"before": [("wether", "now")], "tools": TOOLS})
    with pytest.raises(InvalidReferenceError, match="itself: 0 before 1 before 0"):
        ToolCalls(before=[("a", "b"), (1, 0)])([A, B], [A, B])
    with pytest.raises(InvalidSchemaError, match="example"):
        PLAIN(A, A, variables={"tools": [{"name": "a", "parameters": {"$ref": "http://example.org/"}}]})  # fmt: skip
