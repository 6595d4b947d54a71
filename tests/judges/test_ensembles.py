"""Several judgements as one: majorities, cascades, and several questions about one output."""

import json
from itertools import count

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import (
    ExactMatch,
    MissingFieldError,
    StringDistance,
    WeightedSum,
    evaluate,
)
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges import (
    Cascade,
    Classification,
    Correctness,
    Judge,
    Panel,
    PassFail,
    Questionnaire,
    Vote,
)

DOWN = ClientError("no reply", kind="authentication")
PASS, FAIL = judgement("Pass"), judgement("Fail")


def votes(*replies):
    return Vote(PassFail(Scripted(*replies), "Is it short?", retries=0), n=len(replies))


@pytest.mark.parametrize(
    ("replies", "label", "score", "split"),
    [
        ([PASS], "Pass", 1.0, {"Pass": 1}),
        ([FAIL, FAIL, PASS, FAIL, PASS], "Fail", 0.0, {"Fail": 3, "Pass": 2}),
        ([PASS, judgement("Pass", "Low"), FAIL], "Pass", 0.8, {"Pass": 2, "Fail": 1}),
        ([FAIL, FAIL, DOWN], "Fail", 0.0, {"Fail": 2, "unscored": 1}),
        ([PASS, FAIL], "tied", None, {"Pass": 1, "Fail": 1}),
        ([PASS, PASS, FAIL, DOWN], "undecided", None, {"Pass": 2, "Fail": 1, "unscored": 1}),
        ([PASS, DOWN], "undecided", None, {"Pass": 1, "unscored": 1}),
        ([DOWN, DOWN], "undecided", None, {"unscored": 2}),
    ],
)
def test_the_majority_decides_unless_missing_votes_could_turn_it(replies, label, score, split):
    result = votes(*replies)("a")
    assert (result.label, result.score) == (label, score if score is None else pytest.approx(score))
    assert result.passed is (None if score is None else label == "Pass")
    assert result.metadata["split"] == split
    assert len(result.metadata["votes"]) == len(replies)
    assert result.metadata["judge"]["input_tokens"] == 10 * (len(replies) - replies.count(DOWN))


def test_each_vote_is_another_draw_at_the_votes_temperature():
    model = Scripted(PASS)
    Vote(PassFail(model, "Is it short?"), n=3, temperature=0.7)("a")
    assert sorted(request.draw for request in model.requests) == [(0,), (1,), (2,)]
    assert {request.temperature for request in model.requests} == {0.7}


@pytest.mark.parametrize(
    ("inner", "draws"),
    [
        (lambda judge: Panel([Vote(judge, n=2), judge]), [(), (0,), (1,)]),
        (lambda judge: Questionnaire(judge.model, ["Is it short?", "Is it kind?"]), [(), ()]),
        (
            lambda judge: WeightedSum({Vote(judge, n=3): 1, Panel([judge]): 1}),
            [(), (0,), (1,), (2,)],
        ),
    ],
)
def test_votes_of_what_asks_several_times_are_draws_of_their_own(inner, draws):
    model = Scripted(PASS)
    Vote(inner(PassFail(model, "Is it short?")), n=2)("a")
    asked = sorted(request.draw for request in model.requests)
    assert asked == sorted((outer, *draw) for outer in (0, 1) for draw in draws)


def test_labels_without_scores_and_scores_without_labels_are_votes():
    said = [{"explanation": "so", "label": label} for label in ("good", "bad", "good")]
    result = Vote(Classification("tone", Scripted(*said), "{output}", ["good", "bad"]), n=3)("a")
    assert (result.label, result.score, result.is_unscored) == ("good", None, False)
    for stars, score in (((1, 5, 1, 5), None), ((4, 5, 4), 4), ((2, 3, 4), None)):
        judge = Judge(Scripted(*map(str, stars)), "Rate {output}", score=int)
        assert Vote(judge, n=len(stars))("a").score == score
    result = Vote(Judge(Scripted("fine"), "Say something about {output}"), n=2)("a")
    assert (result.label, result.metadata["split"]) == ("undecided", {"unscored": 2})


def test_a_panel_asks_each_of_its_judges():
    yes, no = Scripted(PASS), Scripted(FAIL)
    panel = Panel([PassFail(yes, "Short?"), PassFail(no, "Is it short?"), PassFail(no, "Brief?")])
    assert panel("a").metadata["split"] == {"Fail": 2, "Pass": 1}
    assert (len(yes.requests), len(no.requests)) == (1, 2)
    correctness = Correctness(Scripted(PASS))
    for evaluator in (Vote(correctness), Panel([correctness])):
        with pytest.raises(MissingFieldError, match="reference"):
            evaluator("a")
        assert evaluator("a", "b").passed is True


# --- cheap evaluators first ----------------------------------------------------------------------

NUMBERS = count()
SURE, UNSURE = judgement("Fail"), judgement("Pass", "Low")


def judge(*replies):
    number = next(NUMBERS)  # no two ask the same, which would be asked once
    return PassFail(Scripted(*replies), f"Is it right? {number}", retries=0)


@pytest.mark.parametrize(
    ("evaluators", "score", "asked"),
    [
        ([ExactMatch(), judge(SURE)], 0.0, 1),
        ([judge(SURE), judge(UNSURE)], 0.0, 1),
        ([judge(UNSURE), judge(SURE)], 0.0, 2),
        ([judge("no idea"), ExactMatch()], 0.0, 2),
        ([judge(UNSURE), judge(UNSURE)], 0.6, 2),
        ([judge("no idea")], None, 1),
    ],
)
def test_the_first_that_can_tell_decides(evaluators, score, asked):
    result = Cascade(evaluators)("a", "b")
    assert (result.score, len(result.metadata["asked"])) == (score, asked)
    assert Cascade([*evaluators, StringDistance()]).lower_is_better is False
    assert Cascade([StringDistance()]).lower_is_better


def test_a_run_says_how_often_each_was_asked():
    cheap = judge(UNSURE, SURE, SURE)
    cascade = Cascade([cheap, judge(SURE)])
    run = evaluate([{"output": text} for text in "abc"], cascade)
    assert run.summary["evaluators"]["cascade"]["asked"] == {"pass_fail": 3, "pass_fail_2": 1}


# --- several questions ------------------------------------------------------------------------------

QUESTIONS = ["Is it short?", "Is it kind?", "Is it true?", "Is it new?"]


def by_question(answers):
    """Answer each question as told, whichever the order of the calls."""
    return Scripted(lambda request: next(a for q, a in answers.items() if q in request.text))


def numbered(*verdicts):
    return {f"question_{n}": judgement(verdict) for n, verdict in enumerate(verdicts, 1)}


@pytest.mark.parametrize("calls", ["each", "one"])
@pytest.mark.parametrize(
    ("verdicts", "score", "passed", "agreement"),
    [
        (["Pass", "Pass", "Pass", "Pass"], 1.0, True, 1.0),
        (["Pass", "Pass", "Pass", "Fail"], 0.75, True, 0.5),
        (["Pass", "Pass", "Fail", "Fail"], 0.5, True, 1 / 3),
        (["Fail", "Fail", "Fail", "Fail"], 0.0, False, 1.0),
    ],
)
def test_answers_are_combined(calls, verdicts, score, passed, agreement):
    each = by_question(dict(zip(QUESTIONS, map(judgement, verdicts), strict=True)))
    model = each if calls == "each" else Scripted(dict(reversed(numbered(*verdicts).items())))
    result = Questionnaire(model, QUESTIONS, role="a poet", calls=calls)("a", input="Write.")
    assert (result.score, result.passed) == (score, passed)
    assert result.metadata["pass_rate"] == score
    assert result.metadata["agreement"] == pytest.approx(agreement)
    assert [entry["label"] for entry in result.metadata["questions"]] == verdicts
    assert [entry["question"] for entry in result.metadata["questions"]] == QUESTIONS
    assert len(model.requests) == (4 if calls == "each" else 1)
    assert result.metadata["judge"]["calls"] == len(model.requests)
    assert "a poet" in model.said
    assert "Write." in model.said
    if score == 0.75:
        # the published formula of Wilson with z = 1.959964, worked out by hand
        assert result.metadata["interval"] == pytest.approx((0.30064, 0.95441), abs=1e-5)
        assert Questionnaire(model, QUESTIONS, calls=calls, threshold=1)("a").passed is False
        assert "Is it new?" in result.reason


PARTIAL = by_question(dict.fromkeys(QUESTIONS[:3], judgement()) | {QUESTIONS[3]: DOWN})


@pytest.mark.parametrize(
    ("model", "calls"),
    [
        (PARTIAL, "each"),
        (Scripted(numbered("Pass", "Perhaps", "Pass", "Pass")), "one"),
        (Scripted(numbered("Pass", "Pass", "Pass")), "one"),
        (Scripted({**numbered("Pass", "Pass", "Pass"), "question_5": judgement()}), "one"),
        (Scripted({"judgements": [judgement()] * 4}), "one"),
        (Scripted(json.dumps(numbered(*["Pass"] * 4)).replace("question_2", "question_1")), "one"),
        (Scripted(judgement()), "one"),
        (Scripted("Pass, Pass, Pass, Pass"), "one"),
    ],
)
def test_a_question_without_an_answer_leaves_the_whole_unscored(model, calls):
    result = Questionnaire(model, QUESTIONS, calls=calls)("a")
    assert (result.score, result.passed) == (None, None)
    assert result.label == ("unanswered" if calls == "each" else "unreadable")


def test_verdicts_that_are_asked_for_again_keep_the_reasons_of_the_first_reply():
    first = {f"Question {n}": judgement("Perhaps", reasoning=f"reason {n}") for n in (1, 2)}
    again = {f"question_{n}": {"verdict": "Pass", "confidence": "High"} for n in (1, 2)}
    result = Questionnaire(Scripted(first, again), QUESTIONS[:2], calls="one")("a")
    reasons = [each["reason"] for each in result.metadata["questions"]]
    assert (result.score, reasons) == (1, ["reason 1", "reason 2"])


def test_one_judgement_that_was_shown_is_no_answer_beside_another_of_the_judges_own():
    shown = judgement("Pass", reasoning="It names the author.")
    own = judgement("Pass", reasoning="my own")
    for first, label in ((shown, "unreadable"), (own, "Pass")):
        model = Scripted({"question_1": first, "question_2": own})
        judge = Questionnaire(model, ["Is it so?", "Is it new?"], calls="one", retries=0)
        assert judge(f"Nine. {json.dumps({'question_1': shown})}").label == label
