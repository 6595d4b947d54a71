"""LlamaIndex: its interface, its batch runner, and a query engine of local parts."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmeval_integrations import (
    JsonEquality,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    Result,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.demo import OUTPUTS
from llmeval_integrations.json_values.equality import canonical

pytest.importorskip("llama_index.core")

from llama_index.core.base.response.schema import (
    Response,
)

from llmeval_integrations.frameworks import llama_index as ours
from llmeval_integrations.frameworks.llama_index import LlamaIndexEvaluator

ROWS = [json.loads(line) for line in OUTPUTS.read_text(encoding="utf-8").splitlines()]


class Undecided(Evaluator):
    """Never knows."""

    def check(self, _):
        return Result.unscored("cannot tell", label="torn")


# --- one response ------------------------------------------------------------------------------


def test_a_response_may_bring_its_schema():
    wrapped = LlamaIndexEvaluator(JsonSchema())
    for schema, passing in ({"type": "array"}, True), ('{"type": "object"}', False):
        assert wrapped.evaluate(response="[1]", schema=schema).passing is passing
        assert wrapped.evaluate_response(response=Response("[1]"), schema=schema).passing is passing


SURROGATES = st.characters(categories=["Cs"])


@given(st.text(st.characters() | SURROGATES) | st.none() | st.booleans() | st.integers())
def test_any_response_gives_a_result_awaited_or_not(response):
    wrapped = LlamaIndexEvaluator(JsonEquality())
    answer = wrapped.evaluate(response=response, reference="[]")
    assert answer == asyncio.run(wrapped.aevaluate(response=response, reference="[]"))
    assert answer.invalid_result == (response is None)
    assert answer.score == (None if response is None else JsonEquality()(response, []).score)


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"b": [1.5], "a": None}, '{"a":null,"b":[1.5]}'),
        (7, "7"),
        (b'{"a": 1}', '{"a": 1}'),
        ("\ud800", "\\ud800"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_the_response_of_a_result_is_a_text(response, text):
    answer = LlamaIndexEvaluator(JsonValidity()).evaluate(response=response)
    assert answer.response == text


@pytest.mark.parametrize(
    ("evaluator", "arguments", "reason"),
    [
        (JsonMatch(), {"response": "{}"}, "json_match needs a reference"),
        (JsonMatch(), {"response": "{}", "reference": None}, "json_match needs a reference"),
        (JsonMatch(), {"response": "{}", "reference": "{a"}, "'{a' is not JSON"),
        (JsonMatch(), {"response": None, "reference": "{}"}, "json_match needs a response"),
        (JsonSchema(), {"response": "{}"}, "json_schema needs a schema"),
        (JsonSchema(), {"response": "{}", "reference": {"type": "objekt"}}, "objekt"),
        (Undecided(), {"response": "{}"}, "cannot tell"),
    ],
)
def test_what_has_no_score_is_invalid_and_says_why(evaluator, arguments, reason):
    wrapped = LlamaIndexEvaluator(evaluator)
    for answer in (wrapped.evaluate(**arguments), asyncio.run(wrapped.aevaluate(**arguments))):
        assert answer.invalid_result
        assert reason in answer.invalid_reason
        assert (answer.score, answer.passing) == (None, None)


def test_a_mistake_in_code_is_raised():
    broken = LlamaIndexEvaluator(JsonEquality(operator=lambda one, other: one / other))
    with pytest.raises(ZeroDivisionError):
        broken.evaluate(response="1", reference="0")


# --- drop-ins ----------------------------------------------------------------------------------

DROP_INS = [
    # class, options, response, reference, and the scores: the drop-in's, the core's by default
    ("JsonValidityEvaluator", {}, '{"a": 1}', None, (1.0, 1.0)),
    ("JsonValidityEvaluator", {}, '{"a": 1,}', None, (0.0, 0.0)),
    ("JsonValidityEvaluator", {"parsing": "strict"}, "```{}```", None, (0.0, 1.0)),
    ("JsonEqualityEvaluator", {}, '{"a": 1}', {"a": 1.0}, (1.0, 1.0)),
    ("JsonEqualityEvaluator", {}, "[1, 2]", [2, 1], (1.0, 0.0)),
    ("JsonEqualityEvaluator", {"list_order": "strict"}, "[1, 2]", [2, 1], (0.0, 0.0)),
    ("JsonEditDistanceEvaluator", {}, '{"a": 1, "b": 2}', {"a": 1, "b": 3}, (1 / 13, 1 / 13)),
    ("JsonEditDistanceEvaluator", {}, '["é"]', ["e"], (5 / 10, 1 / 5)),
    ("JsonEditDistanceEvaluator", {"canonicalize": canonical}, '["é"]', ["e"], (1 / 5, 1 / 5)),
    ("JsonEditDistanceEvaluator", {"string_distance": "levenshtein"}, '"ab"', '"ba"', (0.5, 0.25)),
    ("JsonSchemaEvaluator", {}, "[]", {"type": "array"}, (1.0, 1.0)),
    ("JsonSchemaEvaluator", {}, "{}", {"type": "array"}, (0.0, 0.0)),
    ("JsonSchemaEvaluator", {"schema": {"type": "array"}}, "{}", {"type": "object"}, (0.0, 1.0)),
]


@pytest.mark.parametrize(
    ("name", "options", "response", "reference"), [case[:4] for case in DROP_INS]
)
def test_the_drop_in_of_the_same_name_for_langchain_gives_the_same(
    name, options, response, reference
):
    pytest.importorskip("langchain_core")
    from llmeval_integrations.frameworks import langchain

    theirs = getattr(langchain, name)(**options)
    mine = getattr(ours, name)(**options)
    assert mine.evaluator == theirs.evaluator
    given = theirs.evaluate_strings(prediction=response, reference=reference)
    assert mine.evaluate(response=response, reference=reference).score == given["score"]


# --- without LlamaIndex ------------------------------------------------------------------------


class Sorts(Evaluator):
    """Gives a label that is an answer, and no score."""

    def check(self, _):
        return Result(None, None, "refund", "because", answered=True)


def test_an_answer_without_a_score_is_a_label_and_no_invalid_result():
    made = LlamaIndexEvaluator(Sorts()).evaluate(response="Money back!")
    assert (made.invalid_result, made.invalid_reason) == (False, None)
    assert (made.label, made.score, made.feedback) == ("refund", None, "because")
