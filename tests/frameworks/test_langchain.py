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

from llmeval_integrations import JsonEquality, JsonValidity, Sample, StringDistance
from llmeval_integrations.evaluators.embedding_distance import METRICS
from llmeval_integrations.frameworks import langchain as ours
from llmeval_integrations.frameworks.langchain import load_evaluator

NO_JSON = "Expecting value: line 1 column 1 (char 0)"
VALID, BROKEN = {"score": 1}, {"score": 0, "reasoning": NO_JSON}
AGE = '{"properties": {"age": {"type": "integer"}}}'
TWO = "<ValidationError: '1 is less than the minimum of 2'>"
EMBEDDINGS = DeterministicFakeEmbedding(size=64)
LENIENT = {"parsing": "lenient"}


def is_sorted(*both):
    return both == ([10, 9, "a"], [])


def count(output, _):
    return len(output)


# A name, its options, prediction and reference, and the result of LangChain.
RESULTS_OF_VALUES = [
    ("json_validity", {}, '{"name": "John", "age": 30}', None, VALID),
    ("json_equality", {}, '{"a": 1}', '{"a": 1}', {"score": True}),
    ("json_equality", {}, {"a": 1}, {"a": 2}, {"score": False}),
    ("json_equality", {}, "no", "2", {"score": False, "reasoning": NO_JSON}),
    ("json_equality", {**LENIENT, "list_order": "top_level_any"}, "[true]", "[1]", {"score": False}),
    ("json_equality", {**LENIENT, "operator": is_sorted}, '["a", 10, 9]', "[]", {"score": True}),
    ("json_edit_distance", {}, '{"a": 1, "b": 2}', '{"a": 1, "b": 3}', {"score": 0.07692307692307693}),
    ("json_edit_distance", {"string_distance": count, "canonicalize": str}, "[1]", "[1,2]", {"score": 3.0}),
    ("json_schema", {}, '{"age": 30}', AGE, {"score": True}),
    ("json_schema_validation", {"schema": {"minimum": 2}}, "1", None, {"score": False, "reasoning": TWO}),
    ("json_match", {}, '{"a": 1}', '{"a": 2}', {"score": 0.0, "reasoning": "/a 1, expected 2"}),
    ("length_penalty", {"min_length": 3}, "ab", None, {"score": -0.01, "reasoning": "Too short: 2 < 3"}),
    ("exact_match", {}, "a", "b", {"score": 0}),
    ("string_distance", {"distance": "levenshtein"}, "ab", "ac", {"score": 0.5}),
    ("pairwise_string_distance", {"distance": "levenshtein"}, "abcd", "abce", {"score": 0.25}),
    ("pairwise_string_distance", {}, None, "x", {"score": 1.0}),
    ("pairwise_string_distance", {}, "x", None, {"score": 1.0}),
    ("embedding_distance", {"embeddings": EMBEDDINGS}, "a", "a", {"score": 0.0}),
    ("pairwise_embedding_distance", {"embeddings": EMBEDDINGS}, "a", "a", {"score": 0.0}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options", "prediction", "reference", "result"), RESULTS_OF_VALUES
)
def test_keys_and_values_are_langchains(name, options, prediction, reference, result):
    evaluator = load_evaluator(name, **options)
    fields = {"prediction": prediction, "reference": reference, "prediction_b": reference}
    kind = "string_pairs" if "pairwise" in name else "strings"
    found = [getattr(evaluator, f"evaluate_{kind}")(**fields), evaluator.invoke(fields)]
    found.append(asyncio.run(getattr(evaluator, f"aevaluate_{kind}")(**fields)))
    assert list(map(repr, found)) == [repr(result)] * 3


def test_further_arguments_reach_the_evaluator():
    asked = Fixed(RESULTS["unscored"])
    given = {"contexts": ["c"], "schema": {}, "variables": None, "id": 7, "group": "a"}
    wrapped = ours.LangChainEvaluator(asked)
    result = wrapped.evaluate_strings(prediction="x", input="?", **given, callbacks=[], tags=["t"])
    assert result == {"score": None, "reasoning": "cannot tell"}
    assert wrapped.invoke({"prediction": "x", "input": "?", **given}) == result
    assert asked.samples == [Sample("x", input="?", contexts=["c"], schema={}, id=7, group="a")] * 2


class Mine(ours.JsonEqualityEvaluator):
    """A subclass that overrides what LangChain's do."""

    def _evaluate_strings(self, **arguments):
        return {**super()._evaluate_strings(**arguments), "by": "me"}

    async def _aevaluate_strings(self, **arguments):
        return {**await super()._aevaluate_strings(**arguments), "by": "me"}

    def _parse_json(self, string):
        return super()._parse_json(string.replace("one", "1"))


class Blocking(ours.JsonValidityEvaluator):
    def _evaluate_strings(self, **arguments):
        return 5


def test_a_subclass_may_override_what_langchains_subclasses_do():
    fields = {"prediction": "one", "reference": "1"}
    expected = {"score": True, "by": "me"}
    assert Mine().evaluate_strings(**fields) == Mine().invoke(fields) == expected
    assert asyncio.run(Mine().aevaluate_strings(**fields)) == expected
    assert asyncio.run(Blocking().aevaluate_strings(**fields)) == 5


@pytest.mark.parametrize(
    ("given", "options", "name", "needs_reference"),
    [
        ("json_validity", {"parsing": "strict"}, "json_validity", False),
        ("json_schema", {}, "json_schema_validation", True),
        ("json_schema", {"schema": {}}, "json_schema_validation", False),
        ("json_match", {"ignore_extra_keys": True}, "json_match", True),
        ("embedding_distance", {"embeddings": count}, "embedding_cosine_distance", True),
        ("pairwise_embedding_distance", {"embeddings": count}, "pairwise_embedding_cosine_distance", False),
        ("pairwise_string_distance", {}, "pairwise_jaro_winkler_distance", False),
    ],
)  # fmt: skip
def test_an_evaluator_says_its_name_and_needs_and_can_be_copied(
    given, options, name, needs_reference
):
    evaluator = load_evaluator(given, **options)
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator)), copy.deepcopy(evaluator)):  # noqa: S301
        assert (type(one), one.evaluator) == (type(evaluator), evaluator.evaluator)
        assert (one.evaluation_name, one.requires_reference) == (name, needs_reference)


BLOCKS = [{"type": "text", "text": '{"a"'}, {"type": "reasoning", "text": "no"}, ": 1}"]


@pytest.mark.parametrize(
    ("handed_on", "expected"),
    [
        ("x", BROKEN),
        (AIMessage(BLOCKS), VALID),
        ([], VALID),
        (None, BROKEN),
        ({"output": "x", "messages": 1, "reference": 2}, VALID),
    ],
)
def test_what_a_chain_hands_on_is_the_output_itself(handed_on, expected):
    assert load_evaluator("json_validity").invoke(handed_on) == expected


def test_a_trace_shows_the_evaluation_by_its_name():
    chain = FakeListChatModel(responses=["{}"]) | load_evaluator("json_object")
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
    validity, equality, criteria, rating = ours.load_evaluators(
        ["json_validity", "json_equality", "criteria", "score_string"],
        config={"json_equality": {"list_order": "any", "parsing": "strict"}},
        llm=Scripted("because\nY"),
        parsing="lenient",
        criteria="depth",
    )
    assert validity.evaluator == JsonValidity(parsing="lenient")
    assert equality.evaluator == JsonEquality(list_order="any", parsing="strict")
    assert (criteria.evaluation_name, rating.evaluation_name) == ("depth", "score_string:depth")


@pytest.mark.parametrize("metric", METRICS)
def test_meanings_are_as_far_from_each_other_as_in_langchain(metric):
    numpy = pytest.importorskip("numpy")
    base = pytest.importorskip("langchain_classic.evaluation.embedding_distance.base")
    theirs = getattr(base.EmbeddingDistanceEvalChain, f"_{metric}_distance")
    arrays = (numpy.array([each]) for each in EMBEDDINGS.embed_documents(["Rome", "Oslo"]))
    ours = load_evaluator("embedding_distance", embeddings=EMBEDDINGS, distance_metric=metric)
    found = ours.evaluate_strings(prediction="Rome", reference="Oslo")
    assert found == {"score": pytest.approx(float(numpy.squeeze(theirs(*arrays))))}


CORE_ALONE = """
from langchain_core.language_models import FakeListChatModel
equal = load_evaluator("json_equality")
print([kind for kind in type(equal).__mro__ if kind.__module__.startswith("langchain_classic")])
print((FakeListChatModel(responses=["no"]) | load_evaluator("json_validity")).invoke("go"))
criteria = load_evaluator("criteria", llm=FakeListChatModel(responses=["fine\\nY"]))
print(criteria.evaluate_strings(prediction="a", input="b"))
"""
OLD = """
from langchain import evaluation as old
print(issubclass(JsonValidityEvaluator, old.StringEvaluator))
"""
PRINTED = ["[]", str(BROKEN), "{'reasoning': 'fine', 'value': 'Y', 'score': 1}"]


@pytest.mark.parametrize(
    ("needed", "absent", "code", "printed"),
    [
        ("langchain_core", ["langchain_classic", "langchain"], CORE_ALONE, PRINTED),
        ("langchain.evaluation", ["langchain_classic"], OLD, ["True"]),  # of LangChain before 1.0
    ],
)
def test_core_alone_is_enough_and_any_evaluation_package_is_the_base(needed, absent, code, printed):
    pytest.importorskip(needed)
    start = f"import sys\nsys.modules |= dict.fromkeys({absent})\n"
    start += "from llmeval_integrations.frameworks.langchain import *\n"
    command = [sys.executable, "-c", start + code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == printed
