"""LangChain's interface: result dicts, arguments, names, chains, and what loads."""

import asyncio
import copy
import pickle
import subprocess
import sys

import pytest
from examples import DETERMINISTIC
from framework_cases import RESULTS, Fixed
from scripted import Scripted

pytest.importorskip("langchain_core")

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tracers.context import collect_runs

from llmeval_integrations import (
    ExactMatch,
    InvalidOptionError,
    JsonEquality,
    JsonMatch,
    JsonObject,
    JsonValidity,
    LengthPenalty,
    MissingFieldError,
    Sample,
    StringDistance,
    UnknownNameError,
)
from llmeval_integrations.frameworks.langchain import (
    JsonEditDistanceEvaluator,
    JsonEqualityEvaluator,
    JsonSchemaEvaluator,
    JsonValidityEvaluator,
    LangChainEvaluator,
    load_evaluator,
    load_evaluators,
)
from llmeval_integrations.text.vectors import METRICS

NO_JSON = "Expecting value: line 1 column 1 (char 0)"
VALID, BROKEN = {"score": 1}, {"score": 0, "reasoning": NO_JSON}


LENIENT = JsonEqualityEvaluator(parsing="lenient")


@pytest.mark.parametrize(
    ("evaluator", "prediction", "reference", "printed"),
    [
        (JsonValidityEvaluator(), '{"name": "John", "age": 30}', None, "{'score': 1}"),
        (JsonEqualityEvaluator(), '{"a": 1}', '{"a": 1}', "{'score': True}"),
        (JsonEqualityEvaluator(), {"a": 1}, {"a": 2}, "{'score': False}"),
        (JsonEqualityEvaluator(), "no", '{"a": 2}', f"{{'score': False, 'reasoning': '{NO_JSON}'}}"),
        (LENIENT, '{"a": 1', '{"a": 1}', "{'score': True}"),
        (LENIENT, "[true]", "[1]", "{'score': True}"),
        (JsonEqualityEvaluator(parsing="lenient", list_order="top_level_any"), "[true]", "[1]", "{'score': False}"),
        (JsonEqualityEvaluator(lambda *both: both == ([10, 9, "a"], []), parsing="lenient"), '["a", 10, 9]', "[]", "{'score': True}"),
        (JsonEditDistanceEvaluator(), '{"a": 1, "b": 2}', '{"a": 1, "b": 3}', "{'score': 0.07692307692307693}"),
        (JsonEditDistanceEvaluator(lambda *both: len(both[0]), str), "[1]", "[1,2]", "{'score': 3.0}"),
        (JsonSchemaEvaluator(), '{"age": 30}', '{"properties": {"age": {"type": "integer"}}}', "{'score': True}"),
        (JsonSchemaEvaluator(schema={"minimum": 2}), "1", None, "{'score': False, 'reasoning': \"<ValidationError: '1 is less than the minimum of 2'>\"}"),
        (LangChainEvaluator(JsonMatch()), '{"a": 1}', '{"a": 2}', "{'score': 0.0, 'reasoning': '/a 1, expected 2'}"),
        (LangChainEvaluator(LengthPenalty(min_length=3)), "ab", None, "{'score': -0.01, 'reasoning': 'Too short: 2 < 3'}"),
        (LangChainEvaluator(ExactMatch()), "a", "b", "{'score': 0}"),
        (LangChainEvaluator(StringDistance("levenshtein")), "ab", "ac", "{'score': 0.5}"),
    ],
)  # fmt: skip
def test_scores_and_reasons_are_as_langchain_prints_them(evaluator, prediction, reference, printed):
    fields = {"prediction": prediction, "reference": reference}
    assert str(evaluator.evaluate_strings(**fields)) == printed
    assert str(asyncio.run(evaluator.aevaluate_strings(**fields))) == printed


def test_further_arguments_reach_the_evaluator_and_what_it_needs_is_asked_for():
    asked = Fixed(RESULTS["unscored"])
    asked.needs = ("input",)
    given = {"contexts": ["c"], "schema": {}, "variables": None, "id": 7, "group": "a"}
    wrapped = LangChainEvaluator(asked)
    result = wrapped.evaluate_strings(prediction="x", input="?", **given, callbacks=[], tags=["t"])
    assert result == {"score": None, "reasoning": "cannot tell"}
    assert wrapped.invoke({"prediction": "x", "input": "?", **given}) == result
    assert asked.samples == [Sample("x", input="?", contexts=["c"], schema={}, id=7, group="a")] * 2
    assert issubclass(MissingFieldError, ValueError)
    for evaluator, message in (
        (wrapped, "Fixed requires an input string."),
        (JsonEqualityEvaluator(), "JsonEqualityEvaluator requires a reference string."),
    ):
        with pytest.raises(MissingFieldError, match=message):
            evaluator.evaluate_strings(prediction="{}")
        with pytest.raises(MissingFieldError, match=message):
            asyncio.run(evaluator.aevaluate_strings(prediction="{}"))


class Mine(JsonEqualityEvaluator):
    """A subclass that overrides what LangChain's do."""

    def _evaluate_strings(self, **arguments):
        return {**super()._evaluate_strings(**arguments), "by": "me"}

    async def _aevaluate_strings(self, **arguments):
        return {**await super()._aevaluate_strings(**arguments), "by": "me"}

    def _parse_json(self, string):
        return super()._parse_json(string.replace("one", "1"))


def test_a_subclass_may_override_what_langchains_subclasses_do():
    fields = {"prediction": "one", "reference": "1"}
    expected = {"score": True, "by": "me"}
    assert Mine().evaluate_strings(**fields) == Mine().invoke(fields) == expected
    assert asyncio.run(Mine().aevaluate_strings(**fields)) == expected
    blocking = type("Blocking", (JsonValidityEvaluator,), {"_evaluate_strings": lambda *_, **__: 5})
    assert asyncio.run(blocking().aevaluate_strings(prediction="one")) == 5


@pytest.mark.parametrize(
    ("evaluator", "name", "needs_reference"),
    [
        (JsonValidityEvaluator(parsing="strict"), "json_validity", False),
        (JsonSchemaEvaluator(), "json_schema_validation", True),
        (JsonSchemaEvaluator(schema={}), "json_schema_validation", False),
        (LangChainEvaluator(JsonMatch(ignore_extra_keys=True)), "json_match", True),
    ],
)
def test_an_evaluator_says_its_name_and_needs_and_can_be_copied(evaluator, name, needs_reference):
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator)), copy.deepcopy(evaluator)):  # noqa: S301
        assert (type(one), one.evaluator) == (type(evaluator), evaluator.evaluator)
        assert (one.evaluation_name, one.requires_reference) == (name, needs_reference)


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


def test_every_evaluator_loads_by_its_name_and_by_langchains():
    options = {
        "python_type": {"expected_type": "str"},
        "weighted_sum": {"parts": {JsonEquality(): 1}},
        "embedding_distance": {"embeddings": list},
    }
    for name in DETERMINISTIC:
        evaluator = load_evaluator(name, **options.get(name, {}))
        assert evaluator.evaluation_name.startswith(name.partition("_distance")[0])
    evaluation = pytest.importorskip("langchain_classic.evaluation")
    for name in evaluation.EvaluatorType:
        options = {"embeddings": list} if "embedding" in name.value else {}
        loaded = load_evaluator(name, llm=Scripted("Y"), **options)
        assert type(loaded).__module__.startswith("llmeval_integrations.")
    distance = evaluation.StringDistance.LEVENSHTEIN
    loaded = load_evaluator(evaluation.EvaluatorType.STRING_DISTANCE, distance=distance)
    assert loaded.evaluator == StringDistance("levenshtein")
    assert "Enum" not in repr(loaded)
    assert isinstance(loaded, evaluation.StringEvaluator)


def test_several_evaluators_load_with_what_each_takes():
    validity, equality, criteria, rating = load_evaluators(
        ["json_validity", "json_equality", "criteria", "score_string"],
        config={"json_equality": {"list_order": "any", "parsing": "strict"}},
        llm=Scripted("because\nY"),
        parsing="lenient",
        criteria="depth",
    )
    assert validity.evaluator == JsonValidity(parsing="lenient")
    assert equality.evaluator == JsonEquality(list_order="any", parsing="strict")
    assert (criteria.evaluation_name, rating.evaluation_name) == ("depth", "score_string:depth")


@pytest.mark.parametrize(
    ("load", "error", "message"),
    [
        (lambda: load_evaluators(["json_validity"], prasing="strict"), InvalidOptionError, r"none of them has the option 'prasing'.*parsing"),
        (lambda: load_evaluator("json_matc"), UnknownNameError, "did you mean 'json_match'"),
        (lambda: JsonEqualityEvaluator(5, parsing="lenient"), InvalidOptionError, "operator"),
        (lambda: JsonEditDistanceEvaluator(strictness=1), InvalidOptionError, "has no option 'strictness'; it has "),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded_is_named(load, error, message):
    with pytest.raises(error, match=message):
        load()


EMBEDDINGS = DeterministicFakeEmbedding(size=64)


@pytest.mark.parametrize("metric", METRICS)
def test_texts_are_as_far_from_each_other_as_in_langchain(metric):
    given = {"embeddings": EMBEDDINGS, "distance_metric": metric}
    one = load_evaluator("embedding_distance", **given)
    pair = load_evaluator("pairwise_embedding_distance", **given)
    assert one.evaluation_name == f"embedding_{metric}_distance"
    assert pair.evaluation_name == f"pairwise_embedding_{metric}_distance"
    vectors = EMBEDDINGS.embed_documents(["Rome", "Oslo"])
    expected = {"score": METRICS[metric](*vectors)}
    fields = {"prediction": "Rome", "prediction_b": "Oslo", "reference": "Oslo"}
    assert one.evaluate_strings(**fields) == pair.evaluate_string_pairs(**fields) == expected
    assert asyncio.run(one.aevaluate_strings(**fields)) == expected
    assert asyncio.run(pair.aevaluate_string_pairs(**fields)) == expected

    base = pytest.importorskip("langchain_classic.evaluation.embedding_distance.base")
    numpy = pytest.importorskip("numpy")
    theirs = getattr(base.EmbeddingDistanceEvalChain, f"_{metric}_distance")
    arrays = [numpy.array([vector]) for vector in vectors]
    assert float(numpy.squeeze(theirs(*arrays))) == pytest.approx(expected["score"])


def test_two_texts_are_compared_by_their_characters():
    pair = load_evaluator("pairwise_string_distance", distance="levenshtein")
    assert pair.evaluation_name == "pairwise_levenshtein_distance"
    for one, other, score in (("abcd", "abce", 0.25), ("x", None, 1.0), (None, "x", 1.0)):
        fields = {"prediction": one, "prediction_b": other}
        assert pair.evaluate_string_pairs(**fields) == pair.invoke(fields) == {"score": score}


def run(code, *without):
    """Run code in a new interpreter in which some packages cannot be imported."""
    blocked = "".join(f"sys.modules[{name!r}] = None\n" for name in without)
    start = f"import sys\n{blocked}from llmeval_integrations.frameworks.langchain import *\n"
    command = [sys.executable, "-c", start + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_langchain_core_alone_is_enough_and_any_evaluation_package_is_the_base():
    code = """
from langchain_core.language_models import FakeListChatModel
equal = load_evaluator("json_equality")
print([kind for kind in type(equal).__mro__ if kind.__module__.startswith("langchain_classic")])
print((FakeListChatModel(responses=["no"]) | load_evaluator("json_validity")).invoke("go"))
criteria = load_evaluator("criteria", llm=FakeListChatModel(responses=["fine\\nY"]))
print(criteria.evaluate_strings(prediction="a", input="b"))
"""
    assert run(code, "langchain_classic", "langchain") == [
        "[]",
        str(BROKEN),
        "{'reasoning': 'fine', 'value': 'Y', 'score': 1}",
    ]
    pytest.importorskip("langchain.evaluation")  # of LangChain before 1.0
    code = "from langchain import evaluation as old\n"
    code += "print(issubclass(JsonValidityEvaluator, old.StringEvaluator))"
    assert run(code, "langchain_classic") == ["True"]
