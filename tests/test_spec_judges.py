"""What the documents of the judge systems that we cover show, under our names."""

from typing import Literal

import pytest
from scripted import Scripted

pydantic = pytest.importorskip("pydantic")

from llmeval_integrations.judges import (  # noqa: E402
    Classification,
    Judge,
    Judgement,
    PassFail,
    Prompt,
    ScoreTable,
    parse_judgement,
)
from llmeval_integrations.llm.messages import Message  # noqa: E402

ROLE = "You sell televisions.\nBe *friendly*."
TASK = "Describe this product: 4K, 65 inch, HDR10+, 3 HDMI ports."
ANSWER = "Our 6K screen of 65 inches has HDR10+ and three HDMI ports, for films and sports."
QUESTION = "Does the response hold ONLY what the task names? (Pass = nothing is added)"

# The document's own system crashes on this one: str.format takes the example for a variable.
TEMPLATE = """
**Assessment Question:**
{question}

**Student Response to Evaluate:**
{output}

Background:
- Student Role: {role}
- Student Instruction: {instruction}

Example format:
{
  "reasoning": "The response names no price.",
  "verdict": "Fail",
  "confidence": "High"
}
"""

PYTHON_QUOTES = """{
    'reasoning': "The response writes '6K' where the task says '4K', so the two do not match.",
    'verdict': 'Fail',
    'confidence': 'High'}"""

# Line breaks and single quotes inside a string, as models write them and JSON forbids.
BROKEN_LINES = """{
    "reasoning": "Some of the response does not stand in the task:
    1. '6K' instead of '4K'
    2. 'for films and sports'
    The rest (HDR10+, three HDMI ports) is right.",
    "verdict": "Fail",
    "confidence": "High"
}"""


# --- A judge of one question ---------------------------------------------------------------------


@pytest.mark.parametrize("reply", [PYTHON_QUOTES, BROKEN_LINES])
def test_the_printed_verdicts_are_read_and_score_0(reply):
    judgement = parse_judgement(reply)
    assert (str(judgement.verdict), str(judgement.confidence)) == ("Fail", "High")
    assert "'6K'" in judgement.reasoning
    assert ScoreTable().score(judgement) == 0.0


@pytest.mark.parametrize("reply", [PYTHON_QUOTES, BROKEN_LINES])
def test_the_template_with_an_example_in_it_works(reply):
    client = Scripted(reply)
    judge = PassFail(client, QUESTION, role=ROLE, instruction=TASK, prompt=TEMPLATE, output="text")
    result = judge(ANSWER)
    assert (result.score, result.passed, result.label) == (0.0, False, "Fail")
    assert result.metadata["confidence"] == "High"
    for said in (QUESTION, ANSWER, ROLE, TASK, '"reasoning": "The response names no price."'):
        assert said in client.said


class Evaluation(pydantic.BaseModel):
    reasoning: str = pydantic.Field(description="Why")
    verdict: Literal["Pass", "Fail"] = pydantic.Field(description="The judgement")
    confidence: Literal["High", "Medium", "Low"] = pydantic.Field(description="How sure")


def test_an_answer_in_a_model_of_the_callers():
    answer = {"reasoning": "All is there.", "verdict": "Pass", "confidence": "Medium"}
    assert Scripted(answer).ask("Judge.", result_type=Evaluation) == Evaluation(**answer)
    judge = Judge(Scripted(answer), "Judge {output}", Evaluation, score=ScoreTable().score)
    assert judge(ANSWER).score == 0.85
    assert judge(ANSWER).metadata["answer"] == answer


@pytest.mark.parametrize(
    ("verdict", "confidence", "default", "custom"),
    [
        ("Pass", "High", 1.0, 1.0),
        ("Pass", "Medium", 0.85, 0.8),
        ("Pass", "Low", 0.6, 0.5),
        ("Fail", "High", 0.0, 0.0),
        ("Fail", "Medium", 0.15, 0.2),
        ("Fail", "Low", 0.4, 0.5),
    ],
)
def test_the_score_table_and_weights_of_ones_own(verdict, confidence, default, custom):
    weights = ScoreTable(
        pass_high=1.0, pass_medium=0.8, pass_low=0.5, fail_high=0.0, fail_medium=0.2, fail_low=0.5
    )
    for case in (str, str.lower, str.upper):
        judged = {"reasoning": "-", "verdict": case(verdict), "confidence": case(confidence)}
        assert ScoreTable().score(judged) == default
        assert weights.score(judged) == custom


def test_three_ways_of_reading_and_keys_of_ones_own():
    by_json = '{"reasoning": "-", "verdict": "Pass", "confidence": "Low"}'
    in_prose = f"Here is what I found: {by_json} That is all."
    in_sections = "Reasoning: it says so\nVerdict: pass\nConfidence: low"
    for reply in (by_json, in_prose, in_sections):
        judgement = parse_judgement(reply)
        assert isinstance(judgement, Judgement)
        assert ScoreTable().score(judgement) == 0.6
    assert str(parse_judgement('{"verdict": "Fail"}', ["verdict"]).verdict) == "Fail"
    assert (
        parse_judgement('{"reason": "so", "verdict": "Fail"}', ["reason", "verdict"]).reasoning
        == "so"
    )


# --- The two planned tools -----------------------------------------------------------------------


# --- The three forms of a prompt -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "choices", "variables", "messages"),
    [
        (
            "Classify the sentiment: {text}",
            ["positive", "negative", "neutral"],
            {"text": "Lovely."},
            [Message("user", "Classify the sentiment: Lovely.")],
        ),
        (
            [
                {"role": "system", "content": "Say how helpful the answer is."},
                {"role": "user", "content": "Question: {question}\nAnswer: {answer}"},
            ],
            ["helpful", "somewhat_helpful", "not_helpful"],
            {"question": "What is Python?", "answer": "A language"},
            [
                Message("system", "Say how helpful the answer is."),
                Message("user", "Question: What is Python?\nAnswer: A language"),
            ],
        ),
        (
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Question: {{question}}"},
                        {"type": "text", "text": "Answer: {{answer}}"},
                    ],
                }
            ],
            ["relevant", "not_relevant"],
            {"question": "What is Python?", "answer": "A language"},
            [Message("user", ("Question: What is Python?", "Answer: A language"))],
        ),
    ],
    ids=["a text", "messages", "parts"],
)
def test_classification_takes_all_three(template, choices, variables, messages):
    assert Prompt(template).render(variables) == messages
    client = Scripted({"explanation": "so", "label": choices[0]})
    judge = Classification("sentiment", client, template, choices)
    result = judge.evaluate({"output": None, "variables": variables})
    assert result.label == choices[0]
    assert [message.role for message in client.requests[0].messages][: len(messages)] == [
        message.role for message in messages
    ]
