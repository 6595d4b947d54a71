"""Calls made from the cases of the Berkeley Function Calling Leaderboard, and calls gone wrong.

Each kind is made of the accepted values of a case by one change.
"""

import json
import random
from pathlib import Path

FOLDER = Path(__file__).parent.parent.parent / "shared" / "data" / "bfcl"
CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple")


def records(category):
    """Read the cases of one category."""
    with (FOLDER / f"{category}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def reference(record):
    """Give the expected calls, each argument with its list of accepted values."""
    return [
        {"name": name, "arguments": arguments}
        for call in record["possible_answers"]
        for name, arguments in call.items()
    ]


def made(record, kind):
    """Make the calls of one kind; None where the case does not allow for it."""
    calls = as_expected(record)
    return KINDS[kind](record, calls, random.Random(f"{record['id']} {kind}"))


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


def schema(record, call):
    return next(tool for tool in record["functions"] if tool["name"] == call["name"])["parameters"]


def one_argument(record, calls, choose, fits):
    """Choose a call, an argument of it, what is accepted there and its schema; None for none."""
    found = []
    for number, (call, expected) in enumerate(zip(calls, reference(record))):
        properties = schema(record, call)["properties"]
        for name, value in call["arguments"].items():
            accepted, inner = expected["arguments"][name], properties.get(name, {})
            if fits(name, value, accepted, inner, schema(record, call).get("required", [])):
                found.append((number, name, accepted, inner))
    return choose.choice(found) if found else None


def changed_argument(record, calls, choose, fits, change):
    place = one_argument(record, calls, choose, fits)
    if place is None:
        return None
    number, name, accepted, inner = place
    arguments = calls[number]["arguments"]
    arguments[name] = change(arguments[name], accepted, inner)
    return calls


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


def wrong_value(record, calls, choose):
    def fits(name, value, accepted, inner, required):
        return value is not None and other(value) not in [*accepted, inner.get("default")]

    return changed_argument(record, calls, choose, fits, lambda value, *_: other(value))


def dropped_required(record, calls, choose):
    place = one_argument(
        record, calls, choose, lambda name, v, a, inner, required: name in required
    )
    if place is None:
        return None
    del calls[place[0]]["arguments"][place[1]]
    return calls


def extra_argument(record, calls, choose):
    choose.choice(calls)["arguments"]["made_up"] = choose.choice([1, "text", True, [1]])
    return calls


def wrong_name(record, calls, choose):
    call = choose.choice(calls)
    others = [tool["name"] for tool in record["functions"] if tool["name"] != call["name"]]
    call["name"] = choose.choice(others or [call["name"] + "_too"])
    return calls


def permuted(record, calls, choose):
    return calls[::-1] if len(calls) > 1 else None


def without_optional(record, calls, choose):
    for call, expected in zip(calls, reference(record)):
        for name, accepted in expected["arguments"].items():
            if "" in accepted:
                call["arguments"].pop(name, None)
    return calls


def default_spelled_out(record, calls, choose):
    """Give every argument that may be left out, and has a default in its schema, that default."""
    changed = False
    for call, expected in zip(calls, reference(record)):
        for name, accepted in expected["arguments"].items():
            inner = schema(record, call)["properties"].get(name, {})
            if "" in accepted and "default" in inner:
                call["arguments"][name] = inner["default"]
                changed = True
    return calls if changed else None


def default_left_out(record, calls, choose):
    """Leave out an argument that the answers ask for, and whose value is the default."""

    def fits(name, value, accepted, inner, required):
        return "" not in accepted and "default" in inner and inner["default"] in accepted

    place = one_argument(record, calls, choose, fits)
    if place is None:
        return None
    del calls[place[0]]["arguments"][place[1]]
    return calls


def is_integer(name, value, accepted, inner, required):
    return type(value) is int and inner.get("type") == "integer"


def integer_as_float(record, calls, choose):
    return changed_argument(record, calls, choose, is_integer, lambda value, *_: float(value))


def number_as_text(record, calls, choose):
    return changed_argument(record, calls, choose, is_integer, lambda value, *_: str(value))


def is_text(name, value, accepted, inner, required):
    return (
        isinstance(value, str)
        and inner.get("type") == "string"
        and value.swapcase() not in [*accepted, value]
    )


def text_in_another_case(record, calls, choose):
    return changed_argument(record, calls, choose, is_text, lambda value, *_: value.swapcase())


def missing_call(record, calls, choose):
    del calls[choose.randrange(len(calls))]
    return calls


def extra_call(record, calls, choose):
    return [*calls, choose.choice(calls)]


KINDS = {
    "as_expected": lambda record, calls, choose: calls,
    "without_optional": without_optional,
    "permuted": permuted,
    "integer_as_float": integer_as_float,
    "default_spelled_out": default_spelled_out,
    "default_left_out": default_left_out,
    "wrong_value": wrong_value,
    "dropped_required": dropped_required,
    "extra_argument": extra_argument,
    "wrong_name": wrong_name,
    "number_as_text": number_as_text,
    "text_in_another_case": text_in_another_case,
    "missing_call": missing_call,
    "extra_call": extra_call,
}
