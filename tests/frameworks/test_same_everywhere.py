"""Results are the same in Python and through every framework, each by its own call or runner."""

import asyncio
import json
from importlib import import_module
from pathlib import Path

import pytest
from framework_cases import RESULTS, Awaited, Fixed

from llmeval_integrations import (
    ExactMatch,
    JsonFields,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    Sample,
    evaluate,
)

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "sob"
EVALUATORS = [JsonValidity(), JsonFields(), JsonSchema(), JsonMatch(), ExactMatch()]
ALL = ("score", "passed", "label", "reason")

CARRIED = {
    "langchain": ("score", "reason"),  # its dict has neither a verdict nor a label
    "langchain_runnable": ("score", "reason"),
    "dspy": ("score", "passed"),  # a metric gives a number, and a verdict where it is traced
    "trl": ("score",),
}
"""What the results of a framework hold, where that is not all of score, verdict, label, reason."""

LANGCHAINS_OWN = ("json_validity", "json_schema", "exact_match")
"""Evaluators that LangChain has, too: there the reason is in LangChain's words, or left out."""

SCHEMA = {
    "type": "object",
    "properties": {
        "total": {"type": "number"},
        "day": {"type": "string", "format": "date"},
        "lines": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["total"],
}
REFERENCE = '{"total": 12.5, "day": "2024-01-05", "lines": ["tea", "r\u00fcbe"]}'
MADE = [
    REFERENCE,
    REFERENCE.replace("12.5", "1.25e1"),
    f"```json\n{REFERENCE}\n```",
    f"Here it is: {REFERENCE}",
    REFERENCE[:-1],
    REFERENCE.replace("12.5", '"12.5"'),
    REFERENCE.replace("12.5", "true"),
    REFERENCE.replace("12.5", "NaN"),
    REFERENCE.replace("12.5", "null"),
    REFERENCE.replace('"tea", ', ""),
    '{"lines": ["r\u00fcbe", "tea"], "total": 12.5, "day": "2024-01-05", "more": {"a": []}}',
    '{"total": 1, "total": 12.5}',
    *("{}", "[]", "null", "12.5", '"text"', "", " ", "no JSON", "I cannot help.", "<b>&amp;</b>"),
    *("[" * 300 + "]" * 300, "9" * 400, '{"total": 1' + "0" * 320 + "}", '{"a": "\\ud83d\\ude00"}'),
    *("{'total': 12.5}", '{"total": 12.5,}', '{"total": 12.5} // so', "\ufeff{}"),
]


@pytest.fixture(scope="module")
def samples():
    real = [
        json.loads(line)
        for file in sorted(FOLDER.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()[:45]
    ]
    if not real:
        pytest.skip("the shared data are not here")  # none of it is in the repository
    made = [{"output": text, "reference": REFERENCE, "schema": SCHEMA} for text in MADE]
    rows = [*real, *made]
    assert len(rows) == 300
    return [
        Sample(row["output"], _text(row["reference"]), schema=row["schema"], id=str(number))
        for number, row in enumerate(rows)
    ]


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


@pytest.fixture(scope="module")
def in_python(samples):
    return {each.name: [each.evaluate(sample) for sample in samples] for each in EVALUATORS}


def _adapter(name):
    """Import our file for a framework; skip where the framework is not installed."""
    packages = {"langchain": "langchain_core", "llama_index": "llama_index.core"}
    pytest.importorskip(packages.get(name, name))
    return import_module(f"llmeval_integrations.frameworks.{name}")


def by_call(evaluator, samples):
    for sample in samples:
        result = evaluator(sample.output, sample.reference, schema=sample.schema, id=sample.id)
        yield {name: getattr(result, name) for name in ALL}


def by_evaluate(evaluator, samples):
    for row in evaluate(samples, [evaluator]).rows:
        assert row.error is None
        yield {name: getattr(row, name) for name in ALL}


def langchain(evaluator, samples):
    ours = _adapter("langchain")
    wrapped = ours.LangChainEvaluator(evaluator)
    for sample in samples:
        yield _of_langchain(wrapped.evaluate_strings(**_strings(sample)))


def langchain_runnable(evaluator, samples):
    ours = _adapter("langchain")
    runnable = ours.LangChainEvaluator(evaluator)
    yield from map(_of_langchain, runnable.batch([*map(_strings, samples)]))


def _strings(sample):
    return {
        "prediction": sample.output,
        "reference": sample.reference,
        "schema": sample.schema,
        "id": sample.id,
    }


def _of_langchain(found):
    return {"score": found["score"], "reason": found.get("reasoning")}


def llama_index(evaluator, samples):
    ours = _adapter("llama_index")
    wrapped = ours.LlamaIndexEvaluator(evaluator)
    for sample in samples:
        given = {"reference": sample.reference, "schema": sample.schema}
        yield _of_llama_index(wrapped.evaluate(response=sample.output, **given))


def llama_index_runner(evaluator, samples):
    ours = _adapter("llama_index")
    from llama_index.core.evaluation import BatchEvalRunner

    runner = BatchEvalRunner({"one": ours.LlamaIndexEvaluator(evaluator)}, workers=8)
    found = runner.evaluate_response_strs(
        queries=[""] * len(samples),
        response_strs=[sample.output for sample in samples],
        reference=[sample.reference for sample in samples],
        schema=[sample.schema for sample in samples],
    )
    yield from map(_of_llama_index, found["one"])


def _of_llama_index(found):
    said = (found.score, found.passing, found.label, found.feedback)
    return dict(zip(ALL, said, strict=True))


def langsmith(evaluator, samples):
    ours = _adapter("langsmith")
    wrapped = ours.LangSmithEvaluator(evaluator, reference="answer", schema="schema")
    for sample in samples:
        found = wrapped(outputs={"answer": sample.output}, reference_outputs=_expected(sample))
        said = (found["score"], found["metadata"]["passed"], found["value"], found["comment"])
        yield dict(zip(ALL, said, strict=True))


def _expected(sample):
    return {"answer": sample.reference, "schema": sample.schema}


def phoenix(evaluator, samples):
    ours = _adapter("phoenix")
    wrapped = ours.PhoenixEvaluator(evaluator)
    for sample in samples:
        cells = {"output": sample.output, "reference": sample.reference, "schema": sample.schema}
        [found] = wrapped.evaluate(cells)
        said = (found.score, found.metadata["passed"], found.label, found.explanation)
        yield dict(zip(ALL, said, strict=True))


def pydantic_evals(evaluator, samples):
    ours = _adapter("pydantic_evals")
    from pydantic_evals import Case, Dataset

    cases = [
        Case(
            name=sample.id,
            inputs=sample.output,
            expected_output=sample.reference,
            metadata={"schema": sample.schema},
        )
        for sample in samples
    ]
    dataset = Dataset(name="all", cases=cases, evaluators=[ours.PydanticEvaluator(evaluator)])
    report = dataset.evaluate_sync(lambda text: text, progress=False)
    assert not report.failures
    name = evaluator.name
    for case in sorted(report.cases, key=lambda case: int(case.name)):
        assert not case.evaluator_failures
        label = case.labels.get(f"{name}_label")
        yield {
            "score": case.scores[name].value,
            "passed": case.assertions[f"{name}_passed"].value,
            "label": label and label.value,
            "reason": case.scores[name].reason,
        }


def deepeval(evaluator, samples):
    ours = _adapter("deepeval")
    from deepeval.test_case import LLMTestCase

    metric = ours.DeepEvalMetric(evaluator)
    for sample in samples:
        case = LLMTestCase(
            input="?",
            actual_output=sample.output,
            expected_output=sample.reference,
            metadata={"schema": sample.schema},
        )
        metric.measure(case)
        label = json.loads(metric.verbose_logs)["label"]
        said = (metric.score, metric.success, label, metric.reason)
        yield dict(zip(ALL, said, strict=True))


def mlflow(evaluator, samples):
    ours = _adapter("mlflow")
    scorer = ours.MlflowScorer(evaluator, reference="answer", schema="schema")
    for sample in samples:
        found = scorer(inputs={}, outputs=sample.output, expectations=_expected(sample))
        passed = json.loads(found.metadata.get("passed", "null"))
        said = (found.value, passed, found.metadata.get("label"), found.rationale)
        yield dict(zip(ALL, said, strict=True))


def inspect_ai(evaluator, samples):
    ours = _adapter("inspect_ai")
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    scorer = ours.inspect_scorer(evaluator)

    async def scores():
        for sample in samples:
            state = TaskState(
                model=ModelName("mockllm/model"),
                sample_id=sample.id,
                epoch=1,
                input="?",
                messages=[],
                output=ModelOutput.from_content("mockllm/model", sample.output),
                metadata={"schema": sample.schema},
            )
            yield await scorer(state, Target(sample.reference))

    async def collect():
        return [found async for found in scores()]

    for found in asyncio.run(collect()):
        said = (found.value, found.metadata["passed"], found.metadata["label"], found.explanation)
        yield dict(zip(ALL, said, strict=True))


def dspy(evaluator, samples):
    ours = _adapter("dspy")
    from dspy import Example, Prediction

    metric = ours.DspyMetric(evaluator, reference="answer", schema="schema")
    for sample in samples:
        row = Example(question="?", **_expected(sample)).with_inputs("question")
        given = Prediction(answer=sample.output)
        yield {"score": metric(row, given), "passed": metric(row, given, trace=[])}


def trl(evaluator, samples):
    reward = import_module("llmeval_integrations.frameworks.trl").TrlReward(evaluator)
    outputs = [sample.output for sample in samples]
    columns = {name: [getattr(each, name) for each in samples] for name in ("reference", "schema")}
    yield from ({"score": score} for score in reward(["?"] * len(samples), outputs, **columns))


WAYS = [
    *(by_call, by_evaluate, langchain, langchain_runnable, llama_index, llama_index_runner),
    *(langsmith, phoenix, pydantic_evals, deepeval, mlflow, inspect_ai, dspy, trl),
]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@every_way
@pytest.mark.parametrize("kind", ["yes", "no", "number", "whole"])
def test_each_kind_of_result_comes_through(way, kind):
    result, wanted = RESULTS[kind], CARRIED.get(way.__name__, ALL)
    [found] = way(Fixed(result), [Sample("[1]", "[1.0]", schema={}, id="0")])
    expected = {name: getattr(result, name) for name in wanted}
    if way in (langchain, langchain_runnable) and result.passed:
        expected["reason"] = None
    assert {name: found[name] for name in wanted} == expected


AWAITED = {
    "langchain": lambda ours, one: ours.LangChainEvaluator(one).aevaluate_strings(prediction="1"),
    "llama_index": lambda ours, one: ours.LlamaIndexEvaluator(one).aevaluate(response="1"),
    "langsmith": lambda ours, one: ours.LangSmithEvaluator(one).acall(outputs="1"),
    "phoenix": lambda ours, one: ours.PhoenixEvaluator(one).async_evaluate({"output": "1"}),
    "deepeval": lambda ours, one: ours.DeepEvalMetric(one).a_measure(
        import_module("deepeval.test_case").LLMTestCase(input="?", actual_output="1")
    ),
}


@pytest.mark.parametrize("name", AWAITED)
def test_what_waits_is_awaited_so_that_others_go_on(name):
    ours = _adapter(name)

    async def two_at_once():
        evaluator = Awaited()
        return await asyncio.gather(*[AWAITED[name](ours, evaluator) for _ in range(2)])

    assert len(asyncio.run(two_at_once())) == 2


@pytest.mark.nightly  # 1,500 results for each of a dozen ways
@every_way
@pytest.mark.parametrize("evaluator", EVALUATORS, ids=lambda evaluator: evaluator.name)
def test_results_are_the_same(way, evaluator, samples, in_python):
    wanted = CARRIED.get(way.__name__, ALL)
    if way in (langchain, langchain_runnable) and evaluator.name in LANGCHAINS_OWN:
        wanted = ("score",)
    expected = [
        {name: getattr(result, name) for name in wanted} for result in in_python[evaluator.name]
    ]
    if "reason" in wanted and way in (langchain, langchain_runnable):
        for each, result in zip(expected, in_python[evaluator.name], strict=True):
            # What is not JSON has the message of Python's parser, and what passed no reason.
            said = result.metadata.get("message", result.reason)
            each["reason"] = None if result.passed else said
    found = [{name: each[name] for name in wanted} for each in way(evaluator, samples)]
    assert found == expected


@pytest.mark.nightly
def test_the_samples_have_all_kinds_of_results(in_python):
    for results in in_python.values():
        assert {result.passed for result in results} == {True, False}
        assert None not in {result.score for result in results}
