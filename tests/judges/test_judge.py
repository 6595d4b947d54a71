"""An answer in the caller's own form: pydantic models, raw text, scores by field and function."""

import json
from typing import Literal

import pytest
from scripted import Scripted

from llmeval_integrations import InvalidOptionError, Sample
from llmeval_integrations.judges import Judge

pydantic = pytest.importorskip("pydantic")


class Rating(pydantic.BaseModel):
    reasoning: str
    stars: int = pydantic.Field(ge=1, le=5)
    tone: Literal["warm", "cold"]


GOOD = {"reasoning": "it rhymes", "stars": 4, "tone": "warm"}


def test_a_field_is_the_score():
    result = Judge(Scripted(GOOD), "Rate {output}", Rating, "stars", threshold=3)("a poem")
    assert (result.score, result.passed, result.reason) == (4, True, "it rhymes")
    assert result.metadata["answer"] == GOOD


@pytest.mark.parametrize(
    ("score", "figure", "passed"),
    [
        (lambda answer: answer.stars / 5, 0.8, None),
        (lambda answer: answer.tone == "warm", True, True),
    ],
)
def test_a_function_of_the_answer_is_the_score(score, figure, passed):
    result = Judge(Scripted(GOOD), "Rate {output}", Rating, score)("a poem")
    assert (result.score, result.passed) == (figure, passed)


def test_raw_text_is_kept_and_has_no_score():
    result = Judge(Scripted("A fine poem."), "Say something about {output}")("a poem")
    assert (result.score, result.label, result.reason) == (None, None, "A fine poem.")
    assert result.metadata["answer"] == "A fine poem."


def test_raw_text_may_be_scored_by_a_function():
    assert Judge(Scripted("7"), "Rate {output}", score=int, threshold=5)("x").passed is True


def test_the_schema_of_the_model_is_asked_for():
    client = Scripted(GOOD)
    Judge(client, "Rate {output}", Rating)("x")
    assert client.requests[0].schema["properties"]["stars"]["maximum"] == 5
    assert client.requests[0].schema_name == "Rating"


@pytest.mark.parametrize(
    "reply", [{**GOOD, "stars": 6}, {"stars": 4}, "four stars", {**GOOD, "tone": "hot"}, [GOOD]]
)
def test_an_answer_that_does_not_fit_is_unscored_after_one_retry(reply):
    client = Scripted(reply)
    result = Judge(client, "Rate {output}", Rating, "stars")("x")
    assert (result.score, result.label) == (None, "unreadable")
    assert len(client.requests) == 2


def test_a_second_answer_that_fits_counts():
    client = Scripted({**GOOD, "stars": 6}, GOOD)
    assert Judge(client, "Rate {output}", Rating, "stars")("x").score == 4
    assert "stars" in client.requests[1].messages[-1].text


def test_the_output_stands_between_marks():
    client = Scripted(GOOD)
    Judge(client, "Rate {output} of {name}", Rating).evaluate(Sample("x", variables={"name": "N"}))
    mark = client.requests[0].fence
    assert client.said == f"Rate <output {mark}>\nx\n</output {mark}> of N"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"result_type": int}, "result_type"),
        ({"result_type": {"type": "object"}}, "result_type"),
        ({"result_type": Rating, "score": "star"}, "stars"),
        ({"score": "stars"}, "score"),
        ({"score": 3}, "score"),
        ({"threshold": "high"}, "threshold"),
    ],
)
def test_a_wrong_option_is_named(options, words):
    with pytest.raises(InvalidOptionError, match=words):
        Judge(Scripted(GOOD), "Rate {output}", **options)


def test_a_score_that_is_no_number_is_a_bad_call():
    with pytest.raises(InvalidOptionError, match="score"):
        Judge(Scripted(GOOD), "Rate {output}", Rating, lambda _: "high")("x")


def test_thinking_is_no_answer_and_tags_in_an_answer_are_no_thinking():
    thought = f"<think>Two stars?</think>{json.dumps(GOOD)}"
    assert Judge(Scripted(thought), "Rate {output}", Rating, "stars")("a poem").score == 4
    tagged = {**GOOD, "reasoning": "it opens a <think> tag"}
    assert Judge(Scripted(tagged), "Rate {output}", Rating, "stars")("a poem").score == 4
    assert Judge(Scripted(thought), "Rate {output}")("a poem").metadata["answer"] == thought
