"""Ready-made criteria: what each needs, shows and asks."""

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import MissingFieldError, Sample, load_evaluator
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
    result = load_evaluator(name, client=client).evaluate(FULL)
    assert (result.score, result.passed) == (0.15, False)
    assert "The output." in client.said


@every_criterion
def test_it_shows_what_it_needs(name):
    client = Scripted(judgement())
    load_evaluator(name, client=client).evaluate(FULL)
    for field in NEEDS[name]:
        assert f"The {field.rstrip('s')}." in client.said


@every_criterion
def test_what_it_needs_has_to_be_there(name):
    judge = load_evaluator(name, client=Scripted(judgement()))
    assert judge.needs == NEEDS[name]
    for field in judge.needs:
        with pytest.raises(MissingFieldError, match=field):
            judge("The output.")


def test_no_two_ask_the_same():
    questions = {load_evaluator(name, client=Scripted("")).question for name in NEEDS}
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
