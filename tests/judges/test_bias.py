"""What changes that should not matter do to a judge."""

from dataclasses import dataclass

import pytest

from llmeval_integrations import Evaluator, Result
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.judges.trust import judge_bias


@dataclass(frozen=True)
class Likes(Evaluator):
    """Passes what is long enough, or what has a heading."""

    least: int = 0
    headings: bool = False

    def check(self, sample):
        passed = len(sample.output) >= self.least and (not self.headings or "##" in sample.output)
        return Result(float(passed), passed)


@dataclass(frozen=True)
class PrefersFirst(Evaluator):
    """Takes the first of two, whatever it is."""

    needs = ("output_b",)

    def check(self, sample):
        return Result(1.0, None, "A")


SAMPLES = [
    {"output": f"It is {'very ' * number}good. Yes.", "group": number % 25} for number in range(50)
]


def test_a_fair_judge_has_no_shift():
    for shift in judge_bias(Likes(), SAMPLES).values():
        assert (shift.samples, shift.changed, shift.shift) == (50, (0, 50), 0.0)
        assert shift.interval is None or shift.interval[0] < 0 < shift.interval[1]


def test_a_judge_that_likes_length_or_lists_is_found_out():
    by_length = judge_bias(Likes(least=60), SAMPLES)["length"]
    assert 0 < by_length.changed.part < 50
    assert by_length.interval[0] > 0
    by_form = judge_bias(Likes(headings=True), SAMPLES)
    assert by_form["formatting"].changed == (50, 50)
    assert by_form["formatting"].shift == 1.0
    assert by_form["length"].changed == (0, 50)
    assert str(by_form["formatting"]).startswith(
        "50 of 50 verdicts change (93% to 100%), scores by +1.000"
    )


def test_changes_are_the_callers_choice_and_bad_samples_are_refused():
    shout = {"shout": lambda sample: type(sample)(sample.output.upper())}
    assert list(judge_bias(Likes(), SAMPLES, shout)) == ["shout"]
    with pytest.raises(InputError, match="there is no sample"):
        judge_bias(Likes(), [])
    with pytest.raises(InputError, match="the output 3 is not a text"):
        judge_bias(Likes(), [{"output": 3}])


def test_a_judge_that_takes_the_first_is_wholly_biased_by_position():
    pairs = [{**sample, "output_b": "No."} for sample in SAMPLES]
    shift = judge_bias(PrefersFirst(), pairs)["position"]
    assert (shift.changed, shift.shift) == ((50, 50), -1.0)
