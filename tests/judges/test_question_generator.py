"""Questions written by a model: exactly the number asked for, of the kind asked for."""

import asyncio
import pickle

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.judges import QuestionGenerator, Questionnaire, UnreadableJudgementError

SPECS = "All technical specifications; professional tone; under 100 words."


def reply(*questions):
    return {"questions": [{"question": question} for question in questions]}


THREE = reply("Is it short?", "Is it kind?", "Is it true?")


@pytest.mark.parametrize("kind", ["binary", "scaled"])
def test_so_many_questions_come(kind):
    client = Scripted(THREE)
    questions = QuestionGenerator(client).generate(SPECS, 3, question_type=kind)
    assert questions == ["Is it short?", "Is it kind?", "Is it true?"]
    assert SPECS in client.said
    assert "exactly 3" in client.said


def test_questions_of_multiple_choice_have_choices():
    client = Scripted({"questions": [{"question": "How long?", "choices": ["short", "long"]}]})
    [question] = QuestionGenerator(client).generate(SPECS, 1, "multiple_choice")
    assert (question, question.choices) == ("How long?", ("short", "long"))
    assert pickle.loads(pickle.dumps(question)).choices == ("short", "long")  # noqa: S301


@pytest.mark.parametrize(
    "choices",
    [
        None,
        "a, b",
        ["a"],
        list("abcdefg"),
        ["", " "],
        ["a", ""],
        ["a", "A "],
        ["a", 2],
        [["a"], ["b"]],
    ],
)
def test_two_to_six_choices_that_differ_are_wanted(choices):
    client = Scripted({"questions": [{"question": "How long?", "choices": choices}]})
    with pytest.raises(UnreadableJudgementError, match="2 to 6 different choices, got"):
        QuestionGenerator(client).generate(SPECS, 1, "multiple_choice")


def test_six_choices_are_not_too_many_and_lose_the_space_around_them():
    client = Scripted({"questions": [{"question": "How long?", "choices": [" a", *"bcdef"]}]})
    [question] = QuestionGenerator(client).generate(SPECS, 1, "multiple_choice")
    assert question.choices == tuple("abcdef")


def test_what_a_model_thinks_first_is_no_question():
    thought = '<think>["no?"] has one</think>\n["Is it short?", "Is it kind?"]'
    client = Scripted(thought)
    assert QuestionGenerator(client).generate(SPECS, 2) == ["Is it short?", "Is it kind?"]
    assert len(client.requests) == 1


def test_the_plain_list_that_some_models_give_is_read_too():
    generator = QuestionGenerator(Scripted('["Is it short?", "Is it kind?"]'))
    assert generator.generate(SPECS, 2) == ["Is it short?", "Is it kind?"]


def test_they_can_be_asked():
    questions = QuestionGenerator(Scripted(THREE)).generate(SPECS, 3)
    assert Questionnaire(Scripted(judgement()), questions)("a").score == 1.0


@pytest.mark.parametrize(
    ("kind", "came", "words"),
    [
        ("binary", reply("Is it short?", "Is it kind?"), "expected 3 questions, got 2"),
        ("binary", reply("a?", "b?", "c?", "d?"), "expected 3 questions, got 4"),
        ("binary", reply("a?", "a?", "b?"), "twice"),
        ("binary", reply("a?", "", "b?"), "expected a question"),
        ("binary", reply("a?", 3, "b?"), "expected a question"),
        ("binary", "1. a? 2. b? 3. c?", "expected a list"),
        ("multiple_choice", THREE, "choices"),
        (
            "multiple_choice",
            {"questions": [{"question": f"{n}?", "choices": ["a", "a"]} for n in range(3)]},
            "choices",
        ),
        ("binary", reply("a?", "A? ", "b?"), "twice"),
        ("binary", reply("Is it\nshort?", "Is it  short?", "b?"), "twice"),
    ],
)
def test_other_than_what_was_asked_for_is_an_error_that_says_what_came(kind, came, words):
    client = Scripted(came)
    with pytest.raises(UnreadableJudgementError, match=words):
        QuestionGenerator(client).generate(SPECS, 3, kind)
    assert len(client.requests) == 2


def test_a_second_reply_that_is_right_counts():
    client = Scripted(reply("a?"), THREE)
    assert len(QuestionGenerator(client).generate(SPECS, 3)) == 3


def test_a_model_that_is_not_reached_is_an_error():
    client = Scripted(ClientError("no reply", kind="timeout"))
    with pytest.raises(ClientError, match="no reply"):
        QuestionGenerator(client).generate(SPECS, 3)


def test_the_domain_is_told():
    client = Scripted(THREE)
    QuestionGenerator(client, domain="product descriptions").generate(SPECS, 3)
    assert "product descriptions" in client.said


def test_it_can_be_awaited():
    assert len(asyncio.run(QuestionGenerator(Scripted(THREE)).agenerate(SPECS, 3))) == 3


@pytest.mark.parametrize(
    "call",
    [
        lambda: QuestionGenerator(Scripted(THREE)).generate("", 3),
        lambda: QuestionGenerator(Scripted(THREE)).generate(SPECS, 0),
        lambda: QuestionGenerator(Scripted(THREE)).generate(SPECS, True),
        lambda: QuestionGenerator(Scripted(THREE)).generate(SPECS, 3, "open"),
        lambda: QuestionGenerator(Scripted(THREE), retries=-1),
        lambda: QuestionGenerator(Scripted(THREE), temperature=3),
    ],
)
def test_a_wrong_argument_is_refused(call):
    with pytest.raises(InvalidOptionError):
        call()
