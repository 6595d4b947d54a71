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


# Each yields score, verdict, label and reason of each sample, in the words of its framework.


def python(evaluator, samples):
    for row in evaluate(samples, [evaluator]).rows:
        assert row.error is None
        yield row.score, row.passed, row.label, row.reason


def langchain(evaluator, samples):
    wrapped = _adapter("langchain").LangChainEvaluator(evaluator)
    for one in samples:
        given = {"reference": one.reference, "schema": one.schema, "id": one.id}
        found = wrapped.evaluate_strings(prediction=one.output, **given)
        yield found["score"], None, None, found.get("reasoning")


def llama_index(evaluator, samples):
    wrapped = _adapter("llama_index").LlamaIndexEvaluator(evaluator)
    for one in samples:
        found = wrapped.evaluate(response=one.output, reference=one.reference, schema=one.schema)
        yield found.score, found.passing, found.label, found.feedback


def langsmith(evaluator, samples):
    keys = {"reference": "answer", "schema": "schema"}
    wrapped = _adapter("langsmith").LangSmithEvaluator(evaluator, **keys)
    for one in samples:
        found = wrapped(outputs={"answer": one.output}, reference_outputs=_expected(one))
        yield found["score"], found["metadata"]["passed"], found["value"], found["comment"]


def _expected(sample):
    return {"answer": sample.reference, "schema": sample.schema}


def phoenix(evaluator, samples):
    wrapped = _adapter("phoenix").PhoenixEvaluator(evaluator)
    for one in samples:
        cells = {"output": one.output, "reference": one.reference, "schema": one.schema}
        [found] = wrapped.evaluate(cells)
        yield found.score, found.metadata["passed"], found.label, found.explanation


def pydantic_evals(evaluator, samples):
    ours = _adapter("pydantic_evals")
    from pydantic_evals import Case, Dataset

    cases = [
        Case(
            name=one.id,
            inputs=one.output,
            expected_output=one.reference,
            metadata={"schema": one.schema},
        )
        for one in samples
    ]
    dataset = Dataset(name="all", cases=cases, evaluators=[ours.PydanticEvaluator(evaluator)])
    report = dataset.evaluate_sync(lambda text: text, progress=False)
    name = evaluator.name
    for case in sorted(report.cases, key=lambda case: int(case.name)):
        score, passed = case.scores[name], case.assertions[f"{name}_passed"].value
        label = case.labels.get(f"{name}_label")
        yield score.value, passed, label and label.value, score.reason


def deepeval(evaluator, samples):
    metric = _adapter("deepeval").DeepEvalMetric(evaluator)
    from deepeval.test_case import LLMTestCase

    for one in samples:
        given = {"actual_output": one.output, "expected_output": one.reference}
        metric.measure(LLMTestCase(input="?", metadata={"schema": one.schema}, **given))
        label = json.loads(metric.verbose_logs)["label"]
        yield metric.score, metric.success, label, metric.reason


def mlflow(evaluator, samples):
    scorer = _adapter("mlflow").MlflowScorer(evaluator, reference="answer", schema="schema")
    for one in samples:
        found = scorer(inputs={}, outputs=one.output, expectations=_expected(one))
        passed = json.loads(found.metadata.get("passed", "null"))
        yield found.value, passed, found.metadata.get("label"), found.rationale


def inspect_ai(evaluator, samples):
    scorer = _adapter("inspect_ai").inspect_scorer(evaluator)
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    async def score(one):
        state = TaskState(
            model=ModelName("mockllm/model"),
            sample_id=one.id,
            epoch=1,
            input="?",
            messages=[],
            output=ModelOutput.from_content("mockllm/model", one.output),
            metadata={"schema": one.schema},
        )
        return await scorer(state, Target(one.reference))

    async def scores():
        return [await score(one) for one in samples]

    for found in asyncio.run(scores()):
        yield found.value, found.metadata["passed"], found.metadata["label"], found.explanation


def dspy(evaluator, samples):
    metric = _adapter("dspy").DspyMetric(evaluator, reference="answer", schema="schema")
    from dspy import Example, Prediction

    for one in samples:
        row = Example(question="?", **_expected(one)).with_inputs("question")
        given = Prediction(answer=one.output)
        yield metric(row, given), metric(row, given, trace=[]), None, None


def trl(evaluator, samples):
    reward = import_module("llmeval_integrations.frameworks.trl").TrlReward(evaluator)
    columns = {name: [getattr(each, name) for each in samples] for name in ("reference", "schema")}
    scores = reward(["?"] * len(samples), [one.output for one in samples], **columns)
    yield from ((score, None, None, None) for score in scores)


WAYS = [
    *(python, langchain, llama_index, langsmith, phoenix, pydantic_evals, deepeval, mlflow),
    *(inspect_ai, dspy, trl),
]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


def found_by(way, evaluator, samples, wanted):
    return [
        {name: value for name, value in zip(ALL, found, strict=True) if name in wanted}
        for found in way(evaluator, samples)
    ]


@every_way
@pytest.mark.parametrize("kind", ["yes", "no", "number", "whole"])
def test_each_kind_of_result_comes_through(way, kind):
    result, wanted = RESULTS[kind], CARRIED.get(way.__name__, ALL)
    expected = {name: getattr(result, name) for name in wanted}
    if way is langchain and result.passed:
        expected["reason"] = None
    sample = Sample("[1]", "[1.0]", schema={}, id="0")
    assert found_by(way, Fixed(result), [sample], wanted) == [expected]


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
    if way is langchain and evaluator.name in LANGCHAINS_OWN:
        wanted = ("score",)
    expected = [
        {name: getattr(result, name) for name in wanted} for result in in_python[evaluator.name]
    ]
    if "reason" in wanted and way is langchain:
        for each, result in zip(expected, in_python[evaluator.name], strict=True):
            # What is not JSON has the message of Python's parser, and what passed no reason.
            said = result.metadata.get("message", result.reason)
            each["reason"] = None if result.passed else said
    assert found_by(way, evaluator, samples, wanted) == expected
