"""Several evaluators as one score."""

import asyncio
from dataclasses import dataclass

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import (
    Evaluator,
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

LENGTH = LengthPenalty(min_length=0, max_length=10, penalty_rate=0.1)


@dataclass(frozen=True)
class Says(Evaluator):
    """Gives this score and verdict."""

    score: object
    passed: object = None
    label: str | None = None

    def check(self, sample):
        return Result(self.score, self.passed, self.label, "It says so")


MUTE = Says(None, label="mute")


def safety(text=None):
    return load_evaluator("safety", model=Scripted(text or judgement()))


@pytest.mark.parametrize(
    ("output", "score", "passed", "label"),
    [
        ("{}", 1.0, True, None),
        ("{", 0.0, False, "json_validity: truncated"),
        ('{"a": "0123456789"}', 1.0 + 0.5 * -0.9, False, "length_penalty: too_long"),
    ],
)
def test_scores_are_added_by_weight(output, score, passed, label):
    total = WeightedSum({JsonValidity(): 1, LENGTH: 0.5})
    result = total(output)
    assert result.score == pytest.approx(score)
    assert (result.passed, result.label) == (passed, label)
    assert set(result.metadata["parts"]) == {"json_validity", "length_penalty"}
    if label == "length_penalty: too_long":
        assert result.reason == "1 * json_validity 1 + 0.5 * length_penalty -0.9 = 0.55"
    assert WeightedSum(total.parts, threshold=0.5)(output).passed is (score >= 0.5)
    assert total.evaluate_many([Sample(output), Sample("{}")]) == [result, total("{}")]


def test_without_a_verdict_of_any_part_there_is_none():
    np = pytest.importorskip("numpy")
    figure = Says(0.5)
    assert WeightedSum([(figure, 2)])("x").passed is None
    assert WeightedSum([(figure, 2)], threshold=1)("x").passed is True
    assert WeightedSum([(figure, 2), (JsonValidity(), 1)])("{}").passed is True
    left_out = WeightedSum([(figure, 2), (MUTE, 1)], unscored="left_out")("x")
    assert (left_out.score, left_out.passed) == (1.5, None)
    failed = WeightedSum([(Says(0.0, np.False_), 1), (JsonValidity(), 1)])("{}")
    assert (failed.score, failed.passed, failed.label) == (1.0, False, "says: failed")


def test_an_unscored_part_can_be_left_out_with_its_weight():
    def left_out(*parts):
        return WeightedSum(list(parts), unscored="left_out")("{}")

    valid = JsonValidity()
    assert left_out((valid, 1), (MUTE, 3)).score == 4.0  # as if it said the same
    assert left_out((valid, 1), (valid, -1), (MUTE, 2)).score == 0.0
    assert left_out((valid, 0), (MUTE, 2)).score is None  # nothing that weighs was said
    assert left_out((MUTE, 1), (MUTE, 1)).score is None
    reason = left_out((valid, 1), (Says(0.25), -1), (MUTE, 3)).reason
    assert reason == "2.5 * (1 * json_validity 1 + -1 * says 0.25) = 1.875; left out: says_2"
    unscored = WeightedSum([(valid, 1), (MUTE, 1)])("{}")
    assert (unscored.score, unscored.passed, unscored.label) == (None, None, "says: mute")
    assert unscored.reason == "says: It says so"


def test_with_a_judge_among_its_parts_it_is_a_judge():
    total = WeightedSum([(safety(), 0.5), (JsonValidity(), 1)])
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


def test_a_sum_of_distances_is_better_where_it_is_lower():
    distance, length = StringDistance(), LengthPenalty()
    assert WeightedSum([(distance, 1.0)]).lower_is_better
    assert WeightedSum([(distance, 1.0), (length, -1.0)]).lower_is_better
    assert not WeightedSum([(distance, -1.0)]).lower_is_better
    assert not WeightedSum([(distance, 1.0), (length, 1.0)]).lower_is_better
    assert not WeightedSum([(distance, 1.0)], threshold=0.5).lower_is_better
