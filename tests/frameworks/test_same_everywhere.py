"""The same results through every framework, the sample that each knows, and what errors become."""

import asyncio
import json
from importlib import import_module
from pathlib import Path

import pytest
from framework_cases import RESULTS, Awaited
from framework_runners import WAYS, adapter
from msgspec.structs import replace

from llmeval_integrations import (
    Evaluator,
    ExactMatch,
    InputError,
    JsonFields,
    JsonMatch,
    JsonSchema,
    JsonValidity,
    Sample,
)
from llmeval_integrations.core.sample import MISSING

pytestmark = pytest.mark.usefixtures("nothing_leaves")

ALL = ("score", "passed", "label", "reason")
CARRIED = {
    "langchain": ("score", "reason"),  # its dict has neither a verdict nor a label
    "dspy": ("score", "passed"),  # a metric gives a number, and a verdict if it is traced
    "trl": ("score",),
}
"""What the results of a framework hold, if that is not all of score, verdict, label, reason."""


every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


class ByOutput(Evaluator):
    """Gives the result that the output names; any other output is a bad call."""

    name = "fixed"

    def __init__(self):
        self.samples = []

    def check(self, sample):
        self.samples.append(sample)
        if sample.output not in RESULTS:
            raise InputError(f"no result is named {sample.output!r}")
        return RESULTS[sample.output]


FULL = Sample("yes", "gold", "?", ["c"], {"type": "array"}, {"tone": "dry"}, "0")
ABOUT = {"contexts": ["c"], "schema": {"type": "array"}, "tone": "dry"}
BY_KEYS = replace(FULL, variables={"q": "?", "tone": "dry"}, id=MISSING)
KNOWN = {
    "langsmith": BY_KEYS,
    "mlflow": BY_KEYS,
    "dspy": BY_KEYS,
    "pydantic_evals": replace(FULL, variables=ABOUT),
    "deepeval": replace(FULL, variables={"schema": {"type": "array"}, "tone": "dry"}),
    "inspect_ai": replace(FULL, variables={**ABOUT, "gold": "gold"}, id=0),
    "trl": replace(FULL, variables={"reference": "gold", **ABOUT}, id=MISSING),
}
"""The sample of a framework that cannot tell all fields, or calls some of them variables."""


def told(way, evaluator, samples, names):
    """Give those of the four that a framework tells."""
    return [
        found if isinstance(found, str) else {n: v for n, v in zip(ALL, found) if n in names}
        for found in way(evaluator, samples)
    ]


@every_way
def test_results_samples_and_errors_come_through(way):
    evaluator, names = ByOutput(), CARRIED.get(way.__name__, ALL)
    kinds = ["no", "number", "whole", "unscored", "bad"]
    lacking = [replace(Sample(kind), input="?", id=kind) for kind in kinds]
    *scored, unscored, bad = told(way, evaluator, [FULL, *lacking], names)
    expected = [
        {name: getattr(RESULTS[kind], name) for name in names} for kind in ["yes", *kinds[:3]]
    ]
    for each in expected:
        if way.__name__ == "langchain" and each["score"] in (1, 3):  # what passed has no reason
            each["reason"] = None
    assert scored == expected
    for outcome, text in ((unscored, "cannot tell"), (bad, "no result is named 'bad'")):
        assert way.__name__ == "trl" or text in str(outcome)
        assert isinstance(outcome, str) or outcome["score"] is None
    full, *others = [one for one in evaluator.samples if one.output in ("yes", "no")]
    assert full == KNOWN.get(way.__name__, FULL)
    assert {getattr(others[-1], name) for name in ("reference", "contexts", "schema")} == {MISSING}


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
    ours = adapter(name)

    async def two_at_once():
        evaluator = Awaited()
        return await asyncio.gather(*[AWAITED[name](ours, evaluator) for _ in range(2)])

    assert len(asyncio.run(two_at_once())) == 2


@pytest.fixture(scope="module")
def samples():
    folder = Path(__file__).parents[3] / "shared" / "data" / "sob"
    rows = [
        json.loads(line)
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()[:50]
    ]
    if not rows:
        pytest.skip("the shared data are not here")  # none of it is in the repository
    assert len(rows) == 300
    return [
        Sample(
            row["output"],
            json.dumps(row["reference"])
            if isinstance(row["reference"], dict)
            else row["reference"],
            schema=row["schema"],
            id=str(number),
        )
        for number, row in enumerate(rows)
    ]


LANGCHAINS_OWN = ("json_validity", "json_schema", "exact_match")
"""Evaluators that LangChain has, too: the reason is in LangChain's words, or left out."""


@pytest.mark.nightly  # 1,500 results for each of a dozen ways
@every_way
@pytest.mark.parametrize(
    "evaluator",
    [JsonValidity(), JsonFields(), JsonSchema(), JsonMatch(), ExactMatch()],
    ids=lambda evaluator: evaluator.name,
)
def test_results_are_the_same(way, evaluator, samples):
    names = CARRIED.get(way.__name__, ALL)
    if way.__name__ == "langchain" and evaluator.name in LANGCHAINS_OWN:
        names = ("score",)
    results = list(map(evaluator.evaluate, samples))
    expected = [{name: getattr(result, name) for name in names} for result in results]
    if way.__name__ == "langchain" and "reason" in names:
        for each, result in zip(expected, results, strict=True):
            # What is not JSON has the message of Python's parser, and what passed no reason.
            reason = result.metadata.get("message", result.reason)
            each["reason"] = None if result.passed else reason
    assert told(way, evaluator, samples, names) == expected
