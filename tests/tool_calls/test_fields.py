"""Arguments are compared by the rules of fields: by the tool's schema, by `fields` and `defaults`."""

import pickle

import pytest

from llmeval_integrations import InvalidOptionError, ToolCalls


def tool(name, **properties):
    return {"name": name, "parameters": {"type": "object", "properties": properties}}


TEXT, INTEGER, NUMBER = ({"type": kind} for kind in ("string", "integer", "number"))
ITEMS = {"type": "array", "items": {"type": "object", "properties": {"sku": TEXT, "n": INTEGER}}}
TOOLS = [
    tool("weather", city=TEXT, days={"type": "integer", "default": 1}, lat=NUMBER),
    tool(
        "book",
        when={"type": "string", "format": "date-time"},
        guests={"type": "array", "items": TEXT},
        note={"type": ["string", "null"]},
        price=NUMBER,
        items=ITEMS,
    ),
]


def both_late(output, reference):
    return "late" in output and "late" in reference


FIELDS = {
    "weather/city": {"ignore_case": True},
    "*/price": {"tolerance": 0.1},
    "book/guests": {"order": "any_order"},
    "book/note": {"compare": both_late},
    "book/items": {"key": "sku"},
}
RULED = ToolCalls(TOOLS, fields=FIELDS)


def weather(**arguments):
    return {"name": "weather", "arguments": arguments}


def book(**arguments):
    return {"name": "book", "arguments": arguments}


@pytest.mark.parametrize(
    ("output", "reference", "score", "reason"),
    [
        (weather(city="rome", days=1), weather(city="Rome"), 1, None),
        (weather(city="Rome", lat=0.1 + 0.2), weather(city="Rome", lat=0.3), 1, None),
        (weather(city="Rome", lat=0.31), weather(city="Rome", lat=0.3), 2 / 3, None),
        (book(when="2024-01-05T11:00:00+01:00", guests=["B", "A"], price=10.05), book(when="2024-01-05T10:00:00Z", guests=["A", "B"], price=10), 1, None),
        (book(note="running late, sorry"), book(note="I will be late"), 1, None),
        (book(note="soon"), book(note="I will be late"), 1 / 2, None),
        (book(note=None, items=[{"sku": "B", "n": 1}, {"sku": "A", "n": 3}]), book(items=[{"sku": "A", "n": 2}, {"sku": "B", "n": 1}]), 4 / 5, "book: /items/1/n 3, expected 2"),
        ([weather(city="Oslo"), weather(city="Rome")], [weather(city="Rome"), weather(city="OSLO")], 1, None),
        (book(guests=["x", "A", "B"]), book(guests=["B", "A"]), 3 / 4, "book: /guests/0 extra"),
    ],
)  # fmt: skip
def test_arguments_are_compared_by_their_rules(output, reference, score, reason):
    result = RULED(output, reference)
    assert result.score == pytest.approx(score)
    assert result.passed is (score == 1)
    assert reason is None or result.reason == reason


@pytest.mark.parametrize(
    ("options", "output", "reference"),
    [
        ({"fields": {"weather/city": {"ignore_case": True}}}, weather(city="rome"), weather(city="Rome")),
        ({"fields": {"/weather/city": {"ignore_case": True}}}, weather(city="rome"), weather(city="Rome")),
        ({"fields": {"weather": {"ignore_case": True}}}, weather(city="rome"), weather(city="Rome")),
        ({"fields": {"*": {"ignore_case": True}}}, weather(city="rome"), weather(city="Rome")),
        ({"defaults": {"ignore_case": True}}, weather(city="rome"), weather(city="Rome")),
        ({"defaults": {"ignore_case": True}}, weather(city="rome"), weather(city={"$any_of": ["Oslo", "Rome"]})),
        ({"fields": {"book/items/*/sku": {"ignore_case": True}}}, book(items=[{"sku": "a"}]), book(items=[{"sku": "A"}])),
        ({"fields": {"*/city": {"text": "loose"}}}, weather(city="L’Aquila "), weather(city="l'aquila")),
        ({"fields": {"weather/city": {"compare": "operator:ne"}}}, weather(city="Rome"), weather(city="Oslo")),
        ({"defaults": {"number": "any"}}, book(note="$1,250.50"), book(note="1250.5 USD")),
        ({"fields": {"book/items": {"key": ["sku", "n"]}}}, book(items=[{"sku": "a", "n": 1}, {"sku": "a", "n": 2}]), book(items=[{"sku": "a", "n": 2}, {"sku": "a", "n": 1}])),
    ],
)  # fmt: skip
def test_rules_hold_with_the_tools_and_without(options, output, reference):
    assert not ToolCalls(TOOLS)(output, reference).passed
    for evaluator in (ToolCalls(TOOLS, **options), ToolCalls(**options)):
        assert evaluator(output, reference).passed
        assert evaluator(output, reference, variables={"tools": TOOLS}).passed
        assert pickle.loads(pickle.dumps(evaluator))(output, reference).passed  # noqa: S301


def test_the_rule_of_a_tool_counts_before_that_of_any_tool():
    fields = {"weather/city": {"ignore_case": False}, "*/city": {"ignore_case": True}}
    assert not ToolCalls(TOOLS, fields=fields)(weather(city="rome"), weather(city="Rome")).passed


@pytest.mark.parametrize("key", ["sku", ["sku", "n"]])
@pytest.mark.parametrize("rule", [{}, {"ignore_case": True}])
@pytest.mark.parametrize(
    ("items", "right"),
    [
        ([{"sku": "B", "n": 2}, {"sku": "A", "n": 1}], True),
        ([{"sku": "B"}, {"sku": "C", "n": 1}], True),
        ([{"sku": "B", "n": 2}, {"sku": "D", "n": 1}], False),
        ([{"n": 2}, {"sku": "A", "n": 1}], False),
    ],
)
def test_a_key_may_have_several_accepted_values(key, rule, items, right):
    several = {"sku": {"$any_of": ["A", "C"]}, "n": 1}
    last = {"sku": "B", "n": {"$any_of": [2], "$optional": True}}
    evaluator = ToolCalls(TOOLS, fields={"book/items": {"key": key}, "book/items/*/sku": rule})
    assert evaluator(book(items=items), book(items=[several, last])).passed is right
    choice = {"$any_of": [{"sku": "A", "n": 1}, {"sku": "C", "n": 1}]}
    assert evaluator(book(items=items), book(items=[choice, last])).passed is right


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"wether/city": {}}, "there is no tool 'wether'; did you mean 'weather'"),
        ({"weather/town": {"ignore_case": True}}, "the tool 'weather': the schema has no '/town'"),
        ({"weather/citi": {}}, "did you mean '/city'"),
        ({"*/pric": {}}, "no tool has 'pric'; did you mean 'price'"),
        (
            {"weather/city": {"ignorecase": True}},
            r"fields\['weather/city'\]: 'ignorecase' is not a setting",
        ),
        ({"book/items": {"key": "id"}}, "no '/items/\\*/id'"),
        ({"weather/city": True}, "is not a mapping"),
        ([], "fields"),
    ],
)
def test_a_rule_for_what_there_is_not_is_refused_by_name(fields, words):
    with pytest.raises(InvalidOptionError, match=words):
        ToolCalls(TOOLS, fields=fields)


@pytest.mark.parametrize("path", ["", "/", "//city"])
def test_a_path_without_a_tool_is_refused_also_without_tools(path):
    with pytest.raises(InvalidOptionError, match="names no tool"):
        ToolCalls(fields={path: {"ignore_case": True}})
