"""MLflow: `mlflow.genai.evaluate` with a store on disk."""

import json

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example, sent, silent_program  # noqa: F401

from llmeval_integrations import InvalidOptionError, JsonEquality, JsonValidity, Sample

pytest.importorskip("mlflow.genai")

import mlflow

from llmeval_integrations.evaluators.text import to_storable_text
from llmeval_integrations.frameworks import mlflow as ours
from llmeval_integrations.frameworks.mlflow import MlflowScorer


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow')}/mlflow.db"


@pytest.fixture(autouse=True)
def nothing_leaves(store, sent, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(store)
    yield
    assert sent == []


def row(outputs="[1]", expectations=None, inputs=None):
    return {
        "inputs": inputs or {"question": "A list?"},
        "outputs": outputs,
        **({} if expectations is None else {"expectations": expectations}),
    }


def evaluation(scorers, *rows):
    return mlflow.genai.evaluate(data=list(rows) or [row()], scorers=scorers)


def feedback(evaluation):
    """Give what stands in the store, by name."""
    [assessments] = evaluation.result_df["assessments"]
    return {each["assessment_name"]: each for each in assessments}


def test_a_result_of_each_kind_is_feedback():
    scorers = [MlflowScorer(Fixed(result, name)) for name, result in RESULTS.items()]
    found = evaluation(scorers)
    said = feedback(found)
    assert {name: said[name]["feedback"].get("value") for name in RESULTS} == {
        name: result.score for name, result in RESULTS.items()
    }
    assert {name: said[name].get("rationale") for name in RESULTS} == {
        name: result.reason and to_storable_text(result.reason) for name, result in RESULTS.items()
    }
    metadata = said["number"]["metadata"]
    assert (metadata["label"], metadata["passed"]) == ("far_off", "false")
    assert json.loads(metadata["detail"]) == [1, "é"]
    assert said["unscored"]["feedback"]["error"] == {"error_code": "torn", "error_message": "cannot tell"}  # fmt: skip
    assert {name: value for name, value in found.metrics.items() if name.endswith("/mean")} == {
        "yes/mean": 1.0,
        "no/mean": 0.0,
        "odd/mean": 0.0,
        "number/mean": 0.25,
        "whole/mean": 3.0,
    }


def test_a_verdict_may_be_the_value_of_which_means_are_made():
    found = evaluation([MlflowScorer(Fixed(RESULTS["number"]), value="passed")])
    assert found.metrics["fixed/mean"] == 0.0
    assert not found.passed
    assert found.reason == "fixed: because"
    assert feedback(found)["fixed"]["metadata"]["score"] == "0.25"
    assert evaluation([MlflowScorer(Fixed(RESULTS["whole"]), value="passed")]).passed


def test_unscored_and_bad_calls_are_errors_and_in_no_mean():
    rows = [row(), row(expectations={"answer": "[1"}), row(expectations={"answer": "[1]"})]
    found = evaluation([MlflowScorer(JsonEquality())], *rows)
    assert found.metrics["json_equality/mean"] == 1.0
    messages = set(found.result_df["json_equality/error_message"].dropna())
    assert len(messages) == 2
    assert any("json_equality needs a reference" in message for message in messages)
    assert any("the reference '[1' is not JSON" in message for message in messages)


def test_a_judge_answers_and_is_a_judge_to_mlflow():
    found = feedback(
        evaluation([MlflowScorer(judge()), MlflowScorer(judge("mumble"), name="torn")])
    )
    assert found["safety"]["feedback"]["value"] == 1.0
    assert found["safety"]["source"]["source_type"] == "LLM_JUDGE"
    assert found["torn"]["feedback"]["error"]["error_code"] == "unreadable"


def test_the_row_gives_the_fields():
    asked = Fixed(RESULTS["yes"])
    scorer = MlflowScorer(
        asked, output="text", reference="gold", input="q", contexts="seen", schema="why"
    )
    given = row({"text": "so", "seen": ["one"]}, {"gold": "[1]", "why": "!"}, {"q": "?", "n": 1})
    evaluation([scorer], given)
    assert asked.samples == [Sample("so", "[1]", "?", ["one"], "!", {"q": "?", "n": 1})]


def test_what_a_function_predicts_is_evaluated():
    found = mlflow.genai.evaluate(
        data=[{"inputs": {"question": "A list?"}, "expectations": {"answer": "[1]"}}],
        predict_fn=lambda question: [len(question[:1])],
        scorers=[MlflowScorer(JsonEquality())],
    )
    assert found.metrics["json_equality/mean"] == 1.0


@pytest.mark.parametrize(
    ("evaluator", "options", "message"),
    [
        ("json_validity", {}, "MlflowScorer: 'json_validity' is not an Evaluator"),
        (JsonValidity(), {"value": "label"}, "value='label' is not 'score' or 'passed'"),
        (JsonValidity(), {"output": 1}, "output=1 is not a text"),
    ],
)
def test_a_wrong_option_raises(evaluator, options, message):
    with pytest.raises(InvalidOptionError, match=message):
        MlflowScorer(evaluator, **options)


def test_mlflow_sends_no_telemetry_though_it_was_imported_before(tmp_path):
    code = """
    import mlflow
    from llmeval_integrations import JsonValidity
    from llmeval_integrations.frameworks.mlflow import MlflowScorer
    assert mlflow.telemetry.get_telemetry_client() is None
    MlflowScorer(JsonValidity()).run(outputs="[1]")
    """
    assert silent_program(code, tmp_path) == []


def test_the_example_of_the_docstring(store):
    run_example(ours)
    mlflow.set_tracking_uri(store)
