"""LangSmith: its `evaluate` and `aevaluate` with nothing uploaded, and the shape of openevals."""

import asyncio
import uuid

import pytest
from framework_cases import RESULTS, Awaited, Fixed, judge, run_example, sent  # noqa: F401

from llmeval_integrations import (
    InvalidOptionError,
    JsonEquality,
    JsonSchema,
    JsonValidity,
    MissingFieldError,
    Result,
    Sample,
)

pytest.importorskip("langsmith")

from langsmith import Client, aevaluate, evaluate
from langsmith.schemas import Example

from llmeval_integrations.frameworks import langsmith as ours
from llmeval_integrations.frameworks.langsmith import LangSmithEvaluator


@pytest.fixture(autouse=True)
def nothing_leaves(sent):  # noqa: F811
    yield
    assert sent == []


def examples(*pairs):
    return [
        Example(id=uuid.uuid4(), dataset_id=uuid.uuid4(), inputs=inputs, outputs=outputs)
        for inputs, outputs in pairs
    ]


def offline():
    return Client(tracing_sampling_rate=0, info={"version": "0"}, api_key="-", auto_batch_tracing=False)  # fmt: skip


def experiment(evaluators, data, target=lambda inputs: {"output": inputs["text"]}):
    rows = evaluate(
        target, data=data, evaluators=evaluators, upload_results=False, client=offline()
    )
    return [row["evaluation_results"]["results"] for row in rows]


def aexperiment(evaluators, data, **options):
    async def target(inputs):
        return {"output": inputs["text"]}

    async def run():
        rows = await aevaluate(
            target,
            data=data,
            evaluators=evaluators,
            upload_results=False,
            client=offline(),
            **options,
        )
        return [row["evaluation_results"]["results"] async for row in rows]

    return asyncio.run(run())


ONE = examples(({"text": "{}"}, {"answer": "{}"}))


@pytest.mark.parametrize("run", [experiment, aexperiment])
@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_feedback(run, kind):
    result = RESULTS[kind]
    [[feedback]] = run([LangSmithEvaluator(Fixed(result))], ONE)
    assert feedback.key == "fixed"
    assert (feedback.score, type(feedback.score)) == (result.score, type(result.score))
    assert (feedback.value, feedback.comment) == (result.label, result.reason)
    assert feedback.metadata == {**result.metadata, "passed": result.passed}


@pytest.mark.parametrize("run", [experiment, aexperiment])
def test_a_bad_call_is_feedback_without_a_score(run):
    data = examples(({"text": "[1]"}, {"answer": "[1"}), ({"text": "[1]"}, None))
    [broken], [absent] = run([LangSmithEvaluator(JsonEquality())], data)
    assert broken.score is absent.score is None
    assert broken.comment.startswith("InvalidReferenceError(\"json_equality: the reference '[1' is")
    assert absent.comment.startswith("MissingFieldError('json_equality needs a reference")
    assert {broken.key, absent.key} == {"json_equality"}
    assert broken.extra == absent.extra == {"error": True}


def test_what_the_run_and_the_example_say_are_the_fields():
    asked = Fixed(RESULTS["yes"])
    data = examples(({"text": "[1]", "tone": "dry"}, {"answer": "[2]", "why": "so"}))
    for schema in (None, "why", "tone"):
        made = LangSmithEvaluator(asked, reference="answer", input="text", schema=schema)
        experiment([made], data)
    variables = {"text": "[1]", "tone": "dry"}
    assert asked.samples == [
        Sample("[1]", "[2]", "[1]", variables=variables),
        Sample("[1]", "[2]", "[1]", variables=variables, schema="so"),
        Sample("[1]", "[2]", "[1]", variables=variables, schema="dry"),
    ]


def test_a_judge_answers_in_both_and_unscored_is_none():
    for run in (experiment, aexperiment):
        [[said]] = run([LangSmithEvaluator(judge())], ONE)
        assert (said.key, said.score, said.comment) == ("safety", 1.0, "because")
        [[torn]] = run([LangSmithEvaluator(judge("mumble"))], ONE)
        assert (torn.score, torn.value, torn.metadata["passed"]) == (None, "unreadable", None)
        assert torn.comment


def test_two_of_one_kind_have_names_of_their_own():
    named = LangSmithEvaluator(JsonValidity(), name="valid")
    assert named({}, {"answer": "{}"})["key"] == "valid"
    assert named.feedback_keys == ["valid"]


def test_aevaluate_awaits():
    rows = aexperiment([LangSmithEvaluator(Awaited())], ONE * 2, max_concurrency=2)
    assert [feedback.score for [feedback] in rows] == [True, True]


def test_it_is_a_function_of_openevals():
    equal = LangSmithEvaluator(JsonEquality())
    said = {"key": "json_equality", "score": True, "value": None, "comment": None, "metadata": {"passed": True}}  # fmt: skip
    assert equal(inputs="?", outputs="[1]", reference_outputs="[1]") == said
    assert asyncio.run(equal.acall(outputs={"answer": "[1]"}, reference_outputs="[1.0]")) == said


def test_context_and_further_arguments_reach_a_prompt():
    asked = Fixed(RESULTS["yes"])
    LangSmithEvaluator(asked)("?", "so", context="one", tone="dry")
    assert asked.samples == [Sample("so", input="?", contexts=["one"], variables={"tone": "dry"})]


def test_it_says_what_openevals_says():
    exact = pytest.importorskip("openevals.exact").exact_match
    for outputs in ("[1]", "[2]"):
        theirs = exact(outputs=outputs, reference_outputs="[1]")
        said = LangSmithEvaluator(JsonEquality())(outputs=outputs, reference_outputs="[1]")
        assert said["score"] == theirs["score"]
        assert theirs.keys() <= said.keys()


def test_a_wrong_option_raises():
    with pytest.raises(InvalidOptionError, match="not an Evaluator"):
        LangSmithEvaluator("json_validity")
    with pytest.raises(InvalidOptionError, match="output=1 is not a text"):
        LangSmithEvaluator(JsonValidity(), output=1)


def test_the_whole_of_the_outputs_is_evaluated_where_they_are_the_answer():
    schema = JsonSchema({"type": "object", "required": ["total"]})
    assert LangSmithEvaluator(schema, output="")(outputs={"total": 3})["score"]
    assert not LangSmithEvaluator(schema)(outputs={"total": 3})["score"]


def test_the_example_of_the_docstring():
    names = run_example(
        ours,
        my_chain=lambda inputs: {"answer": inputs["text"], "cost": 3},
        examples=ONE,
        client=offline(),
    )
    [row] = names["experiment"]
    assert row["evaluation_results"]["results"][0].score == 1.0


def test_what_is_missing_is_said_with_how_it_is_given():
    with pytest.raises(MissingFieldError, match=r"needs a reference, and .* example's outputs"):
        LangSmithEvaluator(JsonEquality())(outputs="1")


def test_an_answer_without_a_score_is_feedback():
    answer = Result(None, None, "refund", "because", answered=True)
    [[feedback]] = experiment([LangSmithEvaluator(Fixed(answer))], ONE)
    assert (feedback.score, feedback.value, feedback.comment) == (None, "refund", "because")
