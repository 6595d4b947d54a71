"""LangChain's interface: result dicts, arguments, and evaluators in chains."""

import asyncio
import copy
import pickle
import warnings
from dataclasses import dataclass
from typing import ClassVar
from uuid import uuid4

import pytest

pytest.importorskip("langchain_core")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tracers import BaseTracer

from llmeval_integrations import (
    Evaluator,
    ExactMatch,
    InvalidOptionError,
    JsonEquality,
    JsonMatch,
    JsonObject,
    JsonSchema,
    LengthPenalty,
    MissingFieldError,
    PythonType,
    RegexMatch,
    Result,
    StringDistance,
)
from llmeval_integrations.frameworks.langchain import (
    JsonEditDistanceEvaluator,
    JsonEqualityEvaluator,
    JsonSchemaEvaluator,
    JsonValidityEvaluator,
    LangChainEvaluator,
    load_evaluator,
)

PERSON = '{"name": "John", "age": 30, "city": "New York"}'


OF_AGE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 66}},
}


ANY_AGE = '{"type": "object", "properties": {"age": {"type": "integer"}}}'


@dataclass(frozen=True)
class AsksBack(Evaluator):
    """Gives back what it was handed, unscored."""

    needs: ClassVar = ("input",)

    def check(self, sample):
        fields = ("contexts", "schema", "variables", "id", "group")
        given = {name: getattr(sample, name) for name in fields}
        return Result.unscored(f"{sample.input} {given}")


@pytest.mark.parametrize(
    ("name", "prediction", "reference", "printed"),
    [
        ("json_validity", PERSON, None, "{'score': 1}"),
        ("json_equality", '{"a": 1}', '{"a": 1}', "{'score': True}"),
        ("json_equality", '{"a": 1}', '{"a": 2}', "{'score': False}"),
        ("json_equality", {"a": 1}, {"a": 2}, "{'score': False}"),
        ("json_edit_distance", '{"a": 1, "b": 2}', '{"a": 1, "b": 3}', "{'score': 0.07692307692307693}"),
        ("json_edit_distance", '\n{\n"b": 3,\n"a": 1\n}', '{"a": 1, "b": 3}', "{'score': 0.0}"),
        ("json_edit_distance", '{"a": [1, 2]}', '{"a": [2, 1]}', "{'score': 0.18181818181818182}"),
        ("json_edit_distance", {"a": 1}, {"a": 2}, "{'score': 0.14285714285714285}"),
        ("json_schema_validation", PERSON, ANY_AGE, "{'score': True}"),
        ("json_schema_validation", PERSON, {"type": "object"}, "{'score': True}"),
    ],
)  # fmt: skip
def test_documented_results_come_out_as_printed(name, prediction, reference, printed):
    result = load_evaluator(name).evaluate_strings(prediction=prediction, reference=reference)
    assert str(result) == printed


@pytest.mark.parametrize(
    ("evaluator", "prediction", "reference", "expected"),
    [
        (JsonMatch(), '{"a": 1}', '{"a": 2}', {"score": 0.0, "reasoning": "/a 1, expected 2"}),
        (JsonMatch(), '{"a": 1}', '{"a": 1}', {"score": 1.0}),
        (LengthPenalty(min_length=3), "ab", None, {"score": -0.01, "reasoning": "Too short: 2 < 3"}),
        (LengthPenalty(min_length=3), "abc", None, {"score": 0.0}),
        (PythonType("dict"), "{}", None, {"score": 0, "reasoning": "Expected dict, got str"}),
        (JsonEquality(), '{"a": 1}', '{"a": 2}', {"score": False}),
        (JsonEquality(), "no", '{"a": 2}', {"score": False, "reasoning": "Expecting value: line 1 column 1 (char 0)"}),
        (JsonEquality(list_order="strict"), "[1, 2]", "[2, 1]", {"score": False}),
        (ExactMatch(), "a", "b", {"score": 0}),
        (RegexMatch(), "a", "b", {"score": 0}),
        (StringDistance("levenshtein"), "ab", "ac", {"score": 0.5}),
        (JsonSchema(OF_AGE), "[]", None, {"score": False, "reasoning": "<ValidationError: \"[] is not of type 'object'\">"}),
    ],
)  # fmt: skip
def test_reasons_stand_where_langchain_has_them_or_has_no_such_evaluator(
    evaluator, prediction, reference, expected
):
    pytest.importorskip("jsonschema")
    wrapped = LangChainEvaluator(evaluator)
    assert wrapped.evaluate_strings(prediction=prediction, reference=reference) == expected
    awaited = wrapped.aevaluate_strings(prediction=prediction, reference=reference)
    assert asyncio.run(awaited) == expected


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
        (JsonSchemaEvaluator(), {"input": "x"}, "JsonSchemaEvaluator requires a reference string."),
        (LangChainEvaluator(JsonMatch()), {}, "JsonMatch requires a reference string."),
        (LangChainEvaluator(AsksBack()), {}, "AsksBack requires an input string."),
    ],
)
def test_what_is_needed_and_absent_is_an_error_in_langchains_words(evaluator, arguments, message):
    for error in (MissingFieldError, ValueError):
        with pytest.raises(error) as raised:
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

    fields = {"prediction": "1", "reference": "1"}
    expected = {"score": True, "by": "me"}
    assert Mine().evaluate_strings(**fields) == Mine().invoke(fields) == expected
    assert asyncio.run(Mine().aevaluate_strings(**fields)) == expected
    assert Mine()._evaluate_strings(**fields) == expected  # as LangChain's tests call it


@pytest.mark.parametrize(
    ("evaluator", "name", "needs_reference", "needs_input"),
    [
        (JsonValidityEvaluator(), "json_validity", False, False),
        (JsonEqualityEvaluator(), "json_equality", True, False),
        (JsonEditDistanceEvaluator(), "json_edit_distance", True, False),
        (JsonSchemaEvaluator(), "json_schema_validation", True, False),
        (JsonSchemaEvaluator(schema={}), "json_schema_validation", False, False),
        (LangChainEvaluator(JsonMatch()), "json_match", True, False),
        (LangChainEvaluator(AsksBack()), "asks_back", False, True),
    ],
)
def test_an_evaluator_says_what_it_is_called_and_needs(
    evaluator, name, needs_reference, needs_input
):
    assert evaluator.evaluation_name == name
    assert evaluator.requires_reference is needs_reference
    assert evaluator.requires_input is needs_input


def test_langchains_constructor_arguments_are_taken():
    same_length = JsonEqualityEvaluator(operator=lambda one, other: len(one) == len(other))
    assert same_length.evaluate_strings(prediction="[1]", reference="[2]") == {"score": True}
    assert same_length.evaluate_strings(prediction="[]", reference="[2]") == {"score": False}
    by_first = JsonEditDistanceEvaluator(lambda one, other: abs(len(one) - len(other)), str)
    assert by_first.evaluate_strings(prediction="[1]", reference="[1,2]") == {"score": 3}


def test_lenient_equality_compares_as_langchain_unless_told_how():
    lenient = JsonEqualityEvaluator(parsing="lenient")
    same = pickle.loads(pickle.dumps(lenient))  # noqa: S301
    for evaluator in (lenient, same):
        assert evaluator.evaluate_strings(prediction="[true]", reference="[1]") == {"score": True}
    told = JsonEqualityEvaluator(parsing="lenient", list_order="top_level_any")
    assert told.evaluate_strings(prediction="[true]", reference="[1]") == {"score": False}
    seen = []
    shown = JsonEqualityEvaluator(lambda *both: seen.extend(both) or 1, parsing="lenient")
    shown.evaluate_strings(prediction='["a", 10, 9]', reference="[]")
    assert seen == [[10, 9, "a"], []]  # by the texts, as LangChain sorts
    with pytest.raises(InvalidOptionError, match="operator"):
        JsonEqualityEvaluator(5, parsing="lenient")


def test_the_evaluators_own_options_are_taken_and_others_refused():
    cut = '{"a": 1'
    assert JsonEqualityEvaluator(parsing="lenient").evaluate_strings(
        prediction=cut, reference='{"a": 1}'
    ) == {"score": True}
    ordered = JsonEqualityEvaluator(list_order="strict")
    assert ordered.evaluate_strings(prediction="[1, 2]", reference="[2, 1]") == {"score": False}
    quick = JsonEditDistanceEvaluator("osa", threshold=0.5)
    assert quick.evaluator.threshold == 0.5
    for drop_in in (
        JsonValidityEvaluator,
        JsonEqualityEvaluator,
        JsonEditDistanceEvaluator,
        JsonSchemaEvaluator,
    ):
        with pytest.raises(InvalidOptionError, match="has no option 'strictness'; it has "):
            drop_in(strictness=1)


@pytest.mark.parametrize(
    "evaluator",
    [
        JsonValidityEvaluator(parsing="strict"),
        JsonEqualityEvaluator(),
        JsonEditDistanceEvaluator(),
        JsonSchemaEvaluator(schema={"type": "object"}),
        LangChainEvaluator(JsonMatch(ignore_extra_keys=True)),
    ],
)
def test_evaluators_can_be_pickled_copied_and_read(evaluator):
    for other in (pickle.loads(pickle.dumps(evaluator)), copy.deepcopy(evaluator)):  # noqa: S301
        assert type(other) is type(evaluator)
        assert other.evaluator == evaluator.evaluator
        answers = [each.evaluate_strings(prediction="{}", reference="{}") for each in (evaluator, other)]  # fmt: skip
        assert answers[0] == answers[1]
    assert repr(evaluator) == f"{type(evaluator).__name__}({evaluator.evaluator!r})"


PROMPT = ChatPromptTemplate.from_template("Extract {what}")


VALID, BROKEN = {"score": 1}, {"score": 0, "reasoning": "Expecting value: line 1 column 1 (char 0)"}


PARTS = [{"type": "text", "text": '{"a"'}, {"type": "reasoning", "text": "no"}, ": 1}"]


class Tracer(BaseTracer):
    """Keeps the finished runs."""

    def __init__(self):
        super().__init__()
        self.finished = []

    def _persist_run(self, run):
        self.finished.append(run)


class Starts(BaseCallbackHandler):
    """Keeps the names of the chains that start."""

    def __init__(self):
        self.names = []

    def on_chain_start(self, _serialized, _inputs, *, name=None, **_kwargs):
        self.names.append(name)


@pytest.mark.parametrize(
    ("handed_on", "expected"),
    [
        ("[]", VALID),
        ("x", BROKEN),
        (AIMessage("[]"), VALID),
        (AIMessage(PARTS), VALID),
        ([], VALID),
        (None, BROKEN),
        ({"output": "x", "messages": 1, "reference": 2}, VALID),
    ],
)
def test_whatever_else_is_the_output_itself(handed_on, expected):
    assert JsonValidityEvaluator().invoke(handed_on) == expected


def test_batches_keep_their_order():
    evaluate = JsonValidityEvaluator()
    texts = ["{}", "no", "[]"] * 20
    expected = [VALID, BROKEN, VALID] * 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate.batch(texts, config={"max_concurrency": 4}) == expected
    assert asyncio.run(evaluate.abatch(texts)) == expected
    rows = [{"prediction": "{}", "reference": "{}"}, {"prediction": "{}"}]
    done, failed = JsonEqualityEvaluator().batch(rows, return_exceptions=True)
    assert done == {"score": True}
    assert isinstance(failed, MissingFieldError)


@pytest.mark.parametrize("awaited", [False, True])
def test_callbacks_and_tracers_see_the_evaluation_by_its_name(awaited):
    tracer, starts = Tracer(), Starts()
    chain = FakeListChatModel(responses=["{}"]) | LangChainEvaluator(JsonObject())
    config = {"callbacks": [tracer, starts], "tags": ["nightly"], "metadata": {"commit": "abc"}}
    if awaited:
        asyncio.run(chain.ainvoke("go", config))
    else:
        chain.invoke("go", config)
    assert starts.names == ["RunnableSequence", "json_object"]
    (root,) = tracer.finished
    run = root.child_runs[-1]
    assert (run.name, run.outputs, run.error) == ("json_object", {"score": 1}, None)
    assert "nightly" in run.tags
    assert run.extra["metadata"]["commit"] == "abc"


def test_langchains_own_dataset_evaluation_runs_our_evaluators():
    smith = pytest.importorskip("langchain_classic.smith")
    from langchain_classic.smith.evaluation import runner_utils

    config = smith.RunEvalConfig(
        evaluators=["json_validity"],
        custom_evaluators=[LangChainEvaluator(JsonMatch()), JsonEqualityEvaluator()],
        reference_key="expected",
    )
    evaluators = runner_utils._load_run_evaluators(
        config, "chain", "kv", ["expected"], ["question"], ["answer"]
    )
    # LangChain cannot report a `reasoning`, its own or ours: langsmith refuses the key.
    run, example = finished_run('{"total": 4}'), example_of('{"total": 4.0}')
    feedback = [each.evaluate_run(run, example) for each in evaluators]
    assert [(each.key, each.score, each.comment) for each in feedback] == [
        ("json_validity", 1, None),
        ("json_match", 1.0, None),
        ("json_equality", True, None),
    ]


def finished_run(answer):
    from langsmith.schemas import Run

    return Run(
        id=uuid4(),
        trace_id=uuid4(),
        name="chain",
        run_type="chain",
        start_time="2026-01-01T00:00:00",
        inputs={"question": "?"},
        outputs={"answer": answer},
    )


def example_of(expected):
    from langsmith.schemas import Example

    return Example(id=uuid4(), dataset_id=uuid4(), inputs={}, outputs={"expected": expected})
