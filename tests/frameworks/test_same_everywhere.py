"""The same results through every framework, the sample that each knows, and what errors become."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import ANY

import pytest
from framework_cases import RESULTS, Awaited, Fixed
from framework_runners import WAYS, adapter
from msgspec.structs import replace

from llmeval_integrations import InputError, Sample, load_evaluator
from llmeval_integrations.core.sample import MISSING

pytestmark = pytest.mark.usefixtures("nothing_leaves")

ALL = ("score", "passed", "label", "reason")
CARRIED = {
    "langchain": ("score", "reason"),  # its dict has neither a verdict nor a label
    "dspy": ("score", "passed"),  # a metric gives a number, and a verdict if it is traced
    "trl": ("score",),
}
"""What the results of a framework hold, if that is not all of score, verdict, label, reason."""

LANGCHAINS_OWN = ("json_validity", "json_schema", "exact_match")
"""Evaluators that LangChain has, too: the reason is in LangChain's words, or left out."""

every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


def carry(way, evaluator, result):
    """Give the four as a framework has to tell them, ANY for what it does not carry."""
    names = CARRIED.get(way.__name__, ALL)
    found = {name: getattr(result, name) if name in names else ANY for name in ALL}
    if way.__name__ == "langchain":
        # What is not JSON has the message of Python's parser, and what passed no reason.
        reason = None if result.passed else result.metadata.get("message", result.reason)
        found["reason"] = ANY if evaluator.name in LANGCHAINS_OWN else reason
    return tuple(found.values())


class ByOutput(Fixed):
    """Gives the result that the output names; any other output is a bad call."""

    def check(self, sample):
        self.result = RESULTS.get(sample.output)
        if self.result is None:
            raise InputError(f"no result is named {sample.output!r}")
        return super().check(sample)


@pytest.fixture(scope="module")
def samples():
    folder = Path(__file__).parents[3] / "shared" / "data" / "sob"
    lines = (path.read_text(encoding="utf-8").splitlines()[:50] for path in folder.glob("*.jsonl"))
    rows = [json.loads(line) for each in lines for line in each]
    if not rows:
        pytest.skip("the shared data are not here")  # none of it is in the repository
    assert len(rows) == 300
    for row in rows:
        if isinstance(row["reference"], dict):
            row["reference"] = json.dumps(row["reference"])
    return [
        Sample(row["output"], row["reference"], schema=row["schema"], id=str(number))
        for number, row in enumerate(rows)
    ]


FULL = Sample("yes", "gold", "?", ["c"], {"type": "array"}, {"tone": "dry"}, "0")
ABOUT = {"contexts": ["c"], "schema": {"type": "array"}, "tone": "dry"}
BY_KEYS = replace(FULL, variables={"q": "?", "tone": "dry"}, id=MISSING)
KNOWN = {
    **dict.fromkeys(("langsmith", "mlflow", "dspy"), BY_KEYS),
    "pydantic_evals": replace(FULL, variables=ABOUT),
    "deepeval": replace(FULL, variables={"schema": {"type": "array"}, "tone": "dry"}),
    "inspect_ai": replace(FULL, variables={**ABOUT, "gold": "gold"}, id=0),
    "trl": replace(FULL, variables={"reference": "gold", **ABOUT}, id=MISSING),
}
"""The sample of a framework that cannot tell all fields, or calls some of them variables."""
RUN = SimpleNamespace(inputs=None, outputs="1", error=None)
CASE = {"input": "?", "actual_output": "1"}
AWAITED = {
    "langchain": lambda ours, one: ours.LangChainEvaluator(one).aevaluate_strings(prediction="1"),
    "llama_index": lambda ours, one: ours.LlamaIndexEvaluator(one).aevaluate(response="1"),
    "langsmith": lambda ours, one: ours.LangSmithEvaluator(one).aevaluate_run(RUN),
    "phoenix": lambda ours, one: ours.PhoenixEvaluator(one).async_evaluate({"output": "1"}),
    "deepeval": lambda ours, one: ours.DeepEvalMetric(one).a_measure(ours.LLMTestCase(**CASE)),
}


@every_way
def test_results_samples_and_errors_come_through(way):
    evaluator, kinds = ByOutput(None), ["yes", "no", "number", "whole"]
    lacking = [Sample(kind, input="?", id=kind) for kind in (*kinds[1:], "unscored", "bad")]
    *scored, unscored, bad = way(evaluator, [FULL, *lacking])
    for found, kind in zip(scored, kinds, strict=True):
        assert found == carry(way, evaluator, RESULTS[kind])
    for outcome, text in ((unscored, "cannot tell"), (bad, "no result is named 'bad'")):
        assert way.__name__ == "trl" or text in str(outcome)
        assert isinstance(outcome, str) or outcome[0] is None
    full, *others = [one for one in evaluator.samples if one.output in ("yes", "no")]
    assert full == KNOWN.get(way.__name__, FULL)
    assert {getattr(others[-1], name) for name in ("reference", "contexts", "schema")} == {MISSING}


@pytest.mark.parametrize("name", AWAITED)
def test_what_waits_is_awaited_so_that_others_go_on(name):
    async def await_two(evaluator):
        return await asyncio.gather(*[AWAITED[name](adapter(name), evaluator) for _ in range(2)])

    assert all(asyncio.run(await_two(Awaited())))


@pytest.mark.nightly  # 1,500 results for each of a dozen ways
@every_way
@pytest.mark.parametrize("name", ["json_fields", "json_match", *LANGCHAINS_OWN])
def test_results_are_the_same(way, name, samples):
    evaluator = load_evaluator(name)
    for found, sample in zip(way(evaluator, samples), samples, strict=True):
        assert found == carry(way, evaluator, evaluator.evaluate(sample))
