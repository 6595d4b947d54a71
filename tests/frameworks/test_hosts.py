"""What is peculiar to a framework: its runners, its errors, its figures, and what it sends."""

import asyncio
import json
import subprocess
import sys
import textwrap
import uuid

import pytest
from framework_cases import RESULTS, Fixed, judge, run_example, silent_program
from framework_runners import adapter

from llmeval_integrations import (
    InputError,
    InvalidOptionError,
    JsonEditDistance,
    JsonEquality,
    JsonValidity,
    MissingFieldError,
    Result,
    Sample,
)
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.evaluators.text_evaluator import to_storable_text
from llmeval_integrations.frameworks._base import Keys

pytestmark = pytest.mark.usefixtures("nothing_leaves")


@pytest.mark.parametrize("name", ["deepeval", "mlflow", "phoenix", "pydantic_evals"])
def test_the_example_of_the_docstring_runs(name):
    run_example(adapter(name))


PACKAGES = {
    "langchain": ("langchain_core", "langchain-core", "langchain"),
    "langchain.middleware": ("langchain", "langchain", "langchain-agents"),
    "llama_index": ("llama_index.core", "llama-index-core", "llamaindex"),
    "phoenix": ("phoenix.evals", "arize-phoenix-evals", "phoenix"),
    "pydantic_evals": ("pydantic_evals", "pydantic-evals", "pydantic-evals"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai", "pydantic-ai"),
    "inspect_ai": ("inspect_ai", "inspect-ai", "inspect"),
    **{name: (name, name, name) for name in ("langsmith", "mlflow", "deepeval", "dspy", "ray")},
}


@pytest.mark.parametrize("framework", PACKAGES)
def test_the_error_says_what_to_install(framework):
    module, package, extra = PACKAGES[framework]
    code = f"""
import sys
class Absent:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Absent())
import llmeval_integrations.frameworks.{framework}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().splitlines()[-1] == (
        f"llmeval_integrations.core.errors.MissingDependencyError: {package} is not installed; "
        f"run: pip install 'llmeval-integrations[{extra}]'"
    )


TWO = {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("key", "outputs", "output"),
    [(None, [1, 2], [1, 2]), (None, {"a": TWO}, TWO), ("", TWO, TWO), ("b", TWO, 2), (None, {"a": None}, None)],
)  # fmt: skip
def test_an_output_is_named_or_the_only_one_there_is(key, outputs, output):
    assert Keys(output=key).sample(JsonValidity(), None, outputs, None).output == output


@pytest.mark.parametrize(
    ("keys", "evaluator", "given", "error", "message"),
    [
        (Keys(), JsonValidity(), (None, TWO, None), InputError, r"the output is one of \['a', 'b'\]; name"),
        (Keys(), JsonEquality(), (None, "1", TWO), InputError, 'name it with reference="...", or'),
        (Keys(), judge(), ("?", "1", TWO), InputError, "safety: the reference is one of"),
        (Keys(input="c"), JsonValidity(), (TWO, "1", None), InputError, r"input='c': there is no such key, only \['a', 'b'\]"),
        (Keys(), JsonValidity(), (None, {}, None), MissingFieldError, 'needs an output, .* text "null"'),
    ],
)  # fmt: skip
def test_nothing_is_guessed(keys, evaluator, given, error, message):
    with pytest.raises(error, match=message):
        keys.sample(evaluator, *given)


PROGRAMS = {
    "deepeval": """
        from deepeval import assert_test
        from deepeval.test_case import LLMTestCase
        from llmeval_integrations.frameworks.deepeval import DeepEvalMetric
        case = LLMTestCase(input="A list?", actual_output="[1]")
        assert_test(case, [DeepEvalMetric(JsonValidity())])""",
    "mlflow": """
        import mlflow
        from llmeval_integrations.frameworks.mlflow import MlflowScorer
        assert mlflow.telemetry.get_telemetry_client() is None
        MlflowScorer(JsonValidity()).run(outputs="[1]")""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_telemetry_is_sent_even_if_the_package_was_imported_before(name, tmp_path):
    pytest.importorskip(name)
    code = "from llmeval_integrations import JsonValidity" + textwrap.dedent(PROGRAMS[name])
    assert silent_program(code, tmp_path) == []


@pytest.mark.parametrize("run_async", [True, False])
def test_deepeval_fails_with_the_reason_and_skips_what_lacks_a_field(run_async):
    metric = adapter("deepeval").DeepEvalMetric
    from deepeval import assert_test, evaluate
    from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
    from deepeval.test_case import LLMTestCase

    case = LLMTestCase(input="?", actual_output="[1]", context=["c"])
    for evaluator, error, words in (
        (Fixed(RESULTS["no"]), AssertionError, r"\(score: 0.0, .*, error: None, reason: because"),
        (
            Fixed(RESULTS["unscored"]),
            AssertionError,
            r"\(score: None, .*, error: cannot tell, reas",
        ),
        (JsonEquality(), MissingFieldError, "json_equality needs a reference"),
    ):
        with pytest.raises(error, match=words):
            assert_test(case, [metric(evaluator)], run_async=run_async)
    metrics = [metric(JsonEquality()), metric(Fixed(RESULTS["yes"])), metric(judge())]
    options = {
        "display_config": DisplayConfig(show_indicator=False, print_results=False),
        "error_config": ErrorConfig(skip_on_missing_params=True),
        "async_config": AsyncConfig(run_async=run_async),
    }
    [found] = evaluate([case], metrics, **options).test_results
    assert [each.name for each in found.metrics_data] == ["fixed", "safety"]
    assert metrics[1].evaluator.samples[0].contexts == ["c"]
    metrics[2].measure(case)
    assert (metrics[2].input_tokens, metrics[2].output_tokens) == (10, 5)
    data = found.metrics_data[1]
    assert (data.score, data.reason, data.evaluation_model) == (1.0, "because", "scripted-1")


def test_langsmith_is_called_like_openevals_and_awaited_like_its_runner():
    ours = adapter("langsmith")
    from langsmith import Client, aevaluate
    from langsmith.schemas import Example

    asked = Fixed(RESULTS["yes"])
    wrapped = ours.LangSmithEvaluator(asked, name="mine", input="text", schema="tone")
    found = wrapped({"text": "?", "tone": "dry"}, "so", context="one", more=1)
    variables = {"text": "?", "tone": "dry", "more": 1}
    assert asked.samples == [Sample("so", MISSING, "?", ["one"], "dry", variables)]
    assert found == {"key": "mine", "score": 1.0, "value": None, "comment": None, "metadata": {"passed": True}}  # fmt: skip
    assert wrapped.feedback_keys == ["mine"]

    ids = {"id": uuid.uuid4(), "dataset_id": uuid.uuid4()}
    example = Example(inputs={"text": "{}"}, outputs={"answer": "{}"}, **ids)
    client = Client(tracing_sampling_rate=0, info={"version": "0"}, api_key="-", auto_batch_tracing=False)  # fmt: skip
    names = {
        "my_chain": lambda inputs: {"answer": inputs["text"], "cost": 3},
        "examples": [example],
    }
    [row] = run_example(ours, **names, client=client)["experiment"]
    assert row["evaluation_results"]["results"][0].score == 1.0

    async def target(inputs):
        return {"output": inputs["text"]}

    async def collect():
        options = {"data": [example], "client": client, "upload_results": False}
        evaluators = [ours.LangSmithEvaluator(judge())]
        rows = await aevaluate(target, evaluators=evaluators, **options)
        return [each async for row in rows for each in row["evaluation_results"]["results"]]

    [safe] = asyncio.run(collect())
    assert (safe.key, safe.score, safe.value, safe.comment) == ("safety", 1.0, "Pass", "because")


def test_mlflow_keeps_feedback_in_its_store_and_errors_in_no_mean(tmp_path):
    ours = adapter("mlflow")
    import mlflow

    with pytest.raises(InvalidOptionError, match="no option 'refrence'; did you mean 'reference'"):
        ours.MlflowScorer(JsonEquality(), refrence="answer")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    scorers = [ours.MlflowScorer(Fixed(RESULTS[name], name)) for name in ("odd", "number", "unscored")]  # fmt: skip
    scorers += [ours.MlflowScorer(judge()), ours.MlflowScorer(JsonEquality(), value="passed")]
    row = {"inputs": {"question": "A list?"}, "outputs": "[1]"}
    data = [{**row, "expectations": {"answer": text}} for text in ("[1]", "[1")]
    found = mlflow.genai.evaluate(data=data, scorers=scorers)
    said = {each["assessment_name"]: each for each in found.result_df["assessments"][0]}
    assert said["odd"]["rationale"] == to_storable_text(RESULTS["odd"].reason)
    metadata = said["number"]["metadata"]
    assert (metadata["label"], metadata["passed"]) == ("far_off", "false")
    assert json.loads(metadata["detail"]) == [1, "é"]
    error = {"error_code": "torn", "error_message": "cannot tell"}
    assert said["unscored"]["feedback"]["error"] == error
    assert said["safety"]["source"]["source_type"] == "LLM_JUDGE"
    means = {name: value for name, value in found.metrics.items() if name.endswith("/mean")}
    assert means == {"odd/mean": 0.0, "number/mean": 0.25, "safety/mean": 1.0, "json_equality/mean": 1.0}  # fmt: skip


def test_phoenix_awaits_binds_columns_and_writes_annotations():
    ours = adapter("phoenix")
    import pandas as pd
    from phoenix.evals import async_evaluate_dataframe, bind_evaluator
    from phoenix.evals.utils import to_annotation_dataframe

    references = [None, float("nan"), pd.NA, "[1", "[1]"]
    frame = pd.DataFrame({"output": "[1]", "gold": references}, dtype=object)
    equal = ours.PhoenixEvaluator(JsonEquality())
    evaluators = [
        bind_evaluator(evaluator=equal, input_mapping={"reference": "gold"}),
        *map(ours.PhoenixEvaluator, (judge(), Fixed(RESULTS["unscored"]))),
    ]
    options = {"evaluators": evaluators, "exit_on_error": False, "hide_tqdm_bar": True}
    frame = frame.rename_axis("span_id")
    scored = asyncio.run(async_evaluate_dataframe(dataframe=frame, **options))
    words = ["needs a reference"] * 3 + ["the reference '[1' is not JSON (truncated)"]
    for details, text in zip(scored["json_equality_execution_details"], words):
        [message] = details["exceptions"]  # once, though Phoenix repeats what fails
        assert message.startswith("PhoenixCallError(")
        assert text in message
    *_, good = scored["json_equality_score"]
    assert (good["score"], good["direction"]) == (1.0, "maximize")
    assert ours.PhoenixEvaluator(JsonEditDistance()).direction == "minimize"
    assert {score["kind"] for score in scored["safety_score"]} == {"llm"}
    annotations = to_annotation_dataframe(dataframe=scored.filter(like="fixed"))
    assert annotations["score"].isna().all()
    assert set(annotations["explanation"]) == {"cannot tell"}


def test_a_label_without_a_score_is_the_result_of_pydantic_evals_and_failures_are_in_no_mean():
    ours = adapter("pydantic_evals")
    from pydantic_evals import Case, Dataset

    answer = Result(None, None, "refund", "because", answered=True)
    numpy = Result(pytest.importorskip("numpy").float32(0.5), True)
    evaluators = [Fixed(answer, "sort"), Fixed(numpy, "np"), judge(), JsonEquality()]
    evaluators = [*map(ours.PydanticEvaluator, evaluators)]
    cases = [Case(inputs="?", expected_output=text, metadata=["x"]) for text in ("[1]", "[1")]
    dataset = Dataset(name="lists", cases=cases, evaluators=evaluators)
    found = dataset.evaluate_sync(lambda _: "[1]", progress=False)
    case = found.cases[0]
    passed = {name: each.value for name, each in case.assertions.items()}
    assert passed == dict.fromkeys(("np_passed", "safety_passed", "json_equality_passed"), True)
    labels = {name: (each.value, each.reason) for name, each in case.labels.items()}
    assert labels == {"sort": ("refund", "because"), "safety_label": ("Pass", None)}
    assert found.averages().scores == {"np": 0.5, "safety": 1.0, "json_equality": 1.0}
