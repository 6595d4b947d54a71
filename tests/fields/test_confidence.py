"""Confidences of fields: read, counted, and a threshold by the command line."""

import json
import random

import pytest
from row_forms import row_of, run_of

from llmeval_integrations import JsonFields, evaluate
from llmeval_integrations.cli.main import main
from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.fields.confidence import confidence_from_logprobs
from llmeval_integrations.runs.acceptance import acceptance

# the missing item has the pointer of the first one of the output, which is right
REFERENCE = {"vendor": "Acme", "items": [{"price": 1}, {"price": 2}, {"price": 3}], "note": None}
OUTPUT = {"vendor": "Acme", "items": [{"price": 2}, {"price": 4}], "extra": 1, "note": None}
FLAT = {"/vendor": 0.9, "/items/*/price": 0.6, "extra": 0.2, "/note": 0.1}
NESTED = {"vendor": 0.9, "items": [{"price": 0.6}, {"price": 0.6}], "extra": 0.2}
EXPECTED = [
    {"pointer": "/vendor", "field": "/vendor", "confidence": 0.9, "right": True},
    {"pointer": "/items/0/price", "field": "/items/*/price", "confidence": 0.6, "right": True},
    {"pointer": "/items/1/price", "field": "/items/*/price", "confidence": 0.6, "right": False},
    {"pointer": "/extra", "field": "/extra", "confidence": 0.2, "right": False},
]


@pytest.mark.parametrize(
    ("evaluator", "output", "variables"),
    [
        (JsonFields(confidence="/_confidence"), {**OUTPUT, "_confidence": FLAT}, None),
        (JsonFields(confidence="/how~1sure"), {**OUTPUT, "how/sure": FLAT}, None),
        (JsonFields(confidence="variables.sure"), json.dumps(OUTPUT), {"sure": NESTED}),
        (JsonFields(confidence="variables.sure"), OUTPUT, {"sure": json.dumps(FLAT)}),
        (JsonFields(confidence=lambda sample: sample.variables["p"]), OUTPUT, {"p": FLAT}),
    ],
)
def test_confidences_are_read_wherever_they_stand(evaluator, output, variables):
    result = evaluator(output, REFERENCE, variables=variables)
    assert result.metadata["confidence"] == EXPECTED
    plain = JsonFields()(OUTPUT, REFERENCE)
    assert (result.score, result.reason) == (plain.score, plain.reason)


@pytest.mark.parametrize("sure", [{"in": {"a/b": 0.5}}, {"/in/a~1b": 0.5}])
def test_the_name_of_a_member_may_have_a_slash(sure):
    output, reference = {"in": {"a/b": 1}}, {"in": {"a/b": 2}}
    result = JsonFields(confidence="variables.sure")(output, reference, variables={"sure": sure})
    assert [leaf["pointer"] for leaf in result.metadata["confidence"]] == ["/in/a~1b"]


def test_without_confidences_nothing_is_counted():
    evaluator = JsonFields(confidence="/_confidence")
    for each in (evaluator, JsonFields(confidence="variables.sure")):
        assert each(OUTPUT, REFERENCE, variables={"sure": ""}).metadata["confidence"] == []
    run = evaluate([{"output": OUTPUT, "reference": REFERENCE}], evaluator)
    assert "confidence" not in run.summary["evaluators"]["json_fields"]
    assert run.summary["evaluators"]["json_fields"]["unmet_paths"] == ["/_confidence"]
    assert "confidence" not in evaluator("no JSON", REFERENCE).metadata
    judged = row_of("a", 1.0, True, metadata={"confidence": "High"})  # as PassFail has it
    for each in (run, run_of([judged])):
        with pytest.raises(InputError, match="no row has confidences"):
            acceptance(each)


@pytest.mark.parametrize("source", ["_confidence", 3, "variable.x"])
def test_a_source_that_is_none_is_refused(source):
    with pytest.raises(InvalidOptionError, match=r"confidence=.* is not a pointer such as"):
        JsonFields(confidence=source)


@pytest.mark.parametrize("value", [2, "high", True, float("nan")])
def test_a_confidence_is_a_number_from_0_to_1(value):
    with pytest.raises(InputError, match=r"confidence of '/a': .* is not a number from 0 to 1"):
        JsonFields(confidence="variables.p")({"a": 1}, {"a": 1}, variables={"p": {"a": value}})
    schema = {"type": "object", "properties": {"a": {}}}  # of the document alone
    by_model = JsonFields(schema, confidence="/_sure", parsing="lenient")
    found = by_model({"a": 1, "_sure": {"a": value}}, {"a": 1}).metadata
    assert (found["f1"], found["confidence"], found["unread_confidences"]) == (1.0, [], ["/a"])


TEXT = 'Here: {"a": "x\\"y", "b": [1.5e3, true], "c/d": {}, "e": null}'


def test_logprobs_of_tokens_are_confidences_of_values():
    choose = random.Random(1)
    tokens, place = [], 0
    while place < len(TEXT):
        size = choose.randint(1, 5)
        tokens.append((TEXT[place : place + size], -0.5))
        place += size
    found = confidence_from_logprobs(tokens, TEXT)
    assert list(found) == ["/a", "/b/0", "/b/1", "/e"]
    assert all(0 < value < 1 for value in found.values())
    whole = confidence_from_logprobs([{"token": TEXT, "logprob": 0.0}], TEXT)
    assert set(whole.values()) == {1.0}
    assert confidence_from_logprobs([("12", -1.0)], "12") == {"": pytest.approx(0.3679, abs=1e-4)}
    of_all = JsonFields(confidence=lambda _: {"": 0.5})("12", "13").metadata["confidence"]
    assert of_all == [{"pointer": "", "field": "", "confidence": 0.5, "right": False}]
    with pytest.raises(InputError, match="the tokens have 2 characters and the text 3"):
        confidence_from_logprobs([("12", -1.0)], "123")
    with pytest.raises(InputError, match="no JSON value at character 0"):
        confidence_from_logprobs([("no", -1.0)], "no")


@pytest.fixture
def folder(tmp_path):
    """Make a run of 600 documents; values of a confidence below .5 are often wrong."""
    choose = random.Random(3)
    rows = []
    for number in range(600):
        sure = choose.random() < 0.8
        right = sure or choose.random() < 0.5
        output = {
            "a": 1 if right else 2,
            "b": 1,
            "_confidence": {"a": 0.9 if sure else 0.3, "b": 1},
        }
        rows.append({"id": number, "output": output, "reference": {"a": 1, "b": 1}})
    evaluate(rows, JsonFields(confidence="/_confidence"), out=tmp_path / "run")
    return tmp_path / "run"


def test_the_command_prints_thresholds_and_what_to_review(folder, capsys):
    assert main(["threshold", str(folder), "--review", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("all fields  0.9: ")
    assert lines[1].startswith("/a          0.9: ")
    assert lines[2].startswith("/b          1.0: 600 values (100.0%) are accepted, 0 of 600 wrong")
    assert lines[4] == "to review, the least sure first:"
    assert lines[5].startswith("0.300  ")
    assert len(lines) == 7
    assert main(["threshold", str(folder), "--errors", "0.1%"]) == 1
    assert "of 2,995 needed" in capsys.readouterr().out.splitlines()[0]
    assert main(["threshold", str(folder), "--errors", "100%"]) == 2
    assert "errors=1.0 is not a number between 0 and 1" in capsys.readouterr().err
