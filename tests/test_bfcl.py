"""Calls of the Berkeley Function Calling Leaderboard, right and with one mistake each."""

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
    if isinstance(value, dict):
        return {key: other(item) for key, item in value.items()}
    return 1  # null


CHANGES = {
    "as_expected": lambda calls, choose: calls,
    "permuted": lambda calls, choose: calls[::-1] if len(calls) > 1 else None,
    "missing_call": lambda calls, choose: choose.sample(calls, len(calls) - 1),
    "extra_call": lambda calls, choose: [*calls, choose.choice(calls)],
    "extra_argument": lambda calls, choose: [
        {**calls[0], "arguments": {**calls[0]["arguments"], "made_up": 1}},
        *calls[1:],
    ],
    "wrong_value": lambda calls, choose: [
        {
            **calls[0],
            "arguments": {name: other(value) for name, value in calls[0]["arguments"].items()},
        },
        *calls[1:],
    ],
    "wrong_name": lambda calls, choose: [{**calls[0], "name": "made_up"}, *calls[1:]],
}


def results(kind, evaluator=LISTED, every=4):
    """Evaluate the calls of one kind, made of each record or of every fourth."""
    for record in records()[::every]:
        choose = random.Random(f"{record['id']} {kind}")
        calls = CHANGES[kind](as_expected(record), choose)
        if calls is not None:
            tools = {"tools": record["functions"]}
            yield evaluator(json.dumps(calls), reference(record), variables=tools)


@pytest.mark.parametrize(("kind", "count"), [("as_expected", 800), ("permuted", 400)])
def test_a_harmless_difference_passes(kind, count):
    assert [result.score for result in results(kind, every=1)] == [1.0] * count


def test_every_accepted_value_passes():
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
    ("kind", "label"),
    [
        ("wrong_value", "wrong_arguments"),
        ("extra_argument", "wrong_arguments"),
        ("wrong_name", "wrong_name"),
        ("missing_call", "missing"),
        ("extra_call", "extra"),
    ],
)
def test_a_mistake_fails_with_its_label(kind, label):
    found = [*results(kind)]
    assert len(found) == 200
    for result in found:
        assert 0 <= result.score < 1
        assert not result.passed
        assert result.label == label, result.reason


def test_five_answers_violate_the_schema_of_their_own_tool():
    passed = [result.passed for result in results("as_expected", ToolCallSchema(), every=1)]
    assert (passed.count(True), passed.count(False)) == (795, 5)
