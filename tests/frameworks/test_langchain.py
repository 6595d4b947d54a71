"""LangChain's interface: result dicts, arguments, and evaluators in chains."""

import asyncio
import copy
import pickle
from dataclasses import dataclass
from typing import ClassVar

import pytest

pytest.importorskip("langchain_core")

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tracers.context import collect_runs

from llmeval_integrations import (
    Evaluator,
    ExactMatch,
    InvalidOptionError,
    JsonMatch,
    JsonObject,
    JsonSchema,
    LengthPenalty,
    MissingFieldError,
    Result,
    StringDistance,
)
from llmeval_integrations.frameworks.langchain import (
    JsonEditDistanceEvaluator,
    JsonEqualityEvaluator,
    JsonSchemaEvaluator,
    JsonValidityEvaluator,
    LangChainEvaluator,
)

NO_JSON = "Expecting value: line 1 column 1 (char 0)"
VALID, BROKEN = {"score": 1}, {"score": 0, "reasoning": NO_JSON}


@dataclass(frozen=True)
class AsksBack(Evaluator):
    """Gives back what it was handed, unscored."""

    needs: ClassVar = ("input",)

    def check(self, sample):
        fields = ("contexts", "schema", "variables", "id", "group")
        given = {name: getattr(sample, name) for name in fields}
        return Result.unscored(f"{sample.input} {given}")


@pytest.mark.parametrize(
    ("evaluator", "prediction", "reference", "printed"),
    [
        (JsonValidityEvaluator(), '{"name": "John", "age": 30}', None, "{'score': 1}"),
        (JsonEqualityEvaluator(), '{"a": 1}', '{"a": 1}', "{'score': True}"),
        (JsonEqualityEvaluator(), {"a": 1}, {"a": 2}, "{'score': False}"),
        (JsonEqualityEvaluator(), "no", '{"a": 2}', f"{{'score': False, 'reasoning': '{NO_JSON}'}}"),
        (JsonEqualityEvaluator(parsing="lenient"), '{"a": 1', '{"a": 1}', "{'score': True}"),
        (JsonEditDistanceEvaluator(), '{"a": 1, "b": 2}', '{"a": 1, "b": 3}', "{'score': 0.07692307692307693}"),
        (JsonEditDistanceEvaluator(lambda *both: len(both[0]), str), "[1]", "[1,2]", "{'score': 3.0}"),
        (JsonSchemaEvaluator(), '{"age": 30}', '{"properties": {"age": {"type": "integer"}}}', "{'score': True}"),
        (JsonSchemaEvaluator(schema={"type": "object"}), "[]", None, "{'score': False, 'reasoning': '<ValidationError: \"[] is not of type \\'object\\'\">'}"),
        (LangChainEvaluator(JsonMatch()), '{"a": 1}', '{"a": 2}', "{'score': 0.0, 'reasoning': '/a 1, expected 2'}"),
        (LangChainEvaluator(LengthPenalty(min_length=3)), "ab", None, "{'score': -0.01, 'reasoning': 'Too short: 2 < 3'}"),
        (LangChainEvaluator(ExactMatch()), "a", "b", "{'score': 0}"),
        (LangChainEvaluator(StringDistance("levenshtein")), "ab", "ac", "{'score': 0.5}"),
    ],
)  # fmt: skip
def test_scores_and_reasons_are_as_langchain_prints_them(evaluator, prediction, reference, printed):
    if isinstance(evaluator.evaluator, JsonSchema):
        pytest.importorskip("jsonschema")
    fields = {"prediction": prediction, "reference": reference}
    assert str(evaluator.evaluate_strings(**fields)) == printed
    assert str(asyncio.run(evaluator.aevaluate_strings(**fields))) == printed


def test_an_unscored_result_has_no_figure_and_further_arguments_reach_the_evaluator():
    given = {"contexts": ["c"], "schema": {}, "variables": None, "id": 7, "group": "a"}
    wrapped = LangChainEvaluator(AsksBack())
    result = wrapped.evaluate_strings(
        prediction="x", input="why?", **given, callbacks=[], tags=["t"]
    )
    expected = "why? {'contexts': ['c'], 'schema': {}, 'variables': MISSING, 'id': 7, 'group': 'a'}"
    assert result == {"score": None, "reasoning": expected}
    assert wrapped.invoke({"prediction": "x", "input": "why?", **given}) == result


@pytest.mark.parametrize(
    ("evaluator", "arguments", "message"),
    [
        (JsonEqualityEvaluator(), {}, "JsonEqualityEvaluator requires a reference string."),
        (LangChainEvaluator(AsksBack()), {}, "AsksBack requires an input string."),
    ],
)
def test_what_is_needed_and_absent_is_an_error_in_langchains_words(evaluator, arguments, message):
    assert issubclass(MissingFieldError, ValueError)
    with pytest.raises(MissingFieldError) as raised:
        evaluator.evaluate_strings(prediction="{}", **arguments)
    assert str(raised.value) == message
    with pytest.raises(MissingFieldError):
        asyncio.run(evaluator.aevaluate_strings(prediction="{}", **arguments))


def test_a_subclass_may_override_what_langchains_subclasses_do():
    class Mine(JsonEqualityEvaluator):
        def _evaluate_strings(self, **arguments):
            return {**super()._evaluate_strings(**arguments), "by": "me"}

        async def _aevaluate_strings(self, **arguments):
            return {**await super()._aevaluate_strings(**arguments), "by": "me"}

        def _parse_json(self, string):
            return super()._parse_json(string.replace("one", "1"))

    fields = {"prediction": "one", "reference": "1"}
    expected = {"score": True, "by": "me"}
    assert Mine().evaluate_strings(**fields) == Mine().invoke(fields) == expected
    assert asyncio.run(Mine().aevaluate_strings(**fields)) == expected


@pytest.mark.parametrize(
    ("evaluator", "name", "needs_reference", "needs_input"),
    [
        (JsonValidityEvaluator(parsing="strict"), "json_validity", False, False),
        (JsonSchemaEvaluator(), "json_schema_validation", True, False),
        (JsonSchemaEvaluator(schema={}), "json_schema_validation", False, False),
        (LangChainEvaluator(JsonMatch(ignore_extra_keys=True)), "json_match", True, False),
        (LangChainEvaluator(AsksBack()), "asks_back", False, True),
    ],
)
def test_an_evaluator_says_what_it_is_called_and_needs_and_can_be_copied(
    evaluator, name, needs_reference, needs_input
):
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator)), copy.deepcopy(evaluator)):  # noqa: S301
        assert type(one) is type(evaluator)
        assert one.evaluator == evaluator.evaluator
        assert one.evaluation_name == name
        assert (one.requires_reference, one.requires_input) == (needs_reference, needs_input)
    assert repr(evaluator) == f"{type(evaluator).__name__}({evaluator.evaluator!r})"


def test_lenient_equality_compares_as_langchain_unless_told_how():
    fields = {"prediction": "[true]", "reference": "[1]"}
    assert JsonEqualityEvaluator(parsing="lenient").evaluate_strings(**fields) == {"score": True}
    told = JsonEqualityEvaluator(parsing="lenient", list_order="top_level_any")
    assert told.evaluate_strings(**fields) == {"score": False}
    seen = []
    shown = JsonEqualityEvaluator(lambda *both: seen.extend(both) or 1, parsing="lenient")
    shown.evaluate_strings(prediction='["a", 10, 9]', reference="[]")
    assert seen == [[10, 9, "a"], []]  # by the texts, as LangChain sorts
    with pytest.raises(InvalidOptionError, match="operator"):
        JsonEqualityEvaluator(5, parsing="lenient")
    with pytest.raises(InvalidOptionError, match="has no option 'strictness'; it has "):
        JsonEditDistanceEvaluator(strictness=1)


@pytest.mark.parametrize(
    ("handed_on", "expected"),
    [
        ("[]", VALID),
        ("x", BROKEN),
        (AIMessage([{"type": "text", "text": '{"a"'}, {"type": "reasoning", "text": "no"}, ": 1}"]), VALID),
        ([], VALID),
        (None, BROKEN),
        ({"output": "x", "messages": 1, "reference": 2}, VALID),
    ],
)  # fmt: skip
def test_what_a_chain_hands_on_is_the_output_itself(handed_on, expected):
    assert JsonValidityEvaluator().invoke(handed_on) == expected


def test_a_trace_shows_the_evaluation_by_its_name():
    chain = FakeListChatModel(responses=["{}"]) | LangChainEvaluator(JsonObject())
    with collect_runs() as collector:
        chain.invoke("go", {"tags": ["nightly"]})
        asyncio.run(chain.ainvoke("go", {"tags": ["nightly"]}))
    for run in (root.child_runs[-1] for root in collector.traced_runs):
        assert (run.name, run.outputs, run.error) == ("json_object", {"score": 1}, None)
        assert "nightly" in run.tags
