"""Answers over contexts, judged claim by claim."""

import pytest
from scripted import Scripted

from llmeval_integrations import judges

CONTEXTS = ["Rome has 2.8 million people.", "The Tiber is a river.", "Rome was founded in 753 BC."]


def claims(*found):
    names = ("claim", "evidence", "documents", "verdict")
    return {"claims": [dict(zip(names, each)) for each in found]}


RIGHT = ("Rome has 2.8 million people", "2.8 million people", [1], "supported")
OLD = ("Rome was founded in 753 BC", "founded in 753 BC", [3], "supported")
WRONG = ("The Tiber is a lake", "The Tiber is a river", [2], "contradicted")
NEW = ("Rome is warm", "-", [], "unsupported")
NOT_THERE = ("Rome is old", "Rome is the eldest city of all", [1], "supported")


@pytest.mark.parametrize(
    ("found", "score", "reason"),
    [
        ((RIGHT, OLD), 1.0, "2 of 2 claims are supported"),
        ((RIGHT, WRONG), 0.5, "1 of 2 claims are supported; contradicted: The Tiber is a lake"),
        ((RIGHT, WRONG, NEW, NEW), 0.25, "1 of 4 claims are supported; contradicted"),
        ((NOT_THERE,), 1.0, "1 of 1 claims are supported"),
    ],
)
def test_the_score_is_the_share_of_claims_that_are_supported(found, score, reason):
    model = Scripted(claims(*found))
    result = judges.ClaimFaithfulness(model, threshold=0.5)("some text", contexts=CONTEXTS)
    assert (result.score, result.passed) == (score, score >= 0.5)
    assert result.reason.startswith(reason)
    for said, each in zip(found, result.metadata["claims"], strict=True):
        assert (each["verdict"], each["quoted"]) == (said[3], said in (RIGHT, OLD, WRONG))
    assert len(model.requests) == 1
    assert "[2] The Tiber is a river." in model.said


@pytest.mark.parametrize(
    ("replies", "verdicts", "documents"),
    [
        ([claims(RIGHT, WRONG)], ["supported", "contradicted"], [[1], [2]]),
        ([claims(RIGHT, NEW), claims(OLD)], ["supported", "supported"], [[1], [5]]),
        ([claims(RIGHT, NEW), claims(NEW)], ["supported", "unsupported"], [[1], []]),
        ([claims(RIGHT, NEW), claims()], ["supported", "unsupported"], [[1], []]),
    ],
)
def test_claims_that_one_part_of_the_contexts_leaves_open_are_checked_against_the_next(
    replies, verdicts, documents
):
    model = Scripted(*replies)
    judge = judges.ClaimFaithfulness(model, part_characters=60)
    found = judge("some text", contexts=CONTEXTS).metadata["claims"]
    assert [each["verdict"] for each in found] == verdicts
    assert [each["documents"] for each in found] == documents
    assert len(model.requests) == len(replies)
    if len(replies) == 2:
        assert "Rome is warm" in model.said
        assert "some text" not in model.said


def test_a_text_without_claims_is_unscored_and_an_empty_one_costs_nothing():
    model = Scripted(claims())
    for text in ("Hello!", ""):
        assert judges.ClaimFaithfulness(model)(text, contexts=CONTEXTS).label == "no_claims"
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("found", "recall", "precision"),
    [
        ((RIGHT, OLD), 1.0, (1 + 2 / 3) / 2),
        ((OLD, NEW), 0.5, 1 / 3),
        ((RIGHT,), 1.0, 1.0),
        ((NEW,), 0.0, 0.0),
        ((("a", "", [1, 9, 0], "Supported."),), 1.0, 1.0),
        ((("a", None, ["[1]"], "supported"), ("b", "", "[2]", "unsupported")), 0.5, 1.0),
        ((("a", "", None, "supported"),), 1.0, 0.0),
    ],
)
def test_contexts_are_held_against_the_claims_of_the_reference(found, recall, precision):
    fields = {"reference": "Rome was founded in 753 BC.", "contexts": CONTEXTS}
    model = Scripted(claims(*found))
    assert judges.ContextRecall(model)("x", **fields).score == pytest.approx(recall)
    assert judges.ContextPrecision(model)("x", **fields).score == pytest.approx(precision)
    asked = {request.messages for request in model.requests}
    assert len(asked) == 1  # a run pays once for both
    one_text = {**fields, "contexts": "\n".join(CONTEXTS)}
    assert judges.ContextPrecision(model)("x", **one_text).score == (recall > 0)


def test_an_array_of_contexts_is_numbered_as_a_list_is():
    contexts = pytest.importorskip("numpy").array(CONTEXTS)
    model = Scripted(claims(RIGHT, OLD))
    fields = {"reference": "Rome was founded in 753 BC.", "contexts": contexts}
    assert judges.ContextPrecision(model)("x", **fields).score == pytest.approx((1 + 2 / 3) / 2)
    assert "[3] Rome was founded in 753 BC." in model.said
    parts = judges.ClaimFaithfulness(model, part_characters=60)("x", contexts=contexts)
    assert parts.score == 1.0


def test_relevance_is_the_share_of_claims_that_help_to_answer_and_may_quote_the_question():
    found = (("It is Rome", "capital", [], "relevant"), ("I like it", "", [], "irrelevant"))
    model = Scripted(claims(*found))
    fields = {"input": "What is the capital?", "contexts": {"city": "Rome"}}
    result = judges.AnswerRelevance(model)("It is Rome. I like it.", **fields)
    assert (result.score, result.metadata["claims"][0]["quoted"]) == (0.5, True)
    model = Scripted(claims(("It is Rome", "capital", [1], "supported")))
    judge = judges.ClaimFaithfulness(model, part_characters=1)
    assert judge("It is Rome.", **fields).metadata["claims"][0]["quoted"] is False
    assert '{"city": "Rome"}' in model.said  # no list, so that it is one text
