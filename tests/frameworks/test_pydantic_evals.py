"""pydantic_evals: `Dataset.evaluate_sync` and `Dataset.evaluate`."""

import asyncio

import pytest
from framework_cases import RESULTS, Awaited, Fixed, judge, run_example, sent  # noqa: F401

from llmeval_integrations import InvalidOptionError, JsonEquality, JsonValidity, Result, Sample

pytest.importorskip("pydantic_evals")

from pydantic_evals import Case, Dataset

from llmeval_integrations.frameworks import pydantic_evals as ours
from llmeval_integrations.frameworks.pydantic_evals import PydanticEvaluator


@pytest.fixture(autouse=True)
def nothing_leaves(sent):  # noqa: F811
    yield
    assert sent == []


def dataset(*evaluators, cases=None):
    cases = cases or [Case(name="one", inputs="A list?", expected_output="[1.0]")]
    return Dataset(name="lists", cases=cases, evaluators=list(map(PydanticEvaluator, evaluators)))


def report(*evaluators, cases=None):
    return dataset(*evaluators, cases=cases).evaluate_sync(lambda _: "[1]", progress=False)


@pytest.mark.parametrize("verdict", [True, False])
def test_a_score_that_is_true_or_false_is_a_number_too(verdict):
    [case] = report(Fixed(RESULTS["yes" if verdict else "no"])).cases
    said = case.scores["fixed"]
    assert (said.value, type(said.value)) == (float(verdict), float)
    assert said.reason == (None if verdict else "because")
    assert case.assertions["fixed_passed"].value is verdict
    assert case.labels == {}


def test_a_number_is_a_score_beside_the_assertion_and_the_label():
    [case] = report(Fixed(RESULTS["number"])).cases
    assert (case.scores["fixed"].value, case.scores["fixed"].reason) == (0.25, "because")
    assert case.assertions["fixed_passed"].value is False
    assert case.labels["fixed_label"].value == "far_off"


def test_unscored_and_bad_calls_are_failures_and_in_no_mean():
    cases = [Case(inputs="?"), Case(inputs="?", expected_output="[1"), Case(inputs="?", expected_output="[1]")]  # fmt: skip
    unscored = Fixed(RESULTS["unscored"])
    found = report(unscored, JsonEquality(), cases=cases)
    failures = [[failure.error_message for failure in case.evaluator_failures] for case in found.cases]  # fmt: skip
    torn = "UnscoredError: fixed is unscored (torn): cannot tell"
    assert [messages[0] for messages in failures] == [torn] * 3
    assert failures[0][1].startswith("MissingFieldError: json_equality needs a reference")
    assert failures[1][1].startswith("InvalidReferenceError: json_equality: the reference '[1'")
    assert found.averages().scores == {"json_equality": 1.0}
    assert found.averages().assertions == 1.0


def test_the_case_gives_the_fields():
    asked = Fixed(RESULTS["yes"])
    metadata = {"contexts": ["one"], "tone": "dry", "schema": {"type": "array"}}
    report(asked, cases=[Case(name="a", inputs={"q": 1}, expected_output=[1], metadata=metadata)])
    schema = {"type": "array"}
    assert asked.samples == [Sample("[1]", [1], {"q": 1}, ["one"], schema, metadata, "a")]


def test_metadata_that_are_no_mapping_are_left_alone():
    asked = Fixed(RESULTS["yes"])
    report(asked, cases=[Case(name="a", inputs="?", metadata=["x"])])
    assert asked.samples == [Sample("[1]", input="?", id="a")]


def test_a_task_that_gives_nothing_gave_the_empty_text():
    [case] = dataset(JsonValidity()).evaluate_sync(lambda _: None, progress=False).cases
    assert case.labels["json_validity_label"].value == "empty"


def test_a_judge_answers():
    [case] = report(judge()).cases
    assert (case.scores["safety"].value, case.scores["safety"].reason) == (1.0, "because")
    [case] = report(judge("mumble")).cases
    assert case.evaluator_failures[0].error_message.startswith("UnscoredError: safety is unscored (unreadable): ")  # fmt: skip


def test_it_is_awaited():
    async def task(_):
        return "[1]"

    cases = [Case(inputs=n) for n in range(2)]
    found = asyncio.run(dataset(Awaited(), cases=cases).evaluate(task, progress=False))
    assert [case.scores["awaited"].value for case in found.cases] == [1.0, 1.0]


def test_a_report_says_what_was_evaluated_with():
    [case] = report(JsonValidity()).cases
    assert case.scores["json_validity"].source.arguments == ("JsonValidity(parsing='markdown')",)
    assert "JsonValidity(parsing='markdown')" in repr(PydanticEvaluator(JsonValidity()))


def test_what_is_no_evaluator_raises():
    with pytest.raises(InvalidOptionError, match="PydanticEvaluator: 'json_validity' is no"):
        PydanticEvaluator("json_validity")


def test_an_answer_without_a_score_is_a_label():
    answer = Result(None, None, "refund", "because", answered=True)
    [case] = report(Fixed(answer)).cases
    assert (case.labels["fixed"].value, case.labels["fixed"].reason) == ("refund", "because")
    assert case.scores == case.assertions == {}
    assert case.evaluator_failures == []


def test_what_numpy_says_is_a_score_and_an_assertion():
    np = pytest.importorskip("numpy")
    [case] = report(
        Fixed(Result(np.float32(0.5), np.False_), "a"), Fixed(Result(np.True_), "b")
    ).cases
    assert {name: each.value for name, each in case.scores.items()} == {"a": 0.5, "b": 1.0}
    assert {name: each.value for name, each in case.assertions.items()} == {"a_passed": False}


def test_what_is_missing_is_said_with_how_it_is_given():
    [case] = report(JsonEquality(), cases=[Case(inputs="?")]).cases
    assert "needs a reference, and there is none; " in case.evaluator_failures[0].error_message
    assert "the case's expected_output" in case.evaluator_failures[0].error_message


def test_the_example_of_the_docstring():
    run_example(ours)
