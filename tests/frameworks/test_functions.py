"""Evaluators as the functions of other packages, called by these where they are installed."""

import asyncio
import inspect
import sys
from operator import itemgetter

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

REWARDS = ("verl", "openrlhf")
"""Hosts that accept plain values, and have none for what is unscored."""

ITEM = {"input": "?", "output": "so"}
SCORE = lambda answer: answer.score  # noqa: E731
VALUE = lambda answer: None if answer == [] else answer.value  # noqa: E731

# A host, what it passes, the sample, how its answer holds the number, and whether it awaits judges.
HOSTS = [
    ("verl", {"data_source": "d", "solution_str": "so", "ground_truth": "gold", "extra_info": {"contexts": ["c"], "n": 1}},
     Sample("so", "gold", contexts=["c"], variables={"contexts": ["c"], "n": 1}), itemgetter("score"), False),
    ("openrlhf", {"queries": ["<|user|>?so<|end|>\n"], "prompts": ["<|user|>?"], "labels": ["gold"]},
     Sample("so", "gold", "<|user|>?"), itemgetter("rewards"), False),
    ("braintrust", {**ITEM, "expected": "gold", "metadata": {"schema": {}}},
     Sample("so", "gold", "?", schema={}, variables={"schema": {}}), SCORE, True),
    ("autoevals", {**ITEM, "expected": "gold", "tone": "dry"},
     Sample("so", "gold", "?", variables={"tone": "dry"}), SCORE, False),
    ("langfuse", {**ITEM, "expected_output": "gold", "metadata": None}, Sample("so", "gold", "?"), VALUE, True),
    ("ragas", {"response": "so", "reference": "gold", "user_input": "?", "retrieved_contexts": ["c"]},
     Sample("so", "gold", "?", ["c"]), VALUE, True),
]  # fmt: skip


@pytest.mark.parametrize(("host", "call", "sample", "number", "is_awaited"), HOSTS)
def test_a_host_gets_its_answer_and_what_is_unscored_is_never_a_silent_zero(
    host, call, sample, number, is_awaited
):
    if host not in REWARDS:
        pytest.importorskip(host)
    fixed, unscored = Fixed(RESULTS["number"]), Fixed(RESULTS["unscored"])
    function = as_function(fixed, host, name="mine")
    assert (number(function(**call)), function.__name__) == (0.25, "mine")
    assert fixed.samples == [sample]
    passed = number(as_function(fixed, host, value="passed")(**call))
    assert (passed, type(passed)) == (0.0, float)

    assert number(as_function(unscored, host, unscored=0.5)(**call)) == 0.5
    if host in REWARDS:
        with pytest.raises(UnscoredError, match=r"fixed is unscored \(torn\): cannot tell"):
            as_function(unscored, host)(**call)
    else:
        assert number(as_function(unscored, host)(**call)) is None

    function = as_function(judge(), host)
    assert inspect.iscoroutinefunction(function) is is_awaited
    answer = function(**call)
    assert number(asyncio.run(answer) if is_awaited else answer) == 1.0


def test_a_bad_call_raises(monkeypatch):
    run_example(functions)
    monkeypatch.setitem(sys.modules, "langfuse", None)
    equal, install = JsonEquality(), "langfuse is not installed; run: pip install langfuse$"
    for evaluator, host, error, message in (
        (equal, "verl", MissingFieldError, 'json_equality needs a reference, .* text "null"'),
        ("json_equality", "verl", InvalidOptionError, "'json_equality' is not an Evaluator; load_"),
        (equal, "ver1", InvalidOptionError, r"'ver1' is not a known host.*verl"),
        (equal, "langfuse", MissingDependencyError, install),
    ):
        with pytest.raises(error, match=message):
            as_function(evaluator, host)("d", "[1]", None)


EVALUATORS = [JsonEquality(), judge(), Fixed(RESULTS["unscored"])]
SCORES = {"json_equality": 1.0, "safety": 1.0, "fixed": None}


def make(host):
    return [as_function(each, host) for each in EVALUATORS]


def test_braintrust_langfuse_and_ragas_run_them():
    data = [{"input": "a", "expected": "[1.0]", "expected_output": "[1.0]"}]
    task = {"data": data, "task": lambda *_, **__: "[1]"}
    braintrust = pytest.importorskip("braintrust")
    done = braintrust.Eval("p", **task, scores=make("braintrust"), no_send_logs=True)
    assert [each.scores for each in done.results] == [SCORES]

    langfuse = pytest.importorskip("langfuse").Langfuse(tracing_enabled=False)
    done = langfuse.run_experiment(name="e", **task, evaluators=make("langfuse"))
    found = {each.name: each.value for each in done.item_results[0].evaluations}
    assert found == {"json_equality": 1.0, "safety": 1.0}

    metrics = pytest.importorskip("ragas.metrics")
    for function in make("ragas"):
        metric = metrics.numeric_metric(name="m")(function)
        score = metric.score(response="[1]", reference="[1.0]").value
        assert score == SCORES[function.__name__]
