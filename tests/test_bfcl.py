"""Calls of the Berkeley Function Calling Leaderboard: right, and gone wrong by one change each."""

import json
import random
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

from llmeval_integrations import ToolCalls, ToolCallSchema

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "bfcl"
CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple")
LISTED = ToolCalls(alternatives="listed")

pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the data is not here"),
    pytest.mark.once,
]


@cache
def records():
    lines = [line for name in CATEGORIES for line in (FOLDER / f"{name}.jsonl").open()]
    return [json.loads(line) for line in lines]


def reference(record):
    """Give the expected calls, each argument with its list of accepted values."""
    return [
        {"name": name, "arguments": arguments}
        for call in record["possible_answers"]
        for name, arguments in call.items()
    ]


def as_expected(record):
    """Give the first accepted value to each argument."""
    return [
        {
            "name": call["name"],
            "arguments": {
                name: first(values)
                for name, values in call["arguments"].items()
                if any(value != "" for value in values)
            },
        }
        for call in reference(record)
    ]


def first(values):
    value = next(value for value in values if value != "")
    if isinstance(value, dict):
        return {name: first(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [
            {name: first(inner) for name, inner in item.items()} if isinstance(item, dict) else item
            for item in value
        ]
    return value


def other(value):
    """Give another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value + " or not"
    if isinstance(value, list):
        return [*value, value[0]] if value else [1]
    key = next(iter(value))
    return {**value, key: other(value[key])}


def is_integer(value, place):
    return type(value) is int and place["schema"].get("type") == "integer"


def is_other_text(value, place):
    is_text = isinstance(value, str) and place["schema"].get("type") == "string"
    return is_text and value.swapcase() not in [*place["accepted"], value]


def is_default(value, place):
    default = place["schema"].get("default", ...)
    return "" not in place["accepted"] and default in place["accepted"]


# what fits an argument to be changed, and what becomes of its value; None leaves it out
ARGUMENT = {
    "integer_as_float": (is_integer, float),
    "number_as_text": (is_integer, str),
    "text_in_another_case": (is_other_text, str.swapcase),
    "default_left_out": (is_default, None),
    "dropped_required": (lambda value, place: place["required"], None),
    "wrong_value": (
        lambda value, place: (
            value is not None
            and other(value) not in [*place["accepted"], place["schema"].get("default")]
        ),
        other,
    ),
}
CALLS = {
    "as_expected": lambda calls, choose: calls,
    "permuted": lambda calls, choose: calls[::-1] if len(calls) > 1 else None,
    "missing_call": lambda calls, choose: choose.sample(calls, len(calls) - 1),
    "extra_call": lambda calls, choose: [*calls, choose.choice(calls)],
    "extra_argument": lambda calls, choose: [
        {**calls[0], "arguments": {**calls[0]["arguments"], "made_up": 1}},
        *calls[1:],
    ],
    "wrong_name": lambda calls, choose: [{**calls[0], "name": "made_up"}, *calls[1:]],
}


def made(record, kind):
    """Make the calls of one kind; None where the case does not allow for it."""
    calls, choose = as_expected(record), random.Random(f"{record['id']} {kind}")
    if kind in CALLS:
        return CALLS[kind](calls, choose)
    fits, change = ARGUMENT[kind]
    tools = {tool["name"]: tool["parameters"] for tool in record["functions"]}
    found = []
    for call, expected in zip(calls, reference(record)):
        tool = tools[call["name"]]
        for name, value in call["arguments"].items():
            place = {
                "accepted": expected["arguments"][name],
                "schema": tool["properties"].get(name, {}),
                "required": name in tool.get("required", []),
            }
            if fits(value, place):
                found.append((call["arguments"], name))
    if not found:
        return None
    arguments, name = choose.choice(found)
    value = arguments.pop(name)
    if change is not None:
        arguments[name] = change(value)
    return calls


def results(kind, evaluator=LISTED, every=4):
    """Evaluate the calls of one kind, made of each record or of every fourth."""
    return [
        evaluator(json.dumps(calls), reference(record), variables={"tools": record["functions"]})
        for record in records()[::every]
        if (calls := made(record, kind)) is not None
    ]


@pytest.mark.parametrize(
    ("kind", "count"),
    [("as_expected", 800), ("permuted", 400), ("integer_as_float", 512), ("default_left_out", 3)],
)
def test_a_harmless_difference_is_right(kind, count):
    assert [result.score for result in results(kind, every=1)] == [1.0] * count


def test_every_accepted_value_of_every_argument_is_right():
    for record in records():
        expected, tools = reference(record), {"tools": record["functions"]}
        calls = as_expected(record)
        for place, call in enumerate(expected):
            for name, values in call["arguments"].items():
                for value in values:
                    if value in ("", None) or isinstance(value, dict) or first([value]) != value:
                        continue
                    changed = deepcopy(calls)
                    changed[place]["arguments"][name] = value
                    assert LISTED(changed, expected, variables=tools).passed, record["id"]


@pytest.mark.parametrize(
    ("kind", "count", "labels", "wrong"),
    [
        ("wrong_value", 200, {"wrong_arguments"}, {"mismatch", "extra"}),
        # the default of what is dropped is another
        ("dropped_required", 200, {"wrong_arguments"}, {"missing", "mismatch"}),
        ("extra_argument", 200, {"wrong_arguments"}, {"extra"}),
        ("number_as_text", 134, {"wrong_arguments"}, {"wrong_type"}),
        ("text_in_another_case", 142, {"wrong_arguments"}, {"mismatch"}),
        ("wrong_name", 200, {"wrong_name"}, None),
        ("missing_call", 200, {"missing"}, None),
        ("extra_call", 200, {"extra"}, None),
    ],
)
def test_a_mistake_is_wrong_and_labelled_as_what_it_is(kind, count, labels, wrong):
    found = results(kind)
    assert len(found) == count
    for result in found:
        assert 0 <= result.score < 1
        assert not result.passed
        assert result.label in labels, result.reason
        if wrong:
            rows = [row for row in result.metadata["calls"] if row["kind"] != "right"]
            assert {one["kind"] for row in rows for one in row["arguments"]} <= wrong


@pytest.mark.parametrize(
    ("kind", "valid", "invalid"),
    [
        ("as_expected", 795, 5),  # five answers are not valid by the schema of their own tool
        ("number_as_text", 0, 512),
    ],
)
def test_calls_that_are_wrong_by_the_schema_alone_are_found_without_a_reference(
    kind, valid, invalid
):
    passed = [result.passed for result in results(kind, ToolCallSchema(), every=1)]
    assert (passed.count(True), passed.count(False)) == (valid, invalid)
