"""Several evaluators as one score."""

import asyncio
import pickle
from dataclasses import dataclass

import pytest
from scripted import Scripted, judgement

from llmeval_integrations import (
    Evaluator,
    InvalidOptionError,
    JsonFields,
    JsonSchema,
    JsonValidity,
    LengthPenalty,
    MissingFieldError,
    Result,
    Sample,
    StringDistance,
    ToolCallSchema,
    WeightedSum,
    evaluate,
    load_evaluator,
)
from llmeval_integrations.judges.evaluator import JudgedEvaluator

LENGTH = LengthPenalty(min_length=0, max_length=10, penalty_rate=0.1)


@dataclass(frozen=True)
class Mute(Evaluator):
    """Says nothing."""

    def check(self, sample):
        return Result.unscored("It could not tell", label="mute")


def safety(text=None):
    return load_evaluator("safety", client=Scripted(text or judgement()))


@pytest.mark.parametrize(
    ("output", "score", "passed", "label"),
    [
        ("{}", 1.0, True, None),
        ("{", 0.0, False, "json_validity: truncated"),
        ('{"a": "0123456789"}', 1.0 + 0.5 * -0.9, False, "length_penalty: too_long"),
    ],
)
def test_scores_are_added_by_weight(output, score, passed, label):
    result = WeightedSum({JsonValidity(): 1, LENGTH: 0.5})(output)
    assert result.score == pytest.approx(score)
    assert (result.passed, result.label) == (passed, label)
    assert set(result.metadata["parts"]) == {"json_validity", "length_penalty"}
    if label == "length_penalty: too_long":
        assert result.reason == "1 * json_validity 1 + 0.5 * length_penalty -0.9 = 0.55"


def test_a_list_of_pairs_takes_evaluators_with_mappings_as_options():
    fields = JsonFields(fields={"/a": {"ignore": True}})
    result = WeightedSum([(fields, 2), (fields, -1)])('{"b": 1}', '{"b": 1}')
    assert result.score == 1.0
    assert set(result.metadata["parts"]) == {"json_fields", "json_fields_2"}


def test_evaluators_with_mappings_as_options_are_keys_too():
    schema, fields = JsonSchema({"type": "object"}), JsonFields(fields={"/a": {"ignore": True}})
    calls = ToolCallSchema([{"name": "f", "parameters": {"type": "object"}}])
    parts = {schema: 1, fields: 2, calls: 0.5, JsonSchema({"type": "array"}): 4}
    assert WeightedSum(parts).parts == tuple(parts.items())
    assert parts[JsonSchema({"type": "object"})] == 1


@dataclass(frozen=True)
class Figure(Evaluator):
    """Gives a figure and no verdict."""

    def check(self, sample):
        return Result(0.5)


def test_without_a_verdict_of_any_part_there_is_none():
    assert WeightedSum([(Figure(), 2)])("x").passed is None
    assert WeightedSum([(Figure(), 2)], threshold=1)("x").passed is True
    assert WeightedSum([(Figure(), 2), (JsonValidity(), 1)])("{}").passed is True
    left_out = WeightedSum([(Figure(), 2), (Mute(), 1)], unscored="left_out")("x")
    assert (left_out.score, left_out.passed) == (1.5, None)


def test_the_score_that_passes_can_be_set():
    assert WeightedSum({JsonValidity(): 1, LENGTH: 0.5}, threshold=0.5)(
        '{"a": "0123456789"}'
    ).passed
    assert not WeightedSum({JsonValidity(): 1}, threshold=1.5)("{}").passed


def test_an_unscored_part_leaves_the_sum_unscored():
    result = WeightedSum([(JsonValidity(), 1), (Mute(), 1)])("{}")
    assert (result.score, result.passed, result.label) == (None, None, "mute: mute")
    assert result.reason == "mute: It could not tell"


def test_an_unscored_part_can_be_left_out_with_its_weight():
    def left_out(*parts):
        return WeightedSum(list(parts), unscored="left_out")("{}")

    assert left_out((JsonValidity(), 1), (Mute(), 3)).score == 4.0  # as if it said the same
    assert left_out((JsonValidity(), 1), (JsonValidity(), -1), (Mute(), 2)).score == 0.0
    assert left_out((JsonValidity(), 0), (Mute(), 2)).score is None  # nothing that weighs was said
    assert left_out((Mute(), 1), (Mute(), 1)).score is None
    assert "left out: mute" in left_out((JsonValidity(), 1), (Mute(), 1)).reason


@dataclass(frozen=True)
class Says(Evaluator):
    """Gives this score and verdict."""

    score: object
    passed: object = None

    def check(self, sample):
        return Result(self.score, self.passed)


def test_a_part_that_failed_in_the_words_of_numpy_has_failed():
    np = pytest.importorskip("numpy")
    result = WeightedSum([(Says(0.0, np.False_), 1), (JsonValidity(), 1)])("{}")
    assert (result.score, result.passed, result.label) == (1.0, False, "says: failed")


def test_weights_may_be_numbers_of_numpy():
    np = pytest.importorskip("numpy")
    parts = [(JsonValidity(), np.int64(2)), (JsonFields(), np.float32(0.5))]
    assert WeightedSum(parts).parts == ((JsonValidity(), 2), (JsonFields(), 0.5))
    assert "np." not in repr(WeightedSum(parts))


@pytest.mark.parametrize("score", [float("nan"), float("-inf")])
@pytest.mark.parametrize("unscored", ["unscored", "left_out"])
def test_a_part_whose_score_is_no_finite_number_makes_no_sum(score, unscored):
    total = WeightedSum([(Says(score), 1), (JsonValidity(), 1)], unscored)
    with pytest.raises(ValueError, match=f"the score {score} of says is not a finite number"):
        total("{}")
    [row] = evaluate([{"output": "{}"}], [total]).rows
    assert row.error.startswith("ValueError: row 1: the score ")


def test_the_reason_says_what_was_left_out_and_what_the_sum_is_taken_times():
    parts = [(JsonValidity(), 1), (Says(0.25), -1), (Mute(), 3)]
    result = WeightedSum(parts, "left_out")("{}")
    assert result.score == 0.75 * 2.5
    assert result.reason == "2.5 * (1 * json_validity 1 + -1 * says 0.25) = 1.875; left out: mute"


def test_many_samples_are_as_one_by_one():
    samples = [Sample(text) for text in ("{}", "{", "[1, 2, 3, 4, 5]", None)]
    total = WeightedSum({JsonValidity(): 1, LENGTH: 0.5})
    assert total.evaluate_many(samples) == [total.evaluate(sample) for sample in samples]


def test_it_needs_what_its_parts_need():
    total = WeightedSum([(JsonValidity(), 1), (JsonFields(), 1)])
    assert total.needs == ("reference",)
    with pytest.raises(MissingFieldError):
        total("{}")


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


def test_a_judge_that_fails_leaves_the_sum_unscored():
    result = WeightedSum([(safety("I cannot say."), 1), (JsonValidity(), 1)])("{}", input="x")
    assert result.score is None
    assert result.label.startswith("safety: ")


def test_it_goes_to_other_processes():
    total = WeightedSum({JsonValidity(): 1, LENGTH: 0.5}, threshold=1)
    assert pickle.loads(pickle.dumps(total)) == total  # noqa: S301 - our own
    assert hash(total) == hash(WeightedSum([(JsonValidity(), 1), (LENGTH, 0.5)], threshold=1))


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ([], {}, "at least one evaluator"),
        ("json_validity", {}, "a mapping from evaluators"),
        (3, {}, "a mapping from evaluators"),
        ([JsonValidity()], {}, "pairs of an evaluator and its weight"),
        ([(JsonValidity, 1)], {}, "is not an evaluator"),
        ([("json_validity", 1)], {}, "is not an evaluator"),
        ([(JsonValidity(), "1")], {}, "the weight of json_validity, is not a finite number"),
        ([(JsonValidity(), float("nan"))], {}, "not a finite number"),
        ([(JsonValidity(), True)], {}, "not a finite number"),
        ([(JsonValidity(), 1)], {"unscored": "zero"}, "unscored="),
        ([(JsonValidity(), 1)], {"threshold": "1"}, "threshold="),
    ],
)
def test_what_makes_no_sum_is_named(parts, options, message):
    with pytest.raises(InvalidOptionError, match=message):
        WeightedSum(parts, **options)


def test_a_sum_of_distances_is_better_where_it_is_lower():
    distance, length = StringDistance(), LengthPenalty()
    assert WeightedSum([(distance, 1.0)]).lower_is_better
    assert WeightedSum([(distance, 1.0), (length, -1.0)]).lower_is_better
    assert not WeightedSum([(distance, -1.0)]).lower_is_better
    assert not WeightedSum([(distance, 1.0), (length, 1.0)]).lower_is_better
    assert not WeightedSum([(distance, 1.0)], threshold=0.5).lower_is_better


def test_no_part_is_lost_whatever_the_parts_are_called():
    class Called(JsonValidity):
        def __init__(self, name):
            object.__setattr__(self, "name", name)
            super().__init__()

    for names, known in (
        (("a", "a_3", "a"), ["a", "a_3", "a_2"]),
        (("a_x", "a", "a"), ["a_x", "a", "a_2"]),
        (("a", "a_2", "a", "a"), ["a", "a_2", "a_3", "a_4"]),
    ):
        total = WeightedSum([(Called(name), 1) for name in names])
        assert list(total("{}").metadata["parts"]) == known
