"""Several judgements as one: majorities, cascades, and several questions about one output."""

import json
from itertools import count

import pytest
from scripted import Scripted, judgement, judgements

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
    judge = PassFail(Scripted(*replies), "Is it short?", retries=0)
    result = Vote(judge, n=len(replies))("a")
    assert (result.label, result.score) == (label, score if score is None else pytest.approx(score))
    assert result.passed is (None if score is None else label == "Pass")
    assert result.metadata["split"] == split
    assert len(result.metadata["votes"]) == len(replies)
    account, answers = result.metadata["judge"], len(replies) - replies.count(DOWN)
    assert (account["input_tokens"], account["output_tokens"]) == (10 * answers, 5 * answers)


@pytest.mark.parametrize(
    ("inner", "draws"),
    [
        (lambda judge: judge, [()]),
        (lambda judge: Panel([Vote(judge, n=2), judge]), [(), (0,), (1,)]),
        (lambda judge: Questionnaire(judge.model, ["Is it short?", "Is it kind?"]), [(), ()]),
        (lambda judge: WeightedSum({Vote(judge, n=2): 1, Panel([judge]): 1}), [(), (0,), (1,)]),
    ],
)
def test_each_vote_is_another_draw_at_the_votes_temperature(inner, draws):
    model = Scripted(PASS)
    Vote(inner(PassFail(model, "Is it short?")), n=2, temperature=0.7)("a")
    asked = sorted(request.draw for request in model.requests)
    assert asked == sorted((outer, *draw) for outer in (0, 1) for draw in draws)
    assert {each.temperature for each in model.requests if len(each.draw) == 1} == {0.7}


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


@pytest.mark.parametrize(
    ("verdicts", "score", "interval", "agreement"),
    [
        # the published formula of Wilson with z = 1.959964, worked out by hand
        (["Pass", "Pass", "Pass", "Pass"], 1.0, (0.51011, 1), 1.0),
        (["Pass", "Pass", "Pass", "Fail"], 0.75, (0.30064, 0.95441), 0.5),
        (["Pass", "Pass", "Fail", "Fail"], 0.5, (0.15004, 0.84996), 1 / 3),
        (["Fail", "Fail", "Fail", "Fail"], 0.0, (0, 0.48989), 1.0),
    ],
)
def test_answers_of_one_call_or_of_several_are_combined(verdicts, score, interval, agreement):
    each = by_question(dict(zip(QUESTIONS, map(judgement, verdicts), strict=True)))
    whole = Scripted(dict(reversed(judgements(*verdicts).items())))
    for model, calls, number in ((each, "each", 4), (whole, "one", 1)):
        judge = Questionnaire(model, QUESTIONS, role="a poet", calls=calls)
        result = judge("a", input="Write.")
        assert (result.score, result.passed) == (score, score >= 0.5)
        assert result.metadata["pass_rate"] == score
        assert result.metadata["interval"] == pytest.approx(interval, abs=1e-5)
        assert result.metadata["agreement"] == pytest.approx(agreement)
        found = [(each["question"], each["label"]) for each in result.metadata["questions"]]
        assert found == [*zip(QUESTIONS, verdicts)]
        assert (len(model.requests), result.metadata["judge"]["calls"]) == (number, number)
        assert ("a poet" in model.said, "Write." in model.said) == (True, True)
        assert (QUESTIONS[3] in result.reason) is (verdicts[3] == "Fail")
        assert Questionnaire(model, QUESTIONS, calls=calls, threshold=1)("a").passed is (score == 1)


def test_a_question_without_an_answer_leaves_the_whole_unscored():
    model = by_question(dict.fromkeys(QUESTIONS[:3], judgement()) | {QUESTIONS[3]: DOWN})
    result = Questionnaire(model, QUESTIONS)("a")
    assert (result.score, result.passed, result.label) == (None, None, "unanswered")


def test_one_judgement_that_was_shown_is_no_answer_beside_another_of_the_judges_own():
    shown = judgement("Pass", reasoning="It names the author.")
    own = judgement("Pass", reasoning="my own")
    for first, label in ((shown, "unreadable"), (own, "Pass")):
        model = Scripted({"question_1": first, "question_2": own})
        judge = Questionnaire(model, ["Is it so?", "Is it new?"], calls="one", retries=0)
        assert judge(f"Nine. {json.dumps({'question_1': shown})}").label == label
