"""Evaluators as the functions of other packages, called by these where they are installed."""

import asyncio
import inspect
import pickle
from operator import attrgetter, itemgetter

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example
from framework_runners import attempt
from pace import at_most

from llmeval_integrations import JsonEquality, Sample
from llmeval_integrations.core import errors
from llmeval_integrations.frameworks import functions
from llmeval_integrations.frameworks.functions import as_function


def make(host):
    return [as_function(each, host) for each in EVALUATORS]


ITEM = {"input": "?", "output": "so"}
SCORE = attrgetter("score")
VALUE = lambda answer: None if answer == [] else answer.value  # noqa: E731
RAISES = "UnscoredError: fixed is unscored (torn): cannot tell"

# A host, its package if it is needed, what it passes, the sample, how its answer holds the number,
# what is told of an unscored result, and whether judges are awaited.
HOSTS = [
    ("verl", "json", {"data_source": "d", "solution_str": "so", "ground_truth": "gold", "extra_info": {"contexts": ["c"], "n": 1}},
     Sample("so", "gold", contexts=["c"], variables={"contexts": ["c"], "n": 1}), itemgetter("score"), RAISES, False),
    ("openrlhf", "json", {"queries": ["<s><|user|>?so<|end|>\n"], "prompts": ["<|user|>?"], "labels": ["gold"]},
     Sample("so", "gold", "<|user|>?"), itemgetter("rewards"), RAISES, False),
    ("braintrust", "braintrust", {**ITEM, "expected": "gold", "metadata": {"schema": {}}},
     Sample("so", "gold", "?", schema={}, variables={"schema": {}}), SCORE, None, True),
    ("autoevals", "autoevals", {**ITEM, "expected": "gold", "tone": "dry"},
     Sample("so", "gold", "?", variables={"tone": "dry"}), SCORE, None, False),
    ("langfuse", "langfuse", {**ITEM, "expected_output": "gold"}, Sample("so", "gold", "?"), VALUE, None, True),
    ("ragas", "ragas", {"response": "so", "reference": "gold", "user_input": "?", "retrieved_contexts": ["c"]},
     Sample("so", "gold", "?", ["c"]), VALUE, None, True),
]  # fmt: skip
EVALUATORS = [JsonEquality(), judge(), Fixed(RESULTS["unscored"])]
SCORES = {"json_equality": 1.0, "safety": 1.0, "fixed": None}


@pytest.mark.parametrize(("host", "package", "call", "sample", "number", "told", "waits"), HOSTS)
def test_a_host_gets_its_answer_and_what_is_unscored_is_never_a_silent_zero(
    host, package, call, sample, number, told, waits
):
    def ask(evaluator, **options):
        return number(as_function(evaluator, host, **options)(**call))

    pytest.importorskip(package)
    fixed, unscored = Fixed(RESULTS["number"]), Fixed(RESULTS["unscored"])
    assert (ask(fixed), ask(unscored, unscored=0.5)) == (0.25, 0.5)
    assert fixed.samples == [sample]
    assert repr(ask(fixed, value="passed")) == "0.0"
    assert attempt(ask, unscored) == told
    function = as_function(judge(), host, name="mine")
    assert (function.__name__, inspect.iscoroutinefunction(function)) == ("mine", waits)
    answer = function(**call)
    assert number(asyncio.run(answer) if waits else answer) == 1.0


def test_verl_can_add_up_all_values_but_texts_and_send_the_function_to_processes():
    results = (Fixed(RESULTS[name]) for name in ("number", "yes", "unscored"))
    found = [as_function(one, "verl", unscored=0.0)("d", "a", "b") for one in results]
    assert {type(one["reason"]) for one in found} == {str}
    assert sum(one["score"] for one in found) == 1.25
    assert str([one["passed"] + 0 for one in found]) == "[0, 1, nan]"
    function = as_function(JsonEquality(), "verl", name="mine")
    function = pickle.loads(pickle.dumps(function))  # noqa: S301
    assert (function.__name__, function("d", "[1]", "[1.0]")["score"]) == ("mine", 1.0)


def test_openrlhf_keeps_special_tokens_in_a_text_and_their_number_does_not_matter():
    fixed, row = Fixed(RESULTS["yes"]), "</s>" * 30_000
    with at_most(1):
        as_function(fixed, "openrlhf")([f"?{row}so</s><|end|> "], ["?"], [None])
    assert fixed.samples == [Sample(f"{row}so", input="?")]


def test_a_bad_call_raises():
    run_example(functions)
    for evaluator, host, error, message in (
        (JsonEquality(), "verl", "MissingField", 'json_equality needs a reference, .* text "null"'),
        ("json_equality", "verl", "InvalidOption", "'json_equality' is not an Evaluator; load_"),
        (JsonEquality(), "ver1", "InvalidOption", r"'ver1' is not a known host.*verl"),
    ):
        with pytest.raises(getattr(errors, f"{error}Error"), match=message):
            as_function(evaluator, host)("d", "[1]", None)
    with pytest.raises(errors.InputError, match="'1 2' does not contain its prompt '3'"):
        as_function(JsonEquality(), "openrlhf")(["1 2"], ["3"], ["2"])


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
