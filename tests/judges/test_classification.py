"""A label out of a list, and a grade on a scale with anchors."""

import pytest
from scripted import Scripted

from llmeval_integrations import Sample, load_evaluator
from llmeval_integrations.judges import Classification, Rubric

SCORES = {"positive": 1.0, "neutral": 0.5, "negative": 0}


def said(label, explanation="so it reads"):
    return {"explanation": explanation, "label": label}


def classify(*replies, choices=("positive", "negative"), **options):
    return Classification("sentiment", Scripted(*replies), "Classify: {output}", choices, **options)


@pytest.mark.parametrize(
    ("choices", "score", "passed"),
    [
        (["positive", "neutral", "negative"], None, None),
        (SCORES, 1.0, True),
        ({"positive": (0.2, "it is glad"), "negative": (0, "it is sad")}, 0.2, False),
    ],
)
def test_choices_give_label_and_score(choices, score, passed):
    result = classify(said("positive"), choices=choices, threshold=0.5)("Lovely!")
    assert (result.label, result.score, result.passed) == ("positive", score, passed)
    assert result.reason == "so it reads"
    assert not result.is_unscored


@pytest.mark.parametrize(
    "reply", [said("glad"), said("positive or negative"), said(None), "not positive", ""]
)
def test_a_label_is_never_guessed_and_asked_for_once_more(reply):
    judge = classify(reply)
    result = judge("x")
    assert (result.score, result.passed, result.label) == (None, None, "unreadable")
    assert [message.role for message in judge.model.requests[1].messages][-2] == "assistant"
    again = classify(reply, said("negative"), choices=SCORES)("x")
    assert (again.label, again.score, again.metadata["judge"]["calls"]) == ("negative", 0, 2)


def test_the_choices_are_told_and_asked_for():
    model = Scripted(said("good"))
    choices = {"good": (1, "it helps"), "bad": (0, "it does not")}
    prompt = [{"role": "user", "content": "Rate {text}"}]
    judge = Classification("help", model, prompt, choices)
    judge.evaluate(Sample("unused", variables={"text": "I am glad."}))
    assert model.said.startswith("Rate I am glad.")
    assert "- good: it helps\n- bad: it does not" in model.said
    assert model.requests[0].schema["properties"]["label"]["enum"] == ["good", "bad"]
    assert list(model.requests[0].schema["properties"]) == ["explanation", "label", "mark"]


# --- rubrics --------------------------------------------------------------------------------------

ANCHORS = {1: "Rude throughout.", 3: "Plain.", 5: "Warm throughout."}


@pytest.mark.parametrize(
    ("reply", "score", "label"),
    [
        (said("1"), 0.0, "1"),
        (said(4), 0.75, "4"),
        ("Grade: 5/5", 1.0, "5"),
        ("It is plain. [[3]]", 0.5, "3"),
        ("Score: 9", None, "unreadable"),
        ("4 or 5", None, "unreadable"),
    ],
)
def test_a_grade_is_a_place_between_the_lowest_and_the_highest(reply, score, label):
    model = Scripted(reply)
    result = Rubric(model, ANCHORS, "Is it polite?", threshold=0.5)("Please.", input="Ask.")
    assert (result.score, result.label) == (score, label)
    assert result.passed is (None if score is None else score >= 0.5)


def test_the_model_is_told_the_anchors_the_question_and_labelled_samples():
    model = Scripted(said("5"))
    examples = [{"output": "Hey you!", "label": 1, "explanation": "rude"}]
    anchors = {str(grade): text for grade, text in ANCHORS.items()}  # as a file has them
    judge = load_evaluator(
        "rubric", model=model, anchors=anchors, question="Is it polite?", examples=examples
    )
    assert judge("Please.").score == 1.0
    for text in ("- 1: Rude throughout.\n- 2\n- 3: Plain.", "Is it polite?", "Output: Hey you!"):
        assert text in model.said
