"""Phoenix: the dataframe runners of phoenix-evals, and an experiment of its client."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from framework_cases import RESULTS, Awaited, Fixed, judge, run_example, sent  # noqa: F401
from scripted import judgement

from llmeval_integrations import (
    EvalError,
    InvalidOptionError,
    JsonEditDistance,
    JsonEquality,
    JsonSchema,
    JsonValidity,
    Result,
    Sample,
    StringDistance,
)

pytest.importorskip("phoenix.evals")

import pandas as pd
from phoenix.evals import async_evaluate_dataframe, bind_evaluator, evaluate_dataframe
from phoenix.evals.utils import to_annotation_dataframe

from llmeval_integrations.frameworks import phoenix as ours
from llmeval_integrations.frameworks.phoenix import PhoenixCallError, PhoenixEvaluator


def run(frame, *evaluators):
    return evaluate_dataframe(
        dataframe=frame, evaluators=list(evaluators), exit_on_error=False, hide_tqdm_bar=True
    )


def arun(frame, *evaluators):
    return asyncio.run(
        async_evaluate_dataframe(
            dataframe=frame, evaluators=list(evaluators), exit_on_error=False, hide_tqdm_bar=True
        )
    )


ONE = pd.DataFrame({"output": ["[1]"]})


@pytest.mark.parametrize("runner", [run, arun])
def test_a_result_of_each_kind_is_a_score(runner, sent):  # noqa: F811
    scored = runner(
        ONE, *[PhoenixEvaluator(Fixed(result, kind)) for kind, result in RESULTS.items()]
    )
    for kind, result in RESULTS.items():
        [score] = scored[f"{kind}_score"]
        assert score.get("score") == (None if result.score is None else float(result.score))
        assert type(score.get("score")) in (float, type(None))
        assert (score.get("label"), score.get("explanation")) == (result.label, result.reason)
        assert score["metadata"] == {**result.metadata, "passed": result.passed}
        assert (score["name"], score["kind"]) == (kind, "code")
    assert sent == []


def test_unscored_stays_without_a_score_among_the_annotations():
    scored = run(ONE.rename_axis("span_id"), PhoenixEvaluator(Fixed(RESULTS["unscored"])))
    annotations = to_annotation_dataframe(dataframe=scored)
    assert annotations["score"].isna().all()
    assert list(annotations["explanation"]) == ["cannot tell"]


BAD = {
    None: "json_equality needs a reference",
    float("nan"): "json_equality needs a reference",
    pd.NA: "json_equality needs a reference",
    "[1": "json_equality: the reference '[1' is not JSON (truncated)",
}


@pytest.mark.parametrize("runner", [run, arun])
def test_a_bad_call_is_named_once_and_has_no_score(runner):
    frame = pd.DataFrame({"output": "[1]", "reference": [*BAD, "[1]"]}, dtype=object)
    scored = runner(frame, PhoenixEvaluator(JsonEquality()))
    *bad, good = scored["json_equality_score"]
    assert pd.isna(bad).all()
    assert good["score"] == 1.0
    for details, message in zip(scored["json_equality_execution_details"], BAD.values()):
        assert details["status"] == "FAILED"
        [said] = details["exceptions"]
        assert said.startswith("PhoenixCallError(")
        assert message in said


def test_a_bad_call_raises_our_error_outside_of_a_frame():
    with pytest.raises(EvalError, match="needs an output"):
        PhoenixEvaluator(JsonValidity()).evaluate({"answer": "{}"})
    with pytest.raises(PhoenixCallError, match="needs a reference"):
        asyncio.run(PhoenixEvaluator(JsonEquality()).async_evaluate({"output": "{}"}))


def test_columns_are_the_fields_of_their_names_or_those_that_are_bound():
    asked = Fixed(RESULTS["yes"])
    row = {
        "output": ["x"],
        "gold": 1,
        "input": "?",
        "contexts": "one",
        "id": 0,
        "form": {},
        "input_2": 3,
    }
    named = {"reference": "gold", "schema": "form"}
    bound = bind_evaluator(evaluator=PhoenixEvaluator(asked), input_mapping=named)
    bound.evaluate(row)
    assert asked.samples == [Sample(["x"], 1, "?", ["one"], {}, id=0)]


def test_two_of_one_kind_have_names_of_their_own():
    frame = pd.DataFrame({"output": ["{}", "[1]"]})
    kinds = {"object": JsonSchema({"type": "object"}), "array": JsonSchema({"type": "array"})}
    evaluators = [PhoenixEvaluator(each, name=name) for name, each in kinds.items()]
    found = evaluate_dataframe(dataframe=frame, evaluators=evaluators, hide_tqdm_bar=True)
    scores = [[cell["score"] for cell in found[f"{name}_score"]] for name in kinds]
    assert scores == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("evaluator", "direction"),
    [
        (JsonEditDistance(), "minimize"),
        (StringDistance(), "minimize"),
        (JsonValidity(), "maximize"),
    ],
)
def test_a_distance_is_better_where_it_is_less(evaluator, direction):
    assert PhoenixEvaluator(evaluator).direction == direction


def test_a_judge_answers_in_both():
    two = pd.concat([ONE, ONE], ignore_index=True)
    for runner in (run, arun):
        said, torn = runner(two, PhoenixEvaluator(judge(judgement(), "mumble")))["safety_score"]
        assert (said["score"], said["explanation"], said["kind"]) == (1.0, "because", "llm")
        assert "score" not in torn
        assert torn["label"] == "unreadable"


def test_the_asynchronous_runner_awaits():
    scores = arun(pd.concat([ONE, ONE], ignore_index=True), PhoenixEvaluator(Awaited()))
    assert [score["score"] for score in scores["awaited_score"]] == [1.0, 1.0]


def test_what_is_no_evaluator_raises():
    with pytest.raises(InvalidOptionError, match="PhoenixEvaluator: 'json_validity' is no"):
        PhoenixEvaluator("json_validity")


def test_arrays_out_of_parquet_are_lists(tmp_path):
    pytest.importorskip("pyarrow")
    row = {"output": [1, 2], "reference": "[1, 2]", "contexts": ["one", "two"]}
    pd.DataFrame([row]).to_parquet(tmp_path / "data.parquet")
    frame = pd.read_parquet(tmp_path / "data.parquet")
    assert type(frame["contexts"][0]).__name__ == "ndarray"
    asked = judge()
    scored = run(frame, PhoenixEvaluator(JsonEquality()), PhoenixEvaluator(asked))
    assert [scored[f"{name}_score"][0]["score"] for name in ("json_equality", "safety")] == [
        1.0,
        1.0,
    ]
    fixed = Fixed(RESULTS["yes"])
    run(frame, PhoenixEvaluator(fixed))
    assert fixed.samples[0].contexts == ["one", "two"]


def test_what_is_missing_is_said_with_how_it_is_given():
    frame = pd.DataFrame({"answer": ["[1]"], "gold": ["[1]"]})
    scored = run(frame, PhoenixEvaluator(JsonEquality()))
    [said] = scored["json_equality_execution_details"][0]["exceptions"]
    assert "needs an output, and there is none; a column or key of that name" in said
    with pytest.raises(PhoenixCallError, match=r"needs a reference, .* bind_evaluator"):
        PhoenixEvaluator(JsonEquality()).evaluate({"output": "1"})


def test_an_answer_without_a_score_is_a_label():
    answer = Result(None, None, "refund", "because", answered=True)
    [score] = run(ONE, PhoenixEvaluator(Fixed(answer)))["fixed_score"]
    assert "score" not in score
    assert (score["label"], score["explanation"]) == ("refund", "because")


def test_what_numpy_says_is_json():
    np = pytest.importorskip("numpy")
    [score] = PhoenixEvaluator(Fixed(Result(np.True_, np.True_))).evaluate({"output": "1"})
    assert (score.score, json.dumps(score.metadata)) == (1.0, '{"passed": true}')


EXAMPLE = {
    "id": "one",
    "node_id": "one",
    "input": {"question": "A list?"},
    "output": {"answer": "[1.0]"},
    "metadata": {},
    "updated_at": "2026-01-01T00:00:00+00:00",
}
DATASET = {"id": "lists", "name": "lists", "example_count": 1}
EXAMPLES = {"dataset_id": "lists", "version_id": "1", "examples": [EXAMPLE]}


class Phoenix(BaseHTTPRequestHandler):
    """As much of a Phoenix server as an experiment reads that writes nothing."""

    def do_GET(self):
        body = json.dumps({"data": EXAMPLES if "/examples" in self.path else DATASET}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def client():
    phoenix = pytest.importorskip("phoenix.client")
    with HTTPServer(("127.0.0.1", 0), Phoenix) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield phoenix.Client(base_url=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


def test_an_experiment_takes_it(client):
    from phoenix.client.resources.datasets import Dataset

    equal, unbound = PhoenixEvaluator(JsonEquality()), PhoenixEvaluator(Fixed(RESULTS["unscored"]))
    equal.bind({"reference": "reference.answer"})
    experiment = client.experiments.run_experiment(
        dataset=Dataset(DATASET, EXAMPLES),
        task=lambda example: f"[{len(example.input)}]",
        evaluators=[equal, unbound, PhoenixEvaluator(judge())],
        dry_run=True,
        print_summary=False,
    )
    said = {each.name: each for each in experiment["evaluation_runs"]}
    assert said["json_equality"].result["score"] == 1.0
    assert "score" not in said["fixed"].result
    assert said["fixed"].result["explanation"] == "cannot tell"
    assert said["safety"].result["score"] == 1.0
    assert said["safety"].annotator_kind == "LLM"


def test_the_example_of_the_docstring():
    run_example(ours)
