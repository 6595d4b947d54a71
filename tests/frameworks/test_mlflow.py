"""MLflow: `mlflow.genai.evaluate` with a store on disk."""

import json

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example, silent_program

from llmeval_integrations import JsonEquality, Sample

pytest.importorskip("mlflow.genai")

import mlflow

from llmeval_integrations.evaluators.text_evaluator import to_storable_text
from llmeval_integrations.frameworks import mlflow as ours
from llmeval_integrations.frameworks.mlflow import MlflowScorer

pytestmark = pytest.mark.usefixtures("nothing_leaves")


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path_factory.mktemp('mlflow')}/mlflow.db")


def row(outputs="[1]", expectations=None, inputs=None):
    given = {} if expectations is None else {"expectations": expectations}
    return {"inputs": inputs or {"question": "A list?"}, "outputs": outputs, **given}


def run(scorers, *rows):
    return mlflow.genai.evaluate(data=list(rows) or [row()], scorers=scorers)


def feedback(evaluation):
    """Give what stands in the store, by name."""
    [assessments] = evaluation.result_df["assessments"]
    return {each["assessment_name"]: each for each in assessments}


def test_results_are_feedback_and_what_is_unscored_is_an_error():
    scorers = [MlflowScorer(Fixed(RESULTS[name], name)) for name in ("odd", "number", "unscored")]
    found = run([*scorers, MlflowScorer(judge())])
    said = feedback(found)
    assert said["odd"]["rationale"] == to_storable_text(RESULTS["odd"].reason)
    metadata = said["number"]["metadata"]
    assert (metadata["label"], metadata["passed"]) == ("far_off", "false")
    assert json.loads(metadata["detail"]) == [1, "é"]
    assert said["unscored"]["feedback"]["error"] == {"error_code": "torn", "error_message": "cannot tell"}  # fmt: skip
    assert said["safety"]["source"]["source_type"] == "LLM_JUDGE"
    means = {name: value for name, value in found.metrics.items() if name.endswith("/mean")}
    assert means == {"odd/mean": 0.0, "number/mean": 0.25, "safety/mean": 1.0}


def test_bad_calls_are_errors_and_in_no_mean():
    rows = [row(), row(expectations={"answer": "[1"}), row(expectations={"answer": "[1]"})]
    found = run([MlflowScorer(JsonEquality())], *rows)
    assert found.metrics["json_equality/mean"] == 1.0
    messages = " ".join(found.result_df["json_equality/error_message"].dropna())
    assert "json_equality needs a reference" in messages
    assert "the reference '[1' is not JSON" in messages


def test_the_row_gives_the_fields():
    asked = Fixed(RESULTS["yes"])
    keys = {"output": "text", "reference": "gold", "input": "q", "contexts": "seen", "schema": "why"}  # fmt: skip
    given = row({"text": "so", "seen": ["one"]}, {"gold": "[1]", "why": "!"}, {"q": "?", "n": 1})
    run([MlflowScorer(asked, **keys)], given)
    assert asked.samples == [Sample("so", "[1]", "?", ["one"], "!", {"q": "?", "n": 1})]


def test_mlflow_sends_no_telemetry_though_it_was_imported_before(tmp_path):
    code = """
    import mlflow
    from llmeval_integrations import JsonValidity
    from llmeval_integrations.frameworks.mlflow import MlflowScorer
    assert mlflow.telemetry.get_telemetry_client() is None
    MlflowScorer(JsonValidity()).run(outputs="[1]")
    """
    assert silent_program(code, tmp_path) == []


def test_the_example_of_the_docstring():
    run_example(ours)
