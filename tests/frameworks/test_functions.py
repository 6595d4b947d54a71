"""Evaluators as the functions of other packages, called by these where they are installed."""

import asyncio
import inspect
import sys

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example

from llmeval_integrations import (
    InvalidOptionError,
    JsonEquality,
    MissingDependencyError,
    MissingFieldError,
    Sample,
)
from llmeval_integrations.frameworks import functions
from llmeval_integrations.frameworks._base import UnscoredError
from llmeval_integrations.frameworks.functions import as_function

CALLS = {
    "verl": {"data_source": "d", "solution_str": "so", "ground_truth": "gold", "extra_info": {"contexts": ["c"], "n": 1}},
    "openrlhf": {"queries": ["<|user|>?so<|end|>\n"], "prompts": ["<|user|>?"], "labels": ["gold"]},
    "braintrust": {"input": "?", "output": "so", "expected": "gold", "metadata": {"schema": {}}},
    "autoevals": {"output": "so", "expected": "gold", "input": "?", "tone": "dry"},
    "langfuse": {"input": "?", "output": "so", "expected_output": "gold", "metadata": None},
    "ragas": {"response": "so", "reference": "gold", "user_input": "?", "retrieved_contexts": ["c"]},
}  # fmt: skip
SAMPLES = {
    "verl": Sample("so", "gold", contexts=["c"], variables={"contexts": ["c"], "n": 1}),
    "openrlhf": Sample("so", "gold", "<|user|>?"),
    "braintrust": Sample("so", "gold", "?", schema={}, variables={"schema": {}}),
    "autoevals": Sample("so", "gold", "?", variables={"tone": "dry"}),
    "langfuse": Sample("so", "gold", "?"),
    "ragas": Sample("so", "gold", "?", ["c"]),
}
HOSTS = list(CALLS)
ASYNCHRONOUS = ("braintrust", "langfuse", "ragas")


def build(evaluator, host, **options):
    if host not in ("verl", "openrlhf"):
        pytest.importorskip(host)
    return as_function(evaluator, host, **options)


def figure(host, answer):
    """Give the number in a host's answer."""
    if host in ("verl", "openrlhf"):
        return answer["score" if host == "verl" else "rewards"]
    if isinstance(answer, list):
        return None
    return answer.score if host in ("braintrust", "autoevals") else answer.value


@pytest.mark.parametrize("host", HOSTS)
def test_arguments_are_the_sample_and_the_answer_has_the_score(host):
    fixed = Fixed(RESULTS["number"])
    function = build(fixed, host, name="mine")
    answer = function(**CALLS[host])
    assert (figure(host, answer), fixed.samples, function.__name__) == (
        0.25,
        [SAMPLES[host]],
        "mine",
    )
    answer = build(fixed, host, value="passed")(**CALLS[host])
    assert (figure(host, answer), type(figure(host, answer))) == (0.0, float)


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_unscored_is_never_a_silent_zero(host):
    fixed = Fixed(RESULTS["unscored"])
    assert figure(host, build(fixed, host, unscored=0.5)(**CALLS[host])) == 0.5
    if host in ("verl", "openrlhf"):
        with pytest.raises(UnscoredError, match=r"fixed is unscored \(torn\): cannot tell"):
            as_function(fixed, host)(**CALLS[host])
    else:
        assert figure(host, build(fixed, host)(**CALLS[host])) is None


@pytest.mark.parametrize("host", HOSTS)
def test_judges_are_awaited_where_the_host_awaits(host):
    function = build(judge(), host)
    assert inspect.iscoroutinefunction(function) is (host in ASYNCHRONOUS)
    answer = function(**CALLS[host])
    answer = asyncio.run(answer) if inspect.isawaitable(answer) else answer
    assert figure(host, answer) == 1.0


def test_a_bad_call_raises(monkeypatch):
    with pytest.raises(MissingFieldError, match="json_equality needs a reference"):
        as_function(JsonEquality(), "verl")("d", "[1]", None)
    with pytest.raises(InvalidOptionError, match="'json_equality' is not an Evaluator; load_ev"):
        as_function("json_equality", "verl")
    with pytest.raises(InvalidOptionError, match=r"'ver1' is not a known host.*verl"):
        as_function(JsonEquality(), "ver1")
    monkeypatch.setitem(sys.modules, "langfuse", None)
    with pytest.raises(MissingDependencyError, match="langfuse is not installed"):
        as_function(JsonEquality(), "langfuse")


def test_braintrust_runs_it():
    braintrust = pytest.importorskip("braintrust")
    scores = [as_function(JsonEquality(), "braintrust"), as_function(judge(), "braintrust")]
    data = [{"input": "a", "expected": "[1.0]"}, {"input": "b", "expected": "[2]"}]
    done = braintrust.Eval("p", data=data, task=lambda _: "[1]", scores=scores, no_send_logs=True)
    found = sorted(done.results, key=lambda each: each.input)
    assert [each.scores for each in found] == [
        {"json_equality": 1.0, "safety": 1.0},
        {"json_equality": 0.0, "safety": 1.0},
    ]


def test_langfuse_runs_it():
    langfuse = pytest.importorskip("langfuse")
    evaluators = [JsonEquality(), judge(), Fixed(RESULTS["unscored"])]
    done = langfuse.Langfuse(tracing_enabled=False).run_experiment(
        name="e",
        data=[{"input": "a", "expected_output": "[1.0]"}],
        task=lambda item, **_: "[1]",
        evaluators=[as_function(each, "langfuse") for each in evaluators],
    )
    [item] = done.item_results
    said = {each.name: each.value for each in item.evaluations}
    assert said == {"json_equality": 1.0, "safety": 1.0}


def test_ragas_runs_it():
    metrics = pytest.importorskip("ragas.metrics")
    for evaluator, value in ((JsonEquality(), 1.0), (judge(), 1.0), (Fixed(RESULTS["unscored"]), None)):  # fmt: skip
        metric = metrics.numeric_metric(name="m")(as_function(evaluator, "ragas"))
        assert metric.score(response="[1]", reference="[1.0]").value == value


def test_the_example_of_the_docstring():
    run_example(functions)
