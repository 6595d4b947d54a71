"""Several judgements as one: majorities, ties, and votes that are missing."""

import json

import pytest
from remote_model import Remote
from scripted import Scripted, judgement

from llmeval_integrations import (
    InvalidOptionError,
    MissingFieldError,
    Sample,
    WeightedSum,
    evaluate,
)
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges import (
    Classification,
    Correctness,
    Judge,
    Panel,
    PassFail,
    Questionnaire,
    Vote,
)

DOWN = ClientError("no reply", kind="connection")


def votes(*replies):
    return Vote(PassFail(Scripted(*replies), "Is it short?", retries=0), n=len(replies))


@pytest.mark.parametrize(
    ("verdicts", "label", "split"),
    [
        (["Pass"], "Pass", {"Pass": 1}),
        (["Pass", "Fail", "Pass"], "Pass", {"Pass": 2, "Fail": 1}),
        (["Fail", "Fail", "Pass", "Fail", "Pass"], "Fail", {"Fail": 3, "Pass": 2}),
    ],
)
def test_the_majority_decides(verdicts, label, split):
    result = votes(*map(judgement, verdicts))("a")
    assert (result.label, result.passed) == (label, label == "Pass")
    assert result.metadata["split"] == split
    assert [vote["label"] for vote in result.metadata["votes"]] == verdicts


def test_the_score_is_the_mean_of_the_majority():
    replies = [judgement("Pass", "High"), judgement("Pass", "Low"), judgement("Fail", "High")]
    assert votes(*replies)("a").score == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("replies", "label"),
    [
        ([judgement("Pass"), judgement("Fail")], "tied"),
        ([judgement("Pass"), judgement("Pass"), judgement("Fail"), DOWN], "undecided"),
        ([judgement("Pass"), DOWN], "undecided"),
        ([DOWN, DOWN], "undecided"),
    ],
)
def test_a_tie_or_votes_that_could_turn_it_leave_it_unscored(replies, label):
    result = votes(*replies)("a")
    assert (result.score, result.passed, result.label) == (None, None, label)


def test_a_missing_vote_that_can_turn_nothing_does_no_harm():
    result = votes(judgement("Fail"), judgement("Fail"), DOWN)("a")
    assert result.passed is False
    assert result.metadata["split"] == {"Fail": 2, "unscored": 1}


def test_each_vote_is_another_draw_at_the_votes_temperature():
    client = Scripted(judgement())
    Vote(PassFail(client, "Is it short?"), n=3, temperature=0.7)("a")
    assert [request.draw for request in client.requests] == [(0,), (1,), (2,)]
    assert {request.temperature for request in client.requests} == {0.7}


def test_votes_of_votes_are_draws_of_their_own():
    client = Scripted(judgement())
    inner = Panel([Vote(PassFail(client, "Is it short?"), n=3), PassFail(client, "Is it short?")])
    Vote(inner, n=2)("a")
    assert sorted(request.draw for request in client.requests) == [
        *[(0,), (0, 0), (0, 1), (0, 2)],
        *[(1,), (1, 0), (1, 1), (1, 2)],
    ]


def test_labels_without_scores_are_votes():
    said = [{"explanation": "so", "label": label} for label in ("good", "bad", "good")]
    judge = Classification("tone", Scripted(*said), "{output}", ["good", "bad"])
    result = Vote(judge, n=3)("a")
    assert (result.label, result.score, result.is_unscored) == ("good", None, False)
    assert result.metadata["split"] == {"good": 2, "bad": 1}


@pytest.mark.parametrize(
    ("stars", "score"), [((1, 5, 1, 5), None), ((4, 5, 4), 4), ((2, 3, 4), None)]
)
def test_scores_without_labels_are_told_apart(stars, score):
    judge = Judge(Scripted(*map(str, stars)), "Rate {output}", score=int)
    result = Vote(judge, n=len(stars))("a")
    assert result.score == score
    assert result.is_unscored is (score is None)


def test_answers_that_are_neither_label_nor_score_are_no_votes():
    result = Vote(Judge(Scripted("fine"), "Say something about {output}"), n=2)("a")
    assert (result.label, result.metadata["split"]) == ("undecided", {"unscored": 2})


def test_a_label_may_be_called_as_missing_votes_are():
    said = [{"explanation": "so", "label": "unscored"}] * 2
    judge = Classification(
        "tone", Scripted(*said, "who knows"), "{output}", ["unscored"], retries=0
    )
    assert Vote(judge, n=3)("a").metadata["split"] == {"unscored": 2, "(unscored)": 1}


def test_what_all_votes_took_is_added_up():
    account = votes(judgement(), judgement(), judgement())("a").metadata["judge"]
    assert (account["calls"], account["input_tokens"]) == (3, 30)


def test_votes_of_what_asks_side_by_side_are_drawn_too():
    client = Scripted(judgement())
    Vote(Questionnaire(client, ["Is it short?", "Is it kind?"]), n=2)("a")
    assert sorted(request.draw for request in client.requests) == [(0,), (0,), (1,), (1,)]


def test_a_panel_asks_each_of_its_judges_once():
    yes, no = Scripted(judgement("Pass")), Scripted(judgement("Fail"))
    also = Scripted(judgement("Fail"))
    no.name, also.name = "scripted-2", "scripted-3"
    panel = Panel([PassFail(client, "Is it short?") for client in (yes, no, also)])
    result = panel("a")
    assert result.passed is False
    assert result.metadata["split"] == {"Fail": 2, "Pass": 1}
    assert [len(client.requests) for client in (yes, no, also)] == [1, 1, 1]


def test_what_a_judge_needs_its_vote_needs():
    correctness = Correctness(Scripted(judgement()))
    for evaluator in (Vote(correctness), Panel([correctness])):
        assert evaluator.needs == ("reference",)
        with pytest.raises(MissingFieldError, match="reference"):
            evaluator("a")
        assert evaluator.evaluate(Sample("a", "b")).passed is True


@pytest.mark.parametrize(
    "build",
    [
        lambda: Vote("pass_fail"),
        lambda: Vote(PassFail(Scripted(""), "Short?"), n=0),
        lambda: Vote(PassFail(Scripted(""), "Short?"), temperature=3),
        lambda: Panel([]),
        lambda: Panel(["pass_fail"]),
        lambda: Panel(PassFail(Scripted(""), "Short?")),
    ],
)
def test_a_wrong_option_is_refused(build):
    with pytest.raises(InvalidOptionError):
        build()


def test_votes_within_what_is_weighed_are_draws_of_their_own(tmp_path):
    client = Remote(lambda _: json.dumps(judgement()), seconds=0)
    weighed = WeightedSum([(Vote(PassFail(client, "Is it short?"), n=3), 1)])
    evaluate([{"output": "a"}], [Vote(weighed, n=2)], cache=tmp_path / "replies.sqlite")
    assert len(client.asked) == 6


@pytest.mark.parametrize(("ways", "is_lower"), [((True, True), True), ((True, False), False)])
def test_a_panel_of_judges_of_distances_is_one_itself(ways, is_lower):
    judges = [PassFail(Scripted(judgement()), "Is it short?") for _ in ways]
    for judge, way in zip(judges, ways, strict=True):
        object.__setattr__(judge, "lower_is_better", way)
    assert Panel(judges).lower_is_better is is_lower
