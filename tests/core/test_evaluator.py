"""One method is written, and every way to call it agrees."""

import asyncio
import dataclasses
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from examples import DETERMINISTIC
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import broken_texts, clashing, documents, few

from llmeval_integrations import (
    EvalError,
    Evaluator,
    InputError,
    JsonMatch,
    JsonValidity,
    Result,
    Sample,
    load_evaluator,
)

# What each evaluator of the catalog is built with here, beside its defaults.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "exact_match": [{"ignore_case": True}],
    "json_edit_distance": [{"string_distance": "osa"}],
    "json_equality": [{"list_order": "any"}, {"parsing": "lenient"}],
    "json_fields": [
        {"fields": {"": {"order": "any_order"}}},
        {"defaults": {"coerce": True}},
        {"nulls": "absent"},
    ],
    "json_similarity": [{"threshold": 1.0}],
    "json_match": [{"strict_order": False, "ignore_extra_keys": True}],
    "json_object": [{"parsing": "lenient"}],
    "json_schema": [{"schema": {"type": "object"}}, {"draft": "7", "check_formats": True}],
    "json_validity": [{"parsing": "strict"}, {"parsing": "lenient"}],
    "length_penalty": [{"min_length": 3, "max_length": 5, "max_penalty": -0.1}],
    "ngram_repetition_penalty": [{"n": 1, "use_soft_penalty": True}, {"analyze_scope": "thought"}],
    "python_type": [{"expected_type": "dict|list"}],
    "reasoning_format": [{"think_token": "a"}],
    "reasoning_tool_call_format": [],
    "regex_match": [{"pattern": "[ab]+$", "where": "search"}],
    "tool_call_schema": [{"tools": [{"name": "a"}]}],
    "tool_calls": [{"order": "strict", "arguments": "superset"}],
    "string_distance": [{"distance": "damerau_levenshtein"}],
    "weighted_sum": [
        {"parts": {load_evaluator("json_validity"): 1, load_evaluator("json_equality"): 2}}
    ],
}
NEEDING = {"python_type", "tool_call_schema", "weighted_sum"}

EVALUATORS = [
    load_evaluator(name, **options)
    for name, variants in OPTIONS.items()
    for options in ([] if name in NEEDING else [{}]) + variants
]

texts = (
    broken_texts
    | st.text(max_size=20)
    | st.sampled_from(["<think>a</think><answer>b</answer>", "[a-z]+"])
)
samples = st.builds(Sample, texts | documents | clashing, reference=texts | documents | clashing)


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """Give the result, or what is raised on purpose; anything else is a failure."""
    try:
        return call(*arguments)
    except (EvalError, AssertionError) as error:
        return type(error), str(error)


def test_every_evaluator_of_the_catalog_is_tried():
    assert set(OPTIONS) >= set(DETERMINISTIC)


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=repr)
@few
@given(samples)
def test_all_ways_to_call_agree(evaluator, sample):
    expected = outcome(evaluator.evaluate, sample)
    fields = {"output": sample.output, "reference": sample.reference}
    assert outcome(evaluator.evaluate, fields) == expected
    assert outcome(evaluator, sample.output, sample.reference) == expected
    assert outcome(driven, evaluator.aevaluate(sample)) == expected
    many = outcome(evaluator.evaluate_many, [sample, fields])
    assert many == ([expected, expected] if isinstance(expected, Result) else expected)
    if isinstance(expected, Result) and not expected.passed:
        expected = AssertionError, f"failed: {expected.reason or f'score {expected.score}'}"
    assert outcome(evaluator.expect_pass, sample.output, sample.reference) == expected


def driven(coroutine: Any) -> Any:
    """Run a coroutine that never waits, without a loop: it must not need one."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a deterministic evaluator waited for something")


def test_both_calls_work_inside_a_running_loop():
    async def within() -> tuple[Result, Result]:
        return await JsonValidity().aevaluate({"output": "{}"}), JsonValidity().evaluate(
            {"output": "{}"}
        )

    awaited, plain = asyncio.run(within())
    assert awaited == plain == Result(1, True, None, "Valid JSON")


@pytest.mark.parametrize("thing", ["{}", None, 5, ["{}"], {}, {"prediction": "{}"}], ids=repr)
def test_what_is_no_sample_is_an_error_however_it_is_given(thing):
    for call in (JsonValidity().evaluate, lambda sample: JsonValidity().evaluate_many([sample])):
        with pytest.raises(InputError):
            call(thing)
    with pytest.raises(InputError):
        asyncio.run(JsonValidity().aevaluate(thing))


def test_many_samples_may_be_an_iterator_and_keep_their_order():
    outputs = ["{}", "{", "[]", "prose"]
    results = JsonValidity().evaluate_many({"output": output} for output in outputs)
    assert [result.score for result in results] == [1, 0, 1, 0]
    assert JsonValidity().evaluate_many([]) == []


def test_every_field_of_a_sample_reaches_the_evaluator():
    @dataclass(frozen=True)
    class Echo(Evaluator):
        def check(self, sample: Sample) -> Result:
            return Result(1, True, metadata={"sample": sample})

    fields = {"input": 3, "contexts": 4, "variables": 5, "id": 6}
    expected = Sample(1, 2, **fields)
    assert Echo()(1, 2, **fields).metadata["sample"] == expected
    assert Echo().expect_pass(1, 2, **fields).metadata["sample"] == expected


# --- recursion ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descending(Evaluator):
    """Does the stack hold as many frames as the output says?"""

    def check(self, sample: Sample) -> Result:
        return Result(self._descend(sample.output), True)

    def _descend(self, levels: int) -> int:
        return 1 + self._descend(levels - 1) if levels else 0


def test_what_the_stack_has_no_room_for_is_unscored_and_the_others_are_not():
    too_deep = Descending()(sys.getrecursionlimit() * 2)
    assert (too_deep.scored, too_deep.passed, too_deep.label) == (False, None, "too_deep")
    for results in (
        Descending().evaluate_many({"output": levels} for levels in (3, 10**5, 4)),
        [asyncio.run(Descending().aevaluate({"output": levels})) for levels in (3, 10**5, 4)],
    ):
        assert [result.score for result in results] == [3, None, 4]


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=repr)
def test_200_levels_are_evaluated_and_deeper_ones_have_a_label(evaluator):
    for levels in (200, 201, 100_000):
        document = "[" * levels + "1" + "]" * levels
        reference = "{}" if evaluator.name in {"json_schema", "tool_calls"} else "[1]"
        result = evaluator.evaluate({"output": document, "reference": reference})
        assert result.score is not None
        if levels == 200:
            assert result.label != "too_deep"


# --- the class ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("JsonMatch", "json_match"),
        ("NgramRepetitionPenalty", "ngram_repetition_penalty"),
        ("Rouge2Score", "rouge2_score"),
        ("Plain", "plain"),
    ],
)
def test_an_evaluator_s_name_is_its_class_name_in_snake_case(class_name, name):
    kind = type(class_name, (Evaluator,), {"check": lambda _self, _sample: Result(1)})
    assert kind.name == name
    assert kind()("x") == Result(1)


def test_an_evaluator_without_its_method_cannot_be_built():
    with pytest.raises(TypeError, match="check"):
        type("Half", (Evaluator,), {})()


def test_options_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        JsonMatch().strict_order = False
    assert JsonMatch() == JsonMatch(strict_order=True) != JsonMatch(strict_order=False)
    assert hash(JsonMatch()) == hash(JsonMatch())
