"""A label out of a list, a grade on a scale with anchors, and the better of two outputs."""

import asyncio

import pytest
from scripted import Scripted

from llmeval_integrations import MissingFieldError, Sample, evaluate, load_evaluator
from llmeval_integrations.core.errors import ClientError, UnreadableJudgementError
from llmeval_integrations.judges import Classification, Preference, Rubric
from llmeval_integrations.llm.reply import Reply


def said(label, explanation="so it reads"):
    return {"explanation": explanation, "label": label}


@pytest.mark.parametrize(
    ("choices", "threshold", "score", "passed"),
    [
        (["positive", "neutral", "negative"], None, None, None),
        ({"positive": 1.0, "neutral": 0.5, "negative": 0}, 0.5, 1.0, True),
        ({"positive": (0.2, "it is glad"), "negative": (0, "it is sad")}, 0.5, 0.2, False),
    ],
)
def test_choices_give_label_and_score(choices, threshold, score, passed):
    model = Scripted(said("positive"))
    judge = Classification("tone", model, "Classify: {output}", choices, threshold=threshold)
    result = judge("Lovely!")
    assert (result.label, result.score, result.passed) == ("positive", score, passed)
    assert result.reason == "so it reads"
    assert not result.is_unscored


def test_the_choices_are_told_and_asked_for():
    model = Scripted(said("good"))
    choices = {"good": (1, "it helps"), "bad": (0, "it does not")}
    judge = Classification("help", model, [{"role": "user", "content": "Rate {question}"}], choices)
    judge.evaluate(Sample("unused", variables={"question": "I am glad."}))
    assert model.said.startswith("Rate I am glad.")
    assert "- good: it helps\n- bad: it does not" in model.said
    form = model.requests[0].schema["properties"]
    assert ([*form], form["label"]["enum"]) == (["explanation", "label", "mark"], ["good", "bad"])


# --- rubrics --------------------------------------------------------------------------------------

ANCHORS = {1: "Rude throughout.", 3: "Plain.", 5: "Warm throughout."}


@pytest.mark.parametrize(
    ("reply", "score", "label"),
    [
        (said("1"), 0.0, "1"),
        (said(4), 0.75, "4"),
        ("Grade: 5/5", 1.0, "5"),
        ("It is plain. [[3]]", 0.5, "3"),
    ],
)
def test_a_grade_is_a_place_between_the_lowest_and_the_highest(reply, score, label):
    model = Scripted(reply)
    result = Rubric(model, ANCHORS, "Is it polite?", threshold=0.5)("Please.", input="Ask.")
    assert (result.score, result.label) == (score, label)
    assert result.passed is (score >= 0.5)


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


# --- the better of two ------------------------------------------------------------------------------

GOOD = "Rome is the capital."


def prefer(choose):
    """A model that is given both texts, and says which place it prefers."""

    def reply(request):
        first, second = (
            request.text.split(f"<{place} {request.fence}>\n")[1].split("\n</")[0]
            for place in ("first", "second")
        )
        return {"explanation": "so", "label": choose(first, second), "mark": request.fence}

    return Scripted(reply)


def best(first, second):
    return "first" if first == GOOD else "second" if second == GOOD else "tie"


@pytest.mark.parametrize(
    ("choose", "output", "output_b", "expected"),
    [
        (best, GOOD, "Milan.", (1.0, "A", {"A first": "A", "B first": "A"}, None)),
        (best, "Milan.", GOOD, (0.0, "B", {"A first": "B", "B first": "B"}, None)),
        (best, "Milan.", "Turin.", (0.5, "tie", {"A first": "tie", "B first": "tie"}, None)),
        (lambda *_: "first", GOOD, "x", (0.5, "tie", {"A first": "A", "B first": "B"}, "first")),
        (lambda *_: "second", GOOD, "x", (0.5, "tie", {"A first": "B", "B first": "A"}, "second")),
    ],
)
def test_both_orders_are_asked_and_have_to_agree(choose, output, output_b, expected):
    model = prefer(choose)
    result = Preference(model)(output, input="Capital of Italy?", output_b=output_b)
    found = (result.score, result.label, result.metadata["answers"])
    assert (*found, result.metadata.get("position")) == expected
    assert len(model.requests) == result.metadata["judge"]["calls"] == 2
    strict = Preference(model, on_disagreement="unscored")(output, output_b=output_b)
    agreed = (None, "disagreement") if expected[3] else expected[:2]
    assert (strict.score, strict.label) == agreed
    [row] = evaluate([{"output": output, "output_b": output_b}], Preference(model)).rows
    assert (row.score, row.label) == expected[:2]
    with pytest.raises(MissingFieldError, match="output_b"):
        Preference(model)(output)


@pytest.mark.parametrize(
    ("failure", "label"),
    [
        (ClientError("no reply", kind="authentication"), "authentication"),
        (ClientError("spent", kind="budget"), "budget"),
        (Reply("no", "refused"), "refused"),
        (Reply("aaa", "length"), "cut"),
        (UnreadableJudgementError("what?"), "unreadable"),
    ],
)
def test_a_failure_beside_an_answer_is_unscored_and_keeps_the_account(failure, label):
    judge = Preference(Scripted(failure, said("first"), failure), retries=0)
    result = judge("Rome.", output_b="Milan.")
    assert (result.score, result.passed, result.label) == (None, None, label)
    assert result.reason
    assert result.metadata["judge"]["calls"] >= 1


def test_a_slow_answer_beside_a_failure_is_waited_for_and_counted():
    class Slow(Scripted):
        async def complete(self, request):
            answer = await super().complete(request)  # the second question fails at once
            await asyncio.sleep(0.05)
            return answer

    model = Slow(said("first"), ClientError("no reply", kind="authentication"))
    result = Preference(model)("Rome.", output_b="Milan.")
    assert (result.score, result.label) == (None, "authentication")
    account = result.metadata["judge"]
    assert (account["calls"], account["input_tokens"], account["output_tokens"]) == (1, 10, 5)
