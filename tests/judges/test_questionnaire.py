"""Several questions about one output: combining, in one call or in one each."""

import json

import pytest
from scripted import Scripted, judgement

from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges import Questionnaire

QUESTIONS = ["Is it short?", "Is it kind?", "Is it true?", "Is it new?"]
DOWN = ClientError("no reply", kind="connection")


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


def test_one_judgement_that_was_shown_is_no_answer_beside_another_of_the_judges_own():
    shown = judgement("Pass", reasoning="It names the author.")
    own = judgement("Pass", reasoning="my own")
    for first, label in ((shown, "unreadable"), (own, "Pass")):
        model = Scripted({"question_1": first, "question_2": own})
        judge = Questionnaire(model, ["Is it so?", "Is it new?"], calls="one", retries=0)
        assert judge(f"Nine. {json.dumps({'question_1': shown})}").label == label
