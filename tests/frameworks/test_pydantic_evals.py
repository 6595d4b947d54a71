"""pydantic_evals: `Dataset.evaluate_sync` and `Dataset.evaluate`."""

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example

from llmeval_integrations import JsonEquality, Result, Sample

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
    [case] = report(Fixed(RESULTS["no"], "no"), Fixed(answer, "sort"), Fixed(numpy, "np"), judge()).cases  # fmt: skip
    said = {name: each.value for name, each in {**case.scores, **case.assertions, **case.labels}.items()}  # fmt: skip
    assert said == {
        "no": 0.0,
        "no_passed": False,
        "np": 0.5,
        "np_passed": True,
        "safety": 1.0,
        "safety_passed": True,
        "safety_label": "Pass",
        "sort": "refund",
    }
    assert case.scores["no"].reason == "because"


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


def test_the_example_of_the_docstring():
    run_example(ours)
