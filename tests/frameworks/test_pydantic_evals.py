"""pydantic_evals: `Dataset.evaluate_sync` and `Dataset.evaluate`."""

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example

from llmeval_integrations import JsonEquality, JsonValidity, Result, Sample

pytest.importorskip("pydantic_evals")

from pydantic_evals import Case, Dataset

from llmeval_integrations.frameworks import pydantic_evals as ours
from llmeval_integrations.frameworks.pydantic_evals import PydanticEvaluator

pytestmark = pytest.mark.usefixtures("nothing_leaves")


def dataset(*evaluators, cases=None):
    cases = cases or [Case(name="one", inputs="A list?", expected_output="[1.0]")]
    return Dataset(name="lists", cases=cases, evaluators=list(map(PydanticEvaluator, evaluators)))


def report(*evaluators, cases=None):
    return dataset(*evaluators, cases=cases).evaluate_sync(lambda _: "[1]", progress=False)


def test_a_result_is_a_score_an_assertion_and_a_label():
    answer = Result(None, None, "refund", "because", answered=True)
    numpy = Result(pytest.importorskip("numpy").float32(0.5), True)
    fixed = [Fixed(RESULTS["no"], "no"), Fixed(RESULTS["number"], "number")]
    [case] = report(*fixed, Fixed(answer, "sort"), Fixed(numpy, "np"), judge()).cases
    scores = {name: (each.value, each.reason) for name, each in case.scores.items()}
    assert scores == {
        "no": (0.0, "because"),
        "number": (0.25, "because"),
        "np": (0.5, None),
        "safety": (1.0, "because"),
    }
    passed = {name: each.value for name, each in case.assertions.items()}
    assert passed == {"no_passed": False, "number_passed": False, "np_passed": True, "safety_passed": True}  # fmt: skip
    labels = {name: each.value for name, each in case.labels.items()}
    assert labels == {"number_label": "far_off", "sort": "refund", "safety_label": "Pass"}


def test_unscored_and_bad_calls_are_failures_and_in_no_mean():
    references = [None, "[1", "[1]"]
    cases = [Case(inputs="?", expected_output=reference) for reference in references]
    found = report(Fixed(RESULTS["unscored"]), JsonEquality(), cases=cases)
    failures = [[one.error_message for one in case.evaluator_failures] for case in found.cases]
    torn = "UnscoredError: fixed is unscored (torn): cannot tell"
    assert [messages[0] for messages in failures] == [torn] * 3
    assert failures[0][1].startswith("MissingFieldError: json_equality needs a reference")
    assert failures[1][1].startswith("InvalidReferenceError: json_equality: the reference '[1'")
    assert found.averages().scores == {"json_equality": 1.0}


def test_the_case_gives_the_fields():
    asked, schema = Fixed(RESULTS["yes"]), {"type": "array"}
    metadata = {"contexts": ["one"], "tone": "dry", "schema": schema}
    report(asked, cases=[Case(name="a", inputs={"q": 1}, expected_output=[1], metadata=metadata)])
    report(asked, cases=[Case(name="a", inputs="?", metadata=["x"])])
    assert asked.samples == [
        Sample("[1]", [1], {"q": 1}, ["one"], schema, metadata, "a"),
        Sample("[1]", input="?", id="a"),
    ]


def test_a_task_that_gives_nothing_gave_the_empty_text():
    [case] = dataset(JsonValidity()).evaluate_sync(lambda _: None, progress=False).cases
    assert case.labels["json_validity_label"].value == "empty"
    assert case.scores["json_validity"].source.arguments == ("JsonValidity(parsing='markdown')",)


def test_the_example_of_the_docstring():
    run_example(ours)
