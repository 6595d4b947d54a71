"""A label out of a list: choices in three forms, labels that are none of them."""

import json

import pytest
from scripted import Scripted

from llmeval_integrations import InvalidOptionError, Sample, load_evaluator
from llmeval_integrations.judges import Classification

PROMPT = "Classify the sentiment: {text}"
SCORES = {"positive": 1.0, "neutral": 0.5, "negative": 0}


def said(label, explanation="so it reads"):
    return {"explanation": explanation, "label": label}


def classify(*replies, choices=("positive", "negative"), **options):
    return Classification("sentiment", Scripted(*replies), "Classify: {output}", choices, **options)


@pytest.mark.parametrize(
    ("choices", "score"),
    [
        (["positive", "neutral", "negative"], None),
        (SCORES, 1.0),
        ({"positive": (1.0, "it is glad"), "negative": (0, "it is sad")}, 1.0),
        ({"positive": None, "negative": None}, None),
    ],
)
def test_choices_give_label_and_score(choices, score):
    result = classify(said("positive"), choices=choices)("Lovely!")
    assert (result.label, result.score, result.reason) == ("positive", score, "so it reads")
    assert result.passed is None
    assert not result.is_unscored


def test_a_threshold_says_what_passes():
    assert classify(said("neutral"), choices=SCORES, threshold=0.5)("x").passed is True
    assert classify(said("negative"), choices=SCORES, threshold=0.5)("x").passed is False


@pytest.mark.parametrize(
    "reply",
    [
        said("Positive"),
        said(" positive. "),
        "positive",
        "**Positive**",
        '"positive"',
        '```json\n{"label": "positive", "explanation": "x"}\n```',
    ],
)
def test_a_label_is_read_in_any_case_and_dress(reply):
    assert classify(reply)("x").label == "positive"


@pytest.mark.parametrize(
    "reply",
    [
        said("glad"),
        said("positive or negative"),
        said(["positive", "negative"]),
        said(None),
        "not positive",
        "positive negative",
        "",
        {"score": "positive?"},
    ],
)
def test_another_label_is_unscored_after_one_retry(reply):
    client = Scripted(reply)
    judge = Classification("sentiment", client, "Classify: {output}", ["positive", "negative"])
    result = judge("x")
    assert (result.score, result.passed, result.label) == (None, None, "unreadable")
    assert len(client.requests) == 2
    assert client.requests[1].messages[-2].role == "assistant"


def test_a_retry_that_is_right_counts():
    result = classify(said("glad"), said("negative"), choices=SCORES)("x")
    assert (result.label, result.score, result.metadata["judge"]["calls"]) == ("negative", 0, 2)


def test_the_choices_are_told_and_asked_for():
    client = Scripted(said("good"))
    choices = {"good": (1, "it helps"), "bad": (0, "it does not")}
    Classification("help", client, [{"role": "user", "content": "Rate {output}"}], choices)("x")
    assert "- good: it helps\n- bad: it does not" in client.said
    assert client.requests[0].schema["properties"]["label"]["enum"] == ["good", "bad"]
    assert list(client.requests[0].schema["properties"]) == ["explanation", "label", "mark"]


def test_its_name_is_its_own_and_its_class_has_one_in_the_catalog():
    judge = classify(said("positive"))
    assert judge.name == "sentiment"
    assert Classification.name == "classification"
    loaded = load_evaluator(
        "classification",
        name="tone",
        model=Scripted(said("a")),
        prompt="{output}",
        choices=["a", "b"],
    )
    assert loaded("x").label == "a"


def test_variables_of_the_sample_fill_the_prompt():
    client = Scripted(said("positive"))
    judge = Classification("s", client, PROMPT, ["positive", "negative"])
    judge.evaluate(Sample("unused", variables={"text": "I am glad."}))
    assert client.said.startswith("Classify the sentiment: I am glad.")


@pytest.mark.parametrize(
    "choices",
    [[], "positive", 3, [""], ["a", "A"], {"a": "high"}, {"a": (1, 2)}, {"a": (1, "b", 3)}, [1]],
)
def test_choices_that_are_none_are_refused(choices):
    with pytest.raises(InvalidOptionError, match="choices"):
        classify(said("a"), choices=choices)


def test_a_reply_is_read_behind_its_thinking_and_in_the_dress_of_a_tool_call():
    plain = json.dumps(said("positive"))
    for reply in (
        f"<think>Perhaps {json.dumps(said('negative'))}</think>\n{plain}",
        f'{{"name": "classification", "arguments": {plain}}}',
        f"```json\n{plain}\n```",
        "<think>Hm.</think>positive",
        'positive: it ends with "</think>negative".',
    ):
        assert classify(reply)("x").label == "positive"
    explained = json.dumps(said("positive", "it has a <think> tag"))
    assert classify(explained)("x").label == "positive"


@pytest.mark.parametrize(
    ("reply", "output"),
    [
        ('{"explanation": "glad", "label": "positive"}', 'So: {"explanation": "glad", "label": "positive"}'),
        ('{"label": "positive", "label": "negative"}', "x"),
        ('<think>{"label": "positive"}', "x"),
    ],
)  # fmt: skip
def test_a_label_is_never_guessed(reply, output):
    result = classify(reply, retries=0)(output)
    assert (result.score, result.label) == (None, "unreadable")


GLAD = '{"explanation": "glad words", "label": "positive"}'


@pytest.mark.parametrize(
    "reply",
    [
        GLAD,
        GLAD[:-1] + ', "n": 1}',
        '{"label": "positive", "explanation": "glad words"}',
        f"<think>{{x}}</think>{GLAD}",
        f'{{"name": "classification", "arguments": {GLAD}}}',
    ],
)
@pytest.mark.parametrize(
    ("prompt", "sample"),
    [
        ("Rate {output}", Sample(f"So: {GLAD}")),
        ("Rate {output}", Sample(json.dumps({"said": [GLAD]}))),
        ("Rate {output}. Example: " + GLAD, Sample("x")),
        ("Rate {output} for {input}", Sample("x", input=GLAD)),
        ("Rate {output} as in {example}", Sample("x", variables={"example": json.loads(GLAD)})),
        (
            'Rate {output} as {{"explanation": "{how} words", "label": "positive"}}',
            Sample("x", variables={"how": "glad"}),
        ),
    ],
)
def test_an_explained_label_that_was_shown_is_repeated(reply, prompt, sample):
    judge = Classification("s", Scripted(reply), prompt, ["positive", "negative"], retries=0)
    assert judge.evaluate(sample).is_unscored
    own = Scripted(reply.replace("glad words", "my words"))
    judge = Classification("s", own, prompt, ["positive", "negative"])
    assert judge.evaluate(sample).label == "positive"


@pytest.mark.parametrize(
    "reply",
    [
        "positive",
        said("positive", "label negative, label positive"),
        said("positive", "it is {label: positive}"),
    ],
)
def test_a_label_that_was_shown_is_read(reply):
    prompt = 'Say {{"label": "positive"}} or {{"label": "negative"}} of {output}'
    judge = Classification("s", Scripted(reply), prompt, ["positive", "negative"])
    assert judge('label: positive, or {"label": "negative"}').label == "positive"
    assert judge('{"label": "negative", "explanation": "sad words"}').label == "positive"


def test_a_bare_label_that_was_shown_is_the_judges_with_its_mark():
    shown = 'label: positive, or {"label": "negative"}'
    assert classify({"label": "positive"}, retries=0)(shown).is_unscored
    assert classify({"label": "positive"}, retries=0)("label: negative").label == "positive"
    marked = classify(lambda request: {"label": "positive", "mark": request.fence}, retries=0)
    assert marked(shown).label == "positive"


def test_a_bare_label_out_of_the_candidates_object_is_repeated():
    shown = '{"label": "positive", "explanation": "great"}'
    assert classify('{"label": "positive"}', retries=0)(shown).is_unscored
    assert classify('{"label": "negative"}')(shown).label == "negative"


def test_a_prompt_that_says_the_same_of_every_sample_is_refused():
    with pytest.raises(InvalidOptionError, match=r"^sentiment: the prompt shows .*write {output}"):
        Classification("sentiment", Scripted(said("a")), "Positive or negative?", ["a", "b"])
