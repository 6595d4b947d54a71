"""Questions and outputs written by a model: as many as asked for, of the kind asked for."""

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import judges
from llmeval_integrations.core.errors import ClientError
from llmeval_integrations.llm.reply import Reply

SPECS = "All technical specifications; professional tone; under 100 words."
TASK = "Write a product description for a 65-inch TV."


def reply(*questions):
    return {"questions": [{"question": question} for question in questions]}


def choose(choices):
    return {"questions": [{"question": "How long?", "choices": [*choices]}]}


TEXTS = ["Is it short?", "Is it kind?", "Is it true?"]
THREE = reply(*TEXTS)


@pytest.mark.parametrize("said", [THREE, {"questions": TEXTS}, f"questions = {TEXTS}", TEXTS])
def test_so_many_questions_come_and_can_be_asked(said):
    model = Scripted(said)
    generator = judges.QuestionGenerator(model, domain="product descriptions")
    questions = generator.generate(SPECS, 3)
    assert questions == TEXTS
    for text in (SPECS, "exactly 3", "product descriptions", "answered with Pass or Fail"):
        assert text in model.said
    assert judges.Questionnaire(Scripted(judgement()), questions)("a").score == 1.0
    generator.generate(SPECS, 3, question_type="scaled")
    assert "answered with a number" in model.said


def test_questions_of_multiple_choice_have_choices():
    model = Scripted(choose([" a", *"bcdef"]))
    [question] = judges.QuestionGenerator(model).generate(SPECS, 1, "multiple_choice")
    assert (question, question.choices) == ("How long?", tuple("abcdef"))


@pytest.mark.parametrize(
    ("kind", "came", "words"),
    [
        ("binary", reply("Is it short?", "Is it kind?"), "expected 3 different questions, got"),
        ("binary", reply("a?", "", "b?"), "expected 3 different questions, got"),
        ("binary", "1. a? 2. b? 3. c?", "no object with 'questions'"),
        ("multiple_choice", choose(["a"]), "choices"),
        ("multiple_choice", choose("abcdefg"), "choices"),
        ("multiple_choice", choose(["a", "A "]), "choices"),
    ],
)
def test_other_than_what_was_asked_for_is_an_error_that_says_what_came(kind, came, words):
    model = Scripted(came)
    with pytest.raises(judges.UnreadableJudgementError, match=words):
        judges.QuestionGenerator(model).generate(SPECS, 3, kind)
    assert len(model.requests) == 2
    if kind == "binary":
        assert len(judges.QuestionGenerator(Scripted(came, THREE)).generate(SPECS, 3)) == 3


@pytest.mark.parametrize("temperatures", [[0.5, 0.6, 0.7, 0.8, 0.9], [0.5]])
def test_a_batch_of_outputs_spreads_the_temperatures_evenly(temperatures):
    model = Scripted(lambda request: f"at {request.temperature}")
    generator = judges.OutputGenerator(model, role="You write.", max_tokens=200)
    outputs = generator.generate_batch(TASK, len(temperatures), temperature_range=(0.5, 0.9))
    assert [output.temperature for output in outputs] == temperatures
    assert [output.text for output in outputs] == [f"at {each}" for each in temperatures]
    assert {request.draw for request in model.requests} == {(n,) for n in range(len(outputs))}
    assert model.requests[0].messages[0].text == "You write."
    assert model.requests[0].max_tokens == 200


def test_each_variation_is_a_prompt_and_the_task_and_a_call_that_fails_raises():
    model = Scripted(lambda request: request.messages[-1].text.upper())
    prompts = ["Write technically.", "Write for marketing.", "Explain the features."]
    outputs = judges.OutputGenerator(model, temperature=0.3).generate_variations(TASK, prompts)
    assert [output.prompt for output in outputs] == [f"{p}\n\n{TASK}" for p in prompts]
    assert all(output.text == output.prompt.upper() for output in outputs)
    assert {request.temperature for request in model.requests} == {0.3}
    cut = judges.OutputGenerator(Scripted(Reply("A TV w", "length")))
    assert cut.generate_batch(TASK, 1)[0].finish == "length"
    failing = Scripted("A TV.", ClientError("no key", kind="authentication"))
    with pytest.raises(ClientError, match="no key"):
        judges.OutputGenerator(failing).generate_batch(TASK, 3)
