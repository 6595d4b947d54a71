"""Phoenix: the dataframe runners of phoenix-evals."""

import asyncio

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example

from llmeval_integrations import JsonEditDistance, JsonEquality, Sample

pytest.importorskip("phoenix.evals")

import pandas as pd
from phoenix.evals import async_evaluate_dataframe, bind_evaluator, evaluate_dataframe
from phoenix.evals.utils import to_annotation_dataframe

from llmeval_integrations.frameworks import phoenix as ours
from llmeval_integrations.frameworks.phoenix import PhoenixEvaluator

OPTIONS = {"exit_on_error": False, "hide_tqdm_bar": True}


def run(frame, *evaluators):
    return evaluate_dataframe(dataframe=frame, evaluators=list(evaluators), **OPTIONS)


def arun(frame, *evaluators):
    work = async_evaluate_dataframe(dataframe=frame, evaluators=list(evaluators), **OPTIONS)
    return asyncio.run(work)


ONE = pd.DataFrame({"output": ["[1]"]})
BAD = {
    None: "json_equality needs a reference",
    float("nan"): "json_equality needs a reference",
    pd.NA: "json_equality needs a reference",
    "[1": "json_equality: the reference '[1' is not JSON (truncated)",
}


def test_unscored_stays_without_a_score_among_the_annotations():
    scored = run(ONE.rename_axis("span_id"), PhoenixEvaluator(Fixed(RESULTS["unscored"])))
    annotations = to_annotation_dataframe(dataframe=scored)
    assert annotations["score"].isna().all()
    assert list(annotations["explanation"]) == ["cannot tell"]
    [found] = PhoenixEvaluator(Fixed(RESULTS["number"])).evaluate({"output": "1"})
    assert (found.score, found.metadata["passed"]) == (0.25, False)


@pytest.mark.parametrize("runner", [run, arun])
def test_a_bad_call_is_named_once_and_has_no_score(runner):
    frame = pd.DataFrame({"output": "[1]", "reference": [*BAD, "[1]"]}, dtype=object)
    scored = runner(frame, PhoenixEvaluator(JsonEquality()))
    *bad, good = scored["json_equality_score"]
    assert pd.isna(bad).all()
    assert good["score"] == 1.0
    for details, message in zip(scored["json_equality_execution_details"], BAD.values()):
        [said] = details["exceptions"]
        assert said.startswith("PhoenixCallError(")
        assert message in said


def test_columns_are_the_fields_of_their_names_or_those_that_are_bound():
    asked = Fixed(RESULTS["yes"])
    row = {"output": ["x"], "gold": 1, "input": "?", "contexts": "one", "id": 0, "form": {}, "n": 3}
    named = {"reference": "gold", "schema": "form"}
    bind_evaluator(evaluator=PhoenixEvaluator(asked), input_mapping=named).evaluate(row)
    assert asked.samples == [Sample(["x"], 1, "?", ["one"], {}, id=0)]


def test_a_judge_is_awaited_and_less_may_be_better():
    scores = arun(ONE, PhoenixEvaluator(judge()))
    assert {score["kind"] for score in scores["safety_score"]} == {"llm"}
    assert PhoenixEvaluator(JsonEditDistance()).direction == "minimize"


def test_the_example_of_the_docstring():
    run_example(ours)
