"""Each framework, called as its users call it: an evaluator and samples in, what it tells out."""

import json
import uuid
from importlib import import_module
from itertools import count

import pytest

from llmeval_integrations import evaluate
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.frameworks._base import FIELDS


def adapter(name):
    """Import our file for a framework; skip where the framework is not installed."""
    packages = {"langchain": "langchain_core", "llama_index": "llama_index.core"}
    pytest.importorskip(packages.get(name, name))
    return import_module(f"llmeval_integrations.frameworks.{name}")


def known(sample):
    """Give the fields of a sample, None for what it lacks."""
    found = {name: getattr(sample, name) for name in FIELDS}
    return {name: None if value is MISSING else value for name, value in found.items()}


def given(sample, *names):
    """Give those of some fields that a sample has."""
    found = known(sample)
    return {name: found[name] for name in names or FIELDS if found[name] is not None}


KEYS = {"output": "text", "contexts": "found", "reference": "gold", "schema": "form", "input": "q"}


def mappings(sample):
    """Give the fields of a sample as inputs, outputs and references, under KEYS."""
    one = known(sample)
    inputs = {"q": one["input"], **(one["variables"] or {})}
    outputs = {"text": sample.output, "found": one["contexts"]}
    return inputs, outputs, {"gold": one["reference"], "form": one["schema"]}


def about(sample):
    """Give the metadata by which some frameworks tell contexts, schema and variables."""
    return given(sample, "contexts", "schema") | (known(sample)["variables"] or {})


def attempt(call, *args, **kwargs):
    try:
        return call(*args, **kwargs)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


# Each gives score, verdict, label and reason of each sample as its framework tells them, or the
# text of an error.


def python(evaluator, samples):
    for row in evaluate(samples, [evaluator]).rows:
        yield row.error or (row.score, row.passed, row.label, row.reason)


def langchain(evaluator, samples):
    wrapped = adapter("langchain").LangChainEvaluator(evaluator)
    for one in samples:
        found = attempt(wrapped.evaluate_strings, prediction=one.output, **given(one))
        yield (
            found
            if isinstance(found, str)
            else (found["score"], None, None, found.get("reasoning"))
        )


def llama_index(evaluator, samples):
    wrapped = adapter("llama_index").LlamaIndexEvaluator(evaluator)
    for one in samples:
        fields = given(one)
        found = wrapped.evaluate(fields.pop("input", None), one.output, **fields)
        yield found.score, found.passing, found.label, found.feedback


def langsmith(evaluator, samples):
    wrapped = adapter("langsmith").LangSmithEvaluator(evaluator, **KEYS)
    from langsmith import Client, evaluate
    from langsmith.schemas import Example

    rows = [mappings(one) for one in samples]
    ids = [{"id": uuid.uuid4(), "dataset_id": uuid.UUID(int=1)} for _ in rows]
    data = [Example(inputs=row[0], outputs=row[2], **id_) for row, id_ in zip(rows, ids)]
    outputs = iter(row[1] for row in rows)
    client = Client(
        tracing_sampling_rate=0, info={"version": "0"}, api_key="-", auto_batch_tracing=False
    )
    options = {"client": client, "upload_results": False, "max_concurrency": 0}
    for row in evaluate(lambda _: next(outputs), data=data, evaluators=[wrapped], **options):
        [found] = row["evaluation_results"]["results"]
        if "passed" in (found.metadata or {}):
            yield found.score, found.metadata["passed"], found.value, found.comment
        else:
            yield found.comment


def phoenix(evaluator, samples):
    wrapped = adapter("phoenix").PhoenixEvaluator(evaluator)
    import pandas as pd
    from phoenix.evals import evaluate_dataframe

    frame = pd.DataFrame([{"output": one.output, **known(one)} for one in samples], dtype=object)
    options = {"exit_on_error": False, "hide_tqdm_bar": True}
    scored = evaluate_dataframe(dataframe=frame, evaluators=[wrapped], **options)
    name = evaluator.name
    for details, found in zip(scored[f"{name}_execution_details"], scored[f"{name}_score"]):
        if details["status"] == "COMPLETED":
            yield (
                found.get("score"),
                found["metadata"]["passed"],
                found.get("label"),
                found.get("explanation"),
            )
        else:
            yield details["exceptions"][0]


def pydantic_evals(evaluator, samples):
    ours = adapter("pydantic_evals")
    from pydantic_evals import Case, Dataset

    numbers, name = count(), evaluator.name
    cases = [
        Case(
            name=str(number),
            inputs=one.input,
            expected_output=known(one)["reference"],
            metadata=about(one) or None,
        )
        for number, one in enumerate(samples)
    ]
    dataset = Dataset(name="all", cases=cases, evaluators=[ours.PydanticEvaluator(evaluator)])
    report = dataset.evaluate_sync(
        lambda _: samples[next(numbers)].output, progress=False, max_concurrency=1
    )
    for case in sorted(report.cases, key=lambda case: int(case.name)):
        if case.evaluator_failures:
            yield case.evaluator_failures[0].error_message
            continue
        passed, label = case.assertions.get(f"{name}_passed"), case.labels.get(f"{name}_label")
        score = case.scores[name]
        yield score.value, passed and passed.value, label and label.value, score.reason


def deepeval(evaluator, samples):
    metric = adapter("deepeval").DeepEvalMetric(evaluator)
    from deepeval.test_case import LLMTestCase

    for one in samples:
        fields = known(one)
        case = LLMTestCase(
            input=fields["input"] or "?",
            actual_output=one.output,
            expected_output=fields["reference"],
            retrieval_context=fields["contexts"],
            metadata=given(one, "schema") | (fields["variables"] or {}),
            name=fields["id"],
        )
        found = attempt(metric.measure, case)
        label = json.loads(metric.verbose_logs or '{"label": null}')["label"]
        bad = isinstance(found, str)
        yield found if bad else (metric.score, metric.success, label, metric.reason)


def mlflow(evaluator, samples):
    scorer = adapter("mlflow").MlflowScorer(evaluator, **KEYS)
    for one in samples:
        inputs, outputs, expectations = mappings(one)
        found = attempt(scorer, inputs=inputs, outputs=outputs, expectations=expectations)
        if isinstance(found, str):
            yield found
            continue
        passed = json.loads(found.metadata.get("passed", "null"))
        yield found.value, passed, found.metadata.get("label"), found.rationale


def inspect_ai(evaluator, samples):
    scorer = adapter("inspect_ai").inspect_scorer(evaluator, reference="gold")
    import inspect_ai
    from inspect_ai.dataset import Sample as Row
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs = [ModelOutput.from_content("mock", one.output) for one in samples]
    for output in outputs:
        output.usage = ModelUsage()  # or Inspect would fetch a vocabulary
    rows = [
        Row(
            input=known(one)["input"] or "?",
            id=number,
            metadata=about(one) | {"gold": one.reference},
        )
        for number, one in enumerate(samples)
    ]
    task = inspect_ai.Task(dataset=rows, scorer=[scorer])
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    [log] = inspect_ai.eval(
        task, model=model, display="none", max_samples=1, fail_on_error=False, log_dir="logs"
    )
    for row in sorted(log.samples, key=lambda row: row.id):
        if row.error:
            yield row.error.message
            continue
        found = row.scores[evaluator.name]
        is_unscored = found.value != found.value
        score = None if is_unscored else found.value
        yield score, found.metadata["passed"], found.metadata["label"], found.explanation


def dspy(evaluator, samples):
    metric = adapter("dspy").DspyMetric(evaluator, **KEYS)
    from dspy import Example, Prediction

    for one in samples:
        inputs, outputs, labels = mappings(one)
        row = Example(**inputs, **labels).with_inputs(*inputs)
        score = attempt(metric, row, Prediction(**outputs))
        bad = isinstance(score, str)
        yield score if bad else (score, metric(row, Prediction(**outputs), trace=[]), None, None)


def trl(evaluator, samples):
    reward = import_module("llmeval_integrations.frameworks.trl").TrlReward(evaluator)
    for one in samples:
        columns = given(one, "reference", "contexts", "schema") | (known(one)["variables"] or {})
        cells = {name: [cell] for name, cell in columns.items()}
        found = attempt(reward, [known(one)["input"] or "?"], [one.output], **cells)
        yield found if isinstance(found, str) else (found[0], None, None, None)


WAYS = [
    *(python, langchain, llama_index, langsmith, phoenix, pydantic_evals, deepeval, mlflow),
    *(inspect_ai, dspy, trl),
]
