"""Nulls of an extraction: values, or what is not there."""

import json

import pytest

from llmeval_integrations import JsonEquality, JsonFields, Sample, evaluate

ANY_ORDER = {"/a": {"order": "any_order"}}


@pytest.mark.parametrize(
    ("output", "reference", "kinds"),
    [
        ({"a": None}, {"a": None}, {}),
        ({"a": None}, {}, {}),
        ({}, {"a": None}, {}),
        ({"a": None}, {"a": 5}, {"/a": "missing"}),
        ({"a": 5}, {"a": None}, {"/a": "extra"}),
        ({"a": {"b": 1, "c": None}}, {"a": None}, {"/a/b": "extra"}),
        ({"a": None}, {"a": {"b": 1, "c": None}}, {"/a/b": "missing"}),
        ({"a": [None, 2]}, {"a": [1, 2]}, {"/a/0": "wrong_type"}),
        ({"a": [None, 2]}, {"a": [None, 2]}, {}),
        ({"a": [2]}, {"a": [None, 2]}, {"/a/0": "wrong_type", "/a/1": "missing"}),
        ({"a": [{"b": None, "c": 1}]}, {"a": [{"c": 1}]}, {}),
        (None, None, {}),
        (None, 1, {"": "wrong_type"}),
    ],
)
def test_a_member_that_is_null_may_count_as_left_out(output, reference, kinds):
    told = JsonFields(nulls="absent")
    for result in (told(output, reference), told(json.dumps(output), json.dumps(reference))):
        found = result.metadata["outcomes"]
        assert {outcome["pointer"]: outcome["kind"] for outcome in found} == kinds
        assert result.passed is (not kinds)
    same = JsonEquality()(output, reference).passed
    assert JsonFields()(output, reference).passed is same


def test_it_is_what_the_same_documents_without_those_members_give():
    output = {"id": 1, "a": [{"k": None, "v": 1}, {"k": "x", "v": None}], "b": {"c": None}}
    reference = {"id": None, "a": [{"k": "x", "v": 2}, {"k": None, "v": 1}], "b": None, "d": [None]}
    stripped = [
        {"id": 1, "a": [{"v": 1}, {"k": "x"}], "b": {}},
        {"a": [{"k": "x", "v": 2}, {"v": 1}], "d": [None]},
    ]
    for fields in ({}, ANY_ORDER, {"/a": {"key": "k"}}):
        told = JsonFields(fields=fields, nulls="absent")(output, reference)
        assert told == JsonFields(fields=fields)(*stripped)


def test_nulls_on_both_sides_are_no_hits_of_a_run():
    rows = [
        {"output": {"id": 1, "discount": None}, "reference": {"id": 1, "discount": discount}}
        for discount in [5] * 5 + [None] * 95
    ]
    found = {}
    for nulls in ("values", "absent"):
        summary = evaluate(rows, [JsonFields(nulls=nulls)]).summary
        found[nulls] = summary["evaluators"]["json_fields"]["fields"]["/discount"]
    of_values, of_absent = found["values"], found["absent"]
    assert (of_values["match"], of_values["mismatch"], of_values["recall"]) == (95, 0, 0.95)
    assert (of_absent["leaves"], of_absent["missing"], of_absent["recall"]) == (5, 5, 0.0)


def test_what_a_model_dumps_as_null_is_not_missing():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Note", total=(int, ...), note=(str | None, None))
    told = JsonFields(model, nulls="absent")
    assert told({"total": 5}, model(total=5)).passed
    assert told({"total": 5}, model(total=5, note="x")).reason == "/note missing"
    assert told({"total": 5, "note": "x"}, model(total=5)).reason == "/note extra"
    assert JsonFields(model)({"total": 5}, model(total=5)).reason == "/note missing"


def test_what_is_given_is_left_as_it_is():
    output, reference = {"a": None, "b": [{"c": None}]}, {"a": 1}
    sample = Sample(output, reference)
    JsonFields(nulls="absent").evaluate(sample)
    assert (sample.output, sample.reference) == ({"a": None, "b": [{"c": None}]}, {"a": 1})
    run = evaluate([sample], {"one": JsonFields(nulls="absent"), "other": JsonFields()})
    kinds = [[outcome["kind"] for outcome in row.metadata["outcomes"]] for row in run.rows]
    assert kinds == [["missing", "extra"], ["wrong_type", "extra"]]


def test_an_output_that_is_no_json_misses_what_there_is():
    result = JsonFields(nulls="absent")("{", {"a": None, "b": 1})
    assert [outcome["pointer"] for outcome in result.metadata["outcomes"]] == ["/b"]


def test_deep_documents_are_compared_as_deep_as_others():
    document = {"x": 1}
    for _ in range(199):
        document = {"x": document, "y": None}
    text = json.dumps(document)
    assert JsonFields(nulls="absent")(text, text).passed
