"""Ready-made criteria: what each needs, shows and asks."""

from dataclasses import replace

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import InvalidOptionError, MissingFieldError, Sample, load_evaluator
from llmeval_integrations.judges import Completeness, Relevance, Tone

NEEDS = {
    "correctness": ("reference",),
    "faithfulness": ("contexts",),
    "relevance": ("input",),
    "completeness": ("input",),
    "instruction_adherence": ("input",),
    "tone": (),
    "safety": (),
}
FULL = Sample("The output.", "The reference.", "The input.", ["The context."])
every_criterion = pytest.mark.parametrize("name", NEEDS)


@every_criterion
def test_it_is_loaded_by_name_and_judges(name):
    client = Scripted(judgement("Fail", "Medium"))
    result = load_evaluator(name, model=client).evaluate(FULL)
    assert (result.score, result.passed) == (0.15, False)
    assert "The output." in client.said


@every_criterion
def test_it_shows_what_it_needs(name):
    client = Scripted(judgement())
    load_evaluator(name, model=client).evaluate(FULL)
    for field in NEEDS[name]:
        assert f"The {field.rstrip('s')}." in client.said


@every_criterion
def test_what_it_needs_has_to_be_there(name):
    judge = load_evaluator(name, model=Scripted(judgement()))
    assert judge.needs == NEEDS[name]
    for field in judge.needs:
        with pytest.raises(MissingFieldError, match=field):
            judge("The output.")


@pytest.mark.parametrize(
    ("name", "field"),
    [(name, field) for name, needs in NEEDS.items() for field in needs if field != "reference"],
)
def test_none_is_not_what_it_needs(name, field):
    judge = load_evaluator(name, model=Scripted(judgement()))
    with pytest.raises(MissingFieldError, match=field):
        judge("The output.", **{field: None})


@pytest.mark.parametrize(
    ("name", "fields", "told"),
    [
        ("faithfulness", {"contexts": []}, "(none)"),
        ("faithfulness", {"contexts": ""}, "(none)"),
        ("relevance", {"input": ""}, "(empty)"),
        ("correctness", {"reference": ""}, "(empty)"),
    ],
)
def test_the_judge_is_told_that_what_it_needs_is_empty(name, fields, told):
    client = Scripted(judgement())
    assert load_evaluator(name, model=client)("The output.", **fields).passed is True
    assert f"\n{told}\n" in client.said


@every_criterion
def test_a_column_of_the_data_is_not_the_criterion(name):
    client = Scripted(judgement())
    variables = {"question": "What is 2+2?", "role": "admin"}
    judge = load_evaluator(name, model=client)
    judge("a", "b", "c", contexts=["d"], variables=variables)
    assert f"Question: {judge.asked}\n" in client.said
    for foreign in variables.values():
        assert foreign not in client.said


def test_no_two_ask_the_same():
    questions = {load_evaluator(name, model=Scripted("")).question for name in NEEDS}
    assert len(questions) == len(NEEDS)
    assert all("(Pass = " in question for question in questions)


@pytest.mark.parametrize("criterion", [Relevance, Completeness])
def test_an_instruction_stands_for_the_input(criterion):
    client = Scripted(judgement())
    assert criterion(client, instruction="Be brief.")("a").passed is True
    assert "Be brief." in client.said


def test_the_tone_is_an_option():
    client = Scripted(judgement())
    Tone(client, tone="warm {and} plain")("a")
    assert "tone of the text warm {and} plain throughout" in client.said


def test_another_tone_is_asked_for_by_a_judge_made_of_one():
    client = Scripted(judgement())
    replace(Tone(client), tone="rude")("a")
    assert "tone of the text rude throughout" in client.said
    assert "polite" not in client.said


def test_a_tone_is_never_ignored():
    client = Scripted(judgement())
    with pytest.raises(InvalidOptionError, match="tone='formal' has no place in the question"):
        Tone(client, question="Is it rude?", tone="formal")
    Tone(client, question="Is it {tone}?", tone="formal")("a")
    assert "Question: Is it formal?" in client.said
    Tone(client, question="Is it rude?")("a")
    assert "Question: Is it rude?" in client.said
