"""What is wrong, worded for the model that wrote it."""

import pytest

from llmeval_integrations import (
    JsonFields,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    LengthPenalty,
    Result,
    ToolCalls,
    ToolCallSchema,
    WeightedSum,
)

PROPERTIES = {"city": {"type": "string"}, "days": {"type": "integer"}}
PARAMETERS = {"type": "object", "properties": PROPERTIES, "required": ["city"]}
TOOLS = [{"name": "weather", "parameters": PARAMETERS}]


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


CASES = {
    "not JSON": (JsonValidity()('{"a": 1,}'), ["it cannot be read as JSON: a comma before a closing bracket, or after the end: '{\"a\": 1,}' (line 1, column 9)"]),
    "a limit": (JsonMatch()("1e400", "1"), ["it cannot be read as JSON: a number beyond 308 digits or a double: '1e400' (line 1, column 1)"]),
    "a schema": (
        JsonSchema({"required": ["a"], "properties": {"b": {"type": "integer"}}})({"b": "x"}),
        ['the whole: "a" is a required property', '/b: "x" is not of type "integer"'],
    ),
    "differences": (
        JsonMatch()({"b": "é", "d": 0}, {"b": 1, "c": 2}),
        ['/b: "é" is wrong, expected 1', "/c: missing, expected 2", "/d: 0 should not be there"],
    ),
    "fields": (JsonFields()({"a": 1, "b": 2}, {"a": 1, "b": 3}), ["/b: 2 is wrong, expected 3"]),
    "calls": (
        ToolCalls()(
            [call("weather", city="Rome"), call("clock")],
            [call("weather", city="Paris"), call("sum", a=1), call("stop")],
        ),
        ['weather: /city: "Rome" is wrong, expected "Paris"', "clock: the call should be of sum", "stop: this call is missing"],
    ),
    "an extra call": (ToolCalls()([call("stop")], []), ["stop: this call should not be made"]),
    "a call that is made twice": (
        ToolCalls()([call("sum", a=1), call("sum", a=2)], call("sum", a=1)),
        ["sum: this call should not be made", "sum: /a: 2 should not be there"],
    ),
    "a missing call": (ToolCalls()([], call("sum", a=1)), ["sum: this call is missing", "sum: /a: missing, expected 1"]),
    "a call out of order": (
        ToolCalls(call_order="strict")([call("stop"), call("sum", a=2)], [call("sum", a=1), call("stop")]),
        ["sum: this call is in the wrong order", "sum: /a: 2 is wrong, expected 1"],
    ),
    "calls of tools": (
        ToolCallSchema(TOOLS)([call("weather", days="x"), call("wether")]),
        ['weather: /days: "x" is not of type "integer"', 'weather: the whole: "city" is a required property', "wether: the whole: there is no such tool"],
    ),
    "a sum": (
        WeightedSum({JsonValidity(): 1, LengthPenalty(min_length=10): 1})("{}"),
        ["length_penalty: Too short: 2 < 10"],
    ),
    "all findings of a part": (
        WeightedSum([(ToolCallSchema(TOOLS), 1)])([{"name": "weather", "arguments": {"days": "1"}}]),
        ['tool_call_schema: weather: /days: "1" is not of type "integer"', 'tool_call_schema: weather: the whole: "city" is a required property'],
    ),
    "a reason alone": (Result(0.0, False, None, "Too rude"), ["Too rude"]),
    "details of a user's own": (
        Result(0.0, False, None, "Too rude", {"errors": ["a"], "differences": 3, "outcomes": "b", "calls": [{"name": "c"}, 1], "parts": ["d"], "offset": 2}),
        ["Too rude"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_finding_is_a_line(case):
    result, lines = CASES[case]
    assert result.feedback().splitlines() == [
        "The answer was not accepted:",
        *(f"- {line}" for line in lines),
    ]


def test_there_is_none_where_nothing_failed():
    for result in (Result(1.0, True), Result.unscored("The judge was cut"), Result(0.5)):
        assert result.feedback() == ""


def test_all_findings_are_named_and_those_beyond_what_fits_are_counted():
    output, reference = [[*range(count, count + 1_000)] for count in (0, 5_000)]
    result = JsonMatch()(output[:50], reference[:50])
    assert len(result.feedback().splitlines()) == 51
    feedback = JsonMatch()(output, reference).feedback(most=500)
    assert len(feedback) <= 500
    *_, last, more = feedback.splitlines()
    assert last.endswith(f"expected {5_000 + len(feedback.splitlines()) - 3}")
    assert more == f"- and {1_000 - len(feedback.splitlines()) + 2} more"


def test_a_long_value_is_cut_in_the_middle():
    [_, line] = JsonMatch()({"a": "x" * 5_000}, {"a": 1}).feedback().splitlines()
    assert len(line) < 600
    assert line.endswith('xxx" is wrong, expected 1')
