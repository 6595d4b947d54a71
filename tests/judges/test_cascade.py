"""Cheap evaluators first, the next one only where the one before cannot tell."""

from itertools import count

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import ExactMatch, InvalidOptionError, StringDistance, evaluate
from llmeval_integrations.judges import Cascade, PassFail

NUMBERS = count()
SURE, UNSURE = judgement("Fail"), judgement("Pass", "Low")


def judge(*replies):
    number = next(NUMBERS)  # no two ask the same, which would be asked once
    return PassFail(Scripted(*replies), f"Is it right? {number}", retries=0)


@pytest.mark.parametrize(
    ("evaluators", "options", "score", "asked"),
    [
        ([ExactMatch(), judge(SURE)], {}, 0.0, ["exact_match"]),
        ([judge(SURE), judge(UNSURE)], {}, 0.0, ["pass_fail"]),
        ([judge(UNSURE), judge(SURE)], {}, 0.0, ["pass_fail", "pass_fail_2"]),
        ([judge(UNSURE), judge(SURE)], {"doubt": False}, 0.6, ["pass_fail"]),
        ([judge("no idea"), judge(SURE)], {}, 0.0, ["pass_fail", "pass_fail_2"]),
        ([judge(UNSURE), judge(UNSURE)], {}, 0.6, ["pass_fail", "pass_fail_2"]),
        ([judge("no idea"), ExactMatch()], {}, 0.0, ["pass_fail", "exact_match"]),
        ([judge("no idea")], {}, None, ["pass_fail"]),
    ],
)
def test_the_first_that_can_tell_decides(evaluators, options, score, asked):
    result = Cascade(evaluators, **options)("a", "b")
    assert (result.score, result.metadata["asked"]) == (score, asked)


def test_a_run_says_how_often_each_was_asked():
    cheap = judge(UNSURE, SURE, SURE)
    cascade = Cascade([cheap, judge(SURE)])
    run = evaluate([{"output": text} for text in "abc"], cascade)
    assert run.summary["evaluators"]["cascade"]["asked"] == {"pass_fail": 3, "pass_fail_2": 1}


@pytest.mark.parametrize("wrong", [[], "exact_match", [1], None])
def test_a_cascade_is_made_of_evaluators(wrong):
    with pytest.raises(InvalidOptionError, match="cascade"):
        Cascade(wrong)
    assert Cascade([StringDistance()]).lower_is_better
