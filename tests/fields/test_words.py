"""Differences in words: each told once, and where they are seen."""

import io
import json
import random

import pytest
from rich.console import Console

from llmeval_integrations import JsonFields, evaluate, explain


@pytest.mark.parametrize(
    ("output", "reference", "reason"),
    [
        ({"b": 1, "c": 2}, [], '/a {"b":1,"c":2}, expected []'),
        ([1, 2], {}, "/a [1,2], expected {}"),
        ([], {"b": 1, "c": 2}, '/a [], expected {"b":1,"c":2}'),
        ("x", {"b": 1}, '/a "x", expected {"b":1}'),
        ([1], "x", '/a [1], expected "x"'),
        ([1, 2], {"b": 1}, "/a extra (2 fields); /a missing"),
    ],
)
def test_what_stands_in_place_of_another_is_told_once(output, reference, reason):
    assert JsonFields()({"a": output}, {"a": reference}).reason == reason
    more = JsonFields()(
        {"w": 1, "x": 1, "y": 1, "a": output}, {"w": 2, "x": 2, "y": 2, "a": reference}
    )
    assert more.reason.endswith(f"and {reason.count(';') + 1} more")


LONG = "x" * 300


def test_long_wrong_values_are_told_apart_and_counted_each():
    rows = [
        {"id": place, "output": {"t": f"{LONG}{word}{'y' * 300}"}, "reference": {"t": f"{LONG}ok"}}
        for place, word in enumerate(["left", "right", "left"])
    ]
    run = evaluate(rows, [JsonFields()])
    found = run.summary["evaluators"]["json_fields"]["fields"]["/t"]["wrong_values"]
    assert [each["count"] for each in found] == [2, 1]
    assert ["left" in each["output"] for each in found] == [True, False]
    assert "right" in found[1]["output"]
    assert all(each["reference"].endswith('xok"') for each in found)
    assert all(len(each["output"]) == 200 for each in found)


def test_wrong_values_that_are_shown_alike_are_counted_each():
    values = [f"{'z' * 400}{end}" for end in ("one", "two")]
    rows = [{"id": value, "output": {"t": value}, "reference": {"t": "y"}} for value in values]
    run = evaluate(rows, [JsonFields()])
    found = run.summary["evaluators"]["json_fields"]["fields"]["/t"]["wrong_values"]
    assert [each["count"] for each in found] == [1, 1]


def test_explain_cuts_both_sides_before_they_differ():
    console = Console(width=1_000, record=True, file=io.StringIO())
    explain(JsonFields()({"t": f"{LONG}left"}, {"t": f"{LONG}right"}), console)
    leaf = console.export_text().splitlines()[-1]
    assert 'xleft"  expected ...x' in leaf
    assert leaf.endswith('xright"')


@pytest.mark.once
def test_a_text_too_long_to_be_measured_says_so():
    choose = random.Random(1)
    one, other = ("".join(choose.choices("abcdefghij ", k=100_000)) for _ in range(2))
    result = JsonFields(defaults={"similarity": 0.3})([one], [other])
    assert result.metadata["outcomes"][0]["exact"] is False
    assert result.reason.endswith("(too long to be compared exactly)")
    near = JsonFields(defaults={"similarity": 0.5})([one], [f"{other[:9_000]}{one[:91_000]}"])
    assert near.score == pytest.approx(0.82, abs=0.001)
    assert "exact" not in near.metadata["outcomes"][0]


def test_what_costs_most_is_told_first_also_where_it_is_many_fields():
    wide = {f"k{n}": n for n in range(40)}
    output, reference = {"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 2, "items": wide}
    result = JsonFields()(output, reference)
    assert (
        result.reason
        == "/items missing (40 fields); /a 1, expected 2; /b 1, expected 2; and 1 more"
    )
    assert result.label == "missing"
    weights = {"/a": {"weight": 50}}
    result = JsonFields(fields=weights)(output, reference)
    assert result.reason.startswith("/a 1, expected 2; /items missing (40 fields); ")
    assert result.label == "mismatch"


@pytest.mark.parametrize(
    ("output", "reference", "reason"),
    [
        ([1, 2, 3, 4, 5], {"a": 1, "b": 2}, "the whole extra (5 fields); the whole missing (2 fields)"),
        ([1, 2], {"b": [1, 2]}, "the whole missing (2 fields); the whole extra (2 fields)"),
        ({"a": 1, "b": 2}, "x", 'the whole {"a":1,"b":2}, expected "x"'),
        ({}, {"a": {"x": 1}, "b": 2}, "/a missing; /b missing"),
    ],
)  # fmt: skip
def test_the_whole_is_told_as_what_is_in_it(output, reference, reason):
    assert JsonFields()(json.dumps(output), json.dumps(reference)).reason == reason


def test_a_value_in_place_of_an_object_costs_what_the_object_does():
    text = {"a": 1, "b": 1, "c": 1, "items": "n/a"}
    whole = {"a": 2, "b": 2, "c": 2, "items": {f"k{n}": n for n in range(40)}}
    result = JsonFields()(text, whole)
    assert result.reason.startswith('/items "n/a", expected {')
    assert result.label == "missing"
    result = JsonFields()(whole, text)
    assert result.reason.startswith('/items {"k0":')
    assert result.label == "extra"
    small = JsonFields()({"a": 1, "items": "n/a"}, {"a": 2, "items": {"b": 1}})
    assert small.reason.startswith("/items")
