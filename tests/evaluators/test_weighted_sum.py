"""Several evaluators as one score."""

import asyncio
from dataclasses import dataclass

import numpy as np
import pytest
from scripted import Scripted, judgement

from llmeval_integrations import (
    Evaluator,
    InvalidOptionError,
    JsonValidity,
    LengthPenalty,
    Result,
    Sample,
    StringDistance,
    WeightedSum,
    evaluate,
    load_evaluator,
)
from llmeval_integrations.judges.evaluator import JudgedEvaluator


@dataclass(frozen=True)
class Says(Evaluator):
    """Gives this score and verdict."""

    score: object
    passed: object = None
    label: str | None = None

    def check(self, sample):
        return Result(self.score, self.passed, self.label, "It says so")


YES, NO, FIGURE, MUTE = (
    Says(1.0, True),
    Says(0.0, False, "bad"),
    Says(0.5),
    Says(None, None, "mute"),
)


@pytest.mark.parametrize(
    ("parts", "options", "score", "passed", "label"),
    [
        ([(YES, 1), (FIGURE, 0.5)], {}, 1.25, True, None),
        ([(NO, 1), (FIGURE, 0.5)], {}, 0.25, False, "says: bad"),
        ([(YES, 1), (Says(0.0, np.False_), 1)], {}, 1.0, False, "says_2: failed"),
        ([(YES, 1), (NO, 1)], {"threshold": 1}, 1.0, True, None),
        ([(YES, 1), (NO, 1)], {"threshold": 1.5}, 1.0, False, "says_2: bad"),
        ([(FIGURE, 2)], {}, 1.0, None, None),
        ([(FIGURE, 2)], {"threshold": 1}, 1.0, True, None),
        ([(YES, 1), (MUTE, 1)], {}, None, None, "says_2: mute"),
    ],
)
def test_scores_are_added_by_weight(parts, options, score, passed, label):
    total = WeightedSum(parts, **options)
    result = total("x")
    assert (result.score, result.passed, result.label) == (score, passed, label)
    assert len(result.metadata["parts"]) == len(parts)
    assert total.evaluate_many([Sample("x")] * 2) == [result] * 2


@pytest.mark.parametrize(
    ("parts", "options", "reason"),
    [
        ({JsonValidity(): 1, FIGURE: -0.5}, {}, "1 * json_validity 1 + -0.5 * says 0.5 = 0.75"),
        ([(YES, 1), (MUTE, 1)], {}, "says_2: It says so"),
    ],
)  # fmt: skip
def test_the_reason_is_the_sum_or_that_of_the_part_that_is_unscored(parts, options, reason):
    assert WeightedSum(parts, **options)("{}").reason == reason


def test_with_a_judge_among_its_parts_it_is_a_judge():
    total = WeightedSum([(load_evaluator("safety", model=Scripted(judgement())), 0.5), (YES, 1)])
    assert isinstance(total, JudgedEvaluator)
    assert total.name == "weighted_sum"
    result = total("{}", input="Write JSON.")
    assert result.score == 1.5
    assert result.metadata["judge"]["calls"] == 1
    assert asyncio.run(total.aevaluate(Sample("{}", input="Write JSON."))) == result
    assert total.evaluate_many([Sample("{}", input="Write JSON.")]) == [result]
    run = evaluate([Sample("{}", input="Write JSON.")] * 3, [total])
    assert run.summary["evaluators"]["weighted_sum"]["mean"] == 1.5
    assert run.summary["judging"]["calls"] == 3


def test_a_class_of_ones_own_takes_no_judge_because_its_methods_would_be_lost():
    class Least(WeightedSum):
        def combine(self, results):
            return min(results, key=lambda result: result.score)

    assert Least([(YES, 1), (FIGURE, 1)])("x").score == 0.5
    with pytest.raises(InvalidOptionError, match=r"least: parts=.* without a judge in a class"):
        Least({load_evaluator("safety", model=Scripted(judgement())): 1})


def test_a_sum_needs_the_fields_that_its_parts_need():
    assert WeightedSum([(StringDistance(), 1.0), (YES, 1)]).needs == ("reference",)


def test_a_sum_of_distances_is_better_where_it_is_lower():
    distance, length = StringDistance(), LengthPenalty()
    assert WeightedSum([(distance, 1.0)]).lower_is_better
    assert WeightedSum([(distance, 1.0), (length, -1.0)]).lower_is_better
    assert not WeightedSum([(distance, -1.0)]).lower_is_better
    assert not WeightedSum([(distance, 1.0), (length, 1.0)]).lower_is_better
    assert not WeightedSum([(distance, 1.0)], threshold=0.5).lower_is_better
