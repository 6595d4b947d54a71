"""Extractions and calls with prose in them, which a judge compares."""

import pytest
from scripted import Scripted, judgements

from llmeval_integrations import JsonFields, MissingFieldError, evaluate
from llmeval_integrations.evaluators.tool_calls import ToolCalls
from llmeval_integrations.judges import JudgedFields, JudgedToolCalls

REFERENCE = {
    "id": "A-1",
    "summary": "The ferry is late.",
    "items": [{"text": "one", "n": 1}, {"text": "two", "n": 2}],
}
OUTPUT = {
    "id": "A-1",
    "summary": "The boat comes late.",
    "items": [{"text": "1", "n": 1}, {"text": "two", "n": 3}],
}
PROSE = ["/summary", "/items/*/text"]


def test_one_call_judges_all_fields_of_prose_and_no_others():
    model = Scripted(judgements("Pass", "Fail"))
    result = JudgedFields(model, PROSE)(OUTPUT, REFERENCE)
    assert len(model.requests) == 1
    assert "The boat comes late." in model.said
    assert "A-1" not in model.said
    assert "/items/1/text" not in model.said  # the same on both sides
    assert result.metadata["fields"] == {
        "/id": {"match": 1},
        "/summary": {"match": 1},
        "/items/*/text": {"match": 1, "mismatch": 1},
        "/items/*/n": {"match": 1, "mismatch": 1},
    }
    assert result.score == 4 / 6
    sure = {"_sure": {"/summary": 0.9, "/items/0/text": 0.6}}
    result = JudgedFields(model, PROSE, confidence="/_sure")(OUTPUT | sure, REFERENCE)
    assert [said["right"] for said in result.metadata["confidence"]] == [True, False]
    found = [(said["pointer"], said["verdict"]) for said in result.metadata["judgements"]]
    assert found == [("/summary", "Pass"), ("/items/0/text", "Fail")]


def test_without_a_difference_in_prose_nobody_is_asked():
    model = Scripted("never")
    same = JudgedFields(model, PROSE)(REFERENCE, REFERENCE)
    assert (same.score, same.passed, same.metadata["judgements"]) == (1.0, True, [])
    for output in ({**REFERENCE, "summary": 5}, {"id": "A-1"}, "no JSON"):
        told = JudgedFields(model, PROSE)(output, REFERENCE)
        plain = JsonFields()(output, REFERENCE)
        assert (told.score, told.label, told.reason) == (plain.score, plain.label, plain.reason)
    with pytest.raises(MissingFieldError):
        JudgedFields(model, ["/a"])("{}")
    assert model.requests == []


def test_prose_in_any_order_is_paired_with_what_is_likest_and_judged():
    model = Scripted(judgements("Fail", "Fail"))
    evaluator = JudgedFields(model, ["/items/*/t"], fields={"/items": {"order": "any_order"}})
    both = {"items": [{"t": "It snows."}, {"t": "The ferry was late."}]}
    result = evaluator(both, {"items": [{"t": "The ferry is late."}, {"t": "It snowed."}]})
    assert [(said["output"], said["reference"]) for said in result.metadata["outcomes"]] == [
        ("It snows.", "It snowed."),
        ("The ferry was late.", "The ferry is late."),
    ]


def test_a_run_adds_up_its_fields_and_names_paths_that_no_sample_has():
    evaluator = JudgedFields(Scripted(judgements("Fail", "Pass")), [*PROSE, "/sumary"])
    run = evaluate([{"output": OUTPUT, "reference": REFERENCE}] * 3, [evaluator])
    summary = run.summary["evaluators"]["judged_fields"]
    assert summary["fields"]["/summary"]["mismatch"] == 3
    assert summary["unmet_paths"] == ["/sumary"]
    judge = JudgedToolCalls(Scripted("never"), ["send_mail/body", "send_mail/bdy"])
    run = evaluate([{"output": mail("a"), "reference": mail("a")}], [judge])
    assert run.summary["evaluators"]["judged_tool_calls"]["unmet_paths"] == ["send_mail/bdy"]


# --- calls ----------------------------------------------------------------------------------------


def mail(body, to="ann@example.org", name="send_mail"):
    return {"name": name, "arguments": {"to": to, "body": body, "tags": ["a"]}}


@pytest.mark.parametrize(
    ("output", "reply", "score", "calls"),
    [
        ([mail("The ferry is late.")], "never", 1.0, 0),
        ([mail("The boat comes late.")], judgements("Pass"), 1.0, 1),
        ([mail("The boat is sunk.")], judgements("Fail"), 0.75, 1),
        ([mail("The boat comes late.", "bob@example.org")], judgements("Pass"), 0.75, 1),
        ([mail("The boat comes late.", name="post")], "never", 0.0, 0),
        ([mail(5)], "never", 0.75, 0),
        ([], "never", 0.0, 0),
    ],
)
def test_arguments_of_prose_are_judged_and_the_others_compared(output, reply, score, calls):
    model = Scripted(reply)
    judge = JudgedToolCalls(model, ["send_mail/body"])
    result = judge(output, [mail("The ferry is late.")])
    assert (result.score, len(model.requests)) == (score, calls)
    assert len(result.metadata["judgements"]) == calls


@pytest.mark.parametrize(("verdict", "score"), [("Pass", 1.0), ("Fail", 0.75)])
def test_a_judge_is_shown_all_texts_that_are_accepted(verdict, score):
    model = Scripted(judgements(verdict))
    accepted = {"$any_of": ["The ferry is late.", "There is a delay."], "$optional": True}
    judge = JudgedToolCalls(model, ["send_mail/body"])
    assert judge([mail("The boat comes late.")], [mail(accepted)]).score == score
    assert "The ferry is late.\n\nor, as good:\n\nThere is a delay.\n" in model.said


def test_one_call_judges_the_prose_of_all_calls():
    model = Scripted(judgements("Pass", "Pass"))
    judge = JudgedToolCalls(model, ["*/body"], ToolCalls(call_order="strict"))
    result = judge([mail("a"), mail("b", name="post")], [mail("x"), mail("y", name="post")])
    assert (result.score, result.passed, len(model.requests)) == (1.0, True, 1)
    assert [said["reference"] for said in result.metadata["judgements"]] == [0, 1]
    assert ("/body" in model.said, "ann@" in model.said) == (True, False)
