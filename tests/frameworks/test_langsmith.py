"""LangSmith: its `evaluate` and `aevaluate` with nothing uploaded, and the shape of openevals."""

import asyncio
import uuid

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example

from llmeval_integrations import JsonEquality, Sample

pytest.importorskip("langsmith")

from langsmith import Client, aevaluate, evaluate
from langsmith.schemas import Example

from llmeval_integrations.frameworks import langsmith as ours
from llmeval_integrations.frameworks.langsmith import LangSmithEvaluator

pytestmark = pytest.mark.usefixtures("nothing_leaves")


def examples(*pairs):
    ids = {"dataset_id": uuid.uuid4()}
    return [Example(id=uuid.uuid4(), **ids, inputs=one, outputs=other) for one, other in pairs]


def client():
    return Client(tracing_sampling_rate=0, info={"version": "0"}, api_key="-", auto_batch_tracing=False)  # fmt: skip


def run(evaluators, data):
    target = lambda inputs: {"output": inputs["text"]}  # noqa: E731
    options = {"data": data, "evaluators": evaluators, "client": client(), "upload_results": False}
    return [row["evaluation_results"]["results"] for row in evaluate(target, **options)]


def arun(evaluators, data):
    async def target(inputs):
        return {"output": inputs["text"]}

    async def collect():
        options = {"data": data, "evaluators": evaluators, "client": client()}
        rows = await aevaluate(target, **options, upload_results=False, max_concurrency=2)
        return [row["evaluation_results"]["results"] async for row in rows]

    return asyncio.run(collect())


ONE = examples(({"text": "{}"}, {"answer": "{}"}))


@pytest.mark.parametrize("runner", [run, arun])
def test_results_are_feedback_and_a_bad_call_has_no_score(runner):
    [[unscored]] = runner([LangSmithEvaluator(Fixed(RESULTS["unscored"]))], ONE)
    assert (unscored.score, unscored.value, unscored.comment) == (None, "torn", "cannot tell")
    assert unscored.metadata["passed"] is None
    data = examples(({"text": "[1]"}, {"answer": "[1"}), ({"text": "[1]"}, None))
    rows = runner([LangSmithEvaluator(JsonEquality())], data)
    [broken], [absent] = sorted(rows, key=lambda row: row[0].comment)  # `aevaluate` has no order
    assert broken.score is absent.score is None
    assert broken.comment.startswith("InvalidReferenceError(\"json_equality: the reference '[1' is")
    assert absent.comment.startswith("MissingFieldError('json_equality needs a reference")
    [[said]] = runner([LangSmithEvaluator(judge())], ONE)
    assert (said.key, said.score, said.comment) == ("safety", 1.0, "because")


def test_what_the_run_and_the_example_say_are_the_fields():
    asked = Fixed(RESULTS["yes"])
    data = examples(({"text": "[1]", "tone": "dry"}, {"answer": "[2]", "why": "so"}))
    for schema in (None, "why", "tone"):
        run([LangSmithEvaluator(asked, reference="answer", input="text", schema=schema)], data)
    LangSmithEvaluator(asked)("?", "so", context="one", tone="dry")
    variables = {"text": "[1]", "tone": "dry"}
    assert asked.samples == [
        Sample("[1]", "[2]", "[1]", variables=variables),
        Sample("[1]", "[2]", "[1]", variables=variables, schema="so"),
        Sample("[1]", "[2]", "[1]", variables=variables, schema="dry"),
        Sample("so", input="?", contexts=["one"], variables={"tone": "dry"}),
    ]


def test_it_is_a_function_of_openevals():
    equal = LangSmithEvaluator(JsonEquality(), name="equal")
    said = {"key": "equal", "score": True, "value": None, "comment": None, "metadata": {"passed": True}}  # fmt: skip
    assert equal(inputs="?", outputs="[1]", reference_outputs="[1]") == said
    assert asyncio.run(equal.acall(outputs={"answer": "[1]"}, reference_outputs="[1.0]")) == said
    assert equal.feedback_keys == ["equal"]


def test_the_example_of_the_docstring():
    target = lambda inputs: {"answer": inputs["text"], "cost": 3}  # noqa: E731
    names = run_example(ours, my_chain=target, examples=ONE, client=client())
    [row] = names["experiment"]
    assert row["evaluation_results"]["results"][0].score == 1.0
