"""What is peculiar to a framework: its runners, its errors, its figures, and what it sends."""

import asyncio
import json
import math
import subprocess
import sys
import uuid

import pytest
from framework_cases import RESULTS, Fixed, judge, read_example, run_example, silent_program
from framework_runners import adapter, attempt

from llmeval_integrations import (
    JsonEquality,
    JsonValidity,
    Result,
    Sample,
    ToolCalls,
    load_evaluator,
)
from llmeval_integrations.core.errors import InvalidOptionError, MissingFieldError
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.evaluators.text_evaluator import to_storable_text
from llmeval_integrations.frameworks._base import Keys
from llmeval_integrations.messages.read import Messages
from llmeval_integrations.messages.reply import Reply

pytestmark = pytest.mark.usefixtures("nothing_leaves")

PACKAGES = {
    "langchain": ("langchain_core", "langchain-core", "langchain"),
    "langchain.middleware": ("langchain", "langchain", "langchain-agents"),
    "llama_index": ("llama_index.core", "llama-index-core", "llamaindex"),
    "phoenix": ("phoenix.evals", "arize-phoenix-evals", "phoenix"),
    **{name: (name, *[name.replace("_", "-")] * 2) for name in ("pydantic_evals", "pydantic_ai")},
    "inspect_ai": ("inspect_ai", "inspect-ai", "inspect"),
    **{name: (name, name, name) for name in ("langsmith", "mlflow", "deepeval", "dspy", "ray")},
}
TWO = {"a": 1, "b": 2}
SAYS_NO = {"role": "assistant", "content": "no"}
OUTPUTS = [
    (Keys(), JsonValidity(), (None, [1, 2], None), [1, 2]),
    (Keys(), JsonValidity(), (None, {"a": TWO}, None), TWO),
    (Keys(), JsonValidity(), (None, {"a": None}, None), None),
    (Keys(output=""), JsonValidity(), (None, TWO, None), TWO),
    (Keys(), JsonValidity(), (None, {"messages": [SAYS_NO]}, None), Messages(Reply("no"), (SAYS_NO,))),
    (Keys(), JsonValidity(), (None, {"messages": [1]}, None), [1]),
    (Keys(output="b"), JsonValidity(), (None, TWO, None), 2),
    (Keys(), JsonValidity(), (None, TWO, None), "InputError: json_validity: the output is one of ['a', 'b']; name it with output="),
    (Keys(), JsonEquality(), (None, "1", TWO), "InputError: json_equality: the reference is one of ['a', 'b']; name it with"),
    (Keys(), judge(), ("?", "1", TWO), "InputError: safety: the reference is one of"),
    (Keys(input="c"), JsonValidity(), (TWO, "1", None), "InputError: input='c': there is no such key, only ['a', 'b']"),
    (Keys(), JsonValidity(), (None, {}, None), "MissingFieldError: json_validity needs an output, and there is none"),
]  # fmt: skip


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


@pytest.mark.parametrize(("keys", "evaluator", "given", "found"), OUTPUTS)
def test_an_output_is_named_or_the_only_one_and_nothing_is_guessed(keys, evaluator, given, found):
    output = attempt(lambda: keys.sample(evaluator, *given).output)
    assert (output[: len(found)] if isinstance(output, str) else output) == found


@pytest.mark.parametrize("name", ["deepeval", "mlflow"])
def test_the_example_sends_nothing_even_if_the_package_was_imported_before(name, tmp_path):
    code = f"import {name}\n{read_example(adapter(name))}"
    ends = {
        "deepeval": "test_list()",
        "mlflow": "assert mlflow.telemetry.get_telemetry_client() is None",
    }
    assert silent_program(f"{code}\n{ends[name]}", tmp_path) == []


@pytest.mark.parametrize("run_async", [True, False])
def test_deepeval_fails_with_the_reason_and_skips_what_lacks_a_field(run_async):
    metric = adapter("deepeval").DeepEvalMetric
    from deepeval import assert_test, evaluate
    from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
    from deepeval.test_case import LLMTestCase, ToolCall

    calls = {"tools_called": [ToolCall(name="f", input_parameters={"a": 1})], "expected_tools": []}
    called = LLMTestCase(input="?", actual_output="[1]", expected_output="[1]", **calls)
    assert metric(JsonEquality()).measure(called) == 1
    checked = metric(ToolCalls())
    assert (checked.measure(called), checked.reason) == (0, "f extra")

    case = LLMTestCase(input="?", actual_output="[1]", context=["c"])
    for evaluator, error, words in (
        (Fixed(RESULTS["no"]), AssertionError, r"\(score: 0.0, .*, error: None, reason: because"),
        (Fixed(RESULTS["unscored"]), AssertionError, r"\(score: None, .*, error: cannot tell,"),
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
    array = pytest.importorskip("numpy").array([1, 2])  # its comparison with {} is an array, too
    assert ours.LangSmithEvaluator(JsonEquality())(None, array, array)["score"] == 1.0

    ids = {"id": uuid.uuid4(), "dataset_id": uuid.uuid4()}
    example = Example(inputs={"text": "{}"}, outputs={"answer": "{}"}, **ids)
    client = Client(tracing_sampling_rate=0, info={"version": "0"}, api_key="-", auto_batch_tracing=False)  # fmt: skip
    chain = {"my_chain": lambda inputs: {"answer": inputs["text"], "cost": 3}}
    [row] = run_example(ours, **chain, examples=[example], client=client)["experiment"]
    assert row["evaluation_results"]["results"][0].score == 1.0

    chain = {"my_chain": lambda _: 1 / 0}
    [row] = run_example(ours, **chain, examples=[example], client=client)["experiment"]
    [failed] = row["evaluation_results"]["results"]
    assert failed.score is None
    assert "the run failed, so there is no output: ZeroDivisionError" in failed.comment

    async def target(inputs):
        return {"output": inputs["text"]}

    async def collect():
        options = {"data": [example], "client": client, "upload_results": False}
        rows = await aevaluate(target, evaluators=[ours.LangSmithEvaluator(judge())], **options)
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
    assert said["unscored"]["feedback"]["error"]["error_code"] == "torn"
    assert said["safety"]["source"]["source_type"] == "LLM_JUDGE"
    means = {name: value for name, value in found.metrics.items() if name.endswith("/mean")}
    assert means == {"odd/mean": 0.0, "number/mean": 0.25, "safety/mean": 1.0, "json_equality/mean": 1.0}  # fmt: skip


def test_phoenix_awaits_binds_columns_and_writes_annotations():
    ours = adapter("phoenix")
    import pandas as pd
    from phoenix.evals import async_evaluate_dataframe, bind_evaluator
    from phoenix.evals.utils import to_annotation_dataframe

    run_example(ours)
    references = [None, float("nan"), pd.NA, "[1", "[1]"]
    frame = pd.DataFrame({"output": "[1]", "gold": references}, dtype=object).rename_axis("span_id")
    equal = ours.PhoenixEvaluator(JsonEquality())
    evaluators = [
        bind_evaluator(evaluator=equal, input_mapping={"reference": "gold"}),
        *map(ours.PhoenixEvaluator, (judge(), Fixed(RESULTS["unscored"]))),
    ]
    options = {"evaluators": evaluators, "exit_on_error": False, "hide_tqdm_bar": True}
    scored = asyncio.run(async_evaluate_dataframe(dataframe=frame, **options))
    words = ["needs a reference"] * 3 + ["the reference '[1' is not JSON (truncated)"]
    for details, text in zip(scored["json_equality_execution_details"], words):
        [message] = details["exceptions"]  # once, though Phoenix repeats what fails
        assert message.startswith("PhoenixCallError(")
        assert text in message
    *_, good = scored["json_equality_score"]
    assert (good["score"], good["direction"]) == (1.0, "maximize")
    assert ours.PhoenixEvaluator(load_evaluator("json_edit_distance")).direction == "minimize"
    assert {score["kind"] for score in scored["safety_score"]} == {"llm"}
    annotations = to_annotation_dataframe(dataframe=scored.filter(like="fixed"))
    assert annotations["score"].isna().all()
    assert set(annotations["explanation"]) == {"cannot tell"}


def test_a_label_without_a_score_is_the_result_of_pydantic_evals_and_failures_are_in_no_mean():
    ours = adapter("pydantic_evals")
    from pydantic_evals import Case, Dataset

    run_example(ours)
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


def test_dspy_gets_scores_verdicts_and_for_gepa_the_reasons():
    ours = adapter("dspy")
    import dspy
    from dspy.utils import DummyLM

    def row(question="A list?", **fields):
        return dspy.Example(question=question, **fields).with_inputs("question")

    for kind, score, feedback in (
        ("yes", 1.0, "The score is 1.0."),
        ("number", 0.25, "The answer was not accepted:\n- because"),
    ):
        fixed, pred = Fixed(RESULTS[kind]), dspy.Prediction(reasoning="so", answer="1")
        found = ours.DspyMetric(fixed)(row(answer="[1]"), pred, [], "self", [])
        assert (found.score, found.feedback) == (score, feedback)
        assert fixed.samples[0].output == "1"  # the field with the reference's name
    alone = dspy.Prediction(answer="1")
    assert ours.DspyMetric(fixed, value="passed")(row(), alone) == 0.0
    assert ours.DspyMetric(Fixed(Result(0.25)))(row(), alone, trace=[]) is True

    rows = [row(question, answer="[1]") for question in ("one", "two", "three")]
    equal, unscored = map(ours.DspyMetric, (JsonEquality(), Fixed(RESULTS["unscored"])))
    program = dspy.Predict("question -> answer")
    answers = {"one": "[1.0]", "two": "[3]", "three": "[3]", "A list?": "[1]"}
    with dspy.context(lm=DummyLM({key: {"answer": text} for key, text in answers.items()})):
        evaluate = dspy.Evaluate(devset=rows, num_threads=1)
        assert [score for *_, score in evaluate(program, equal).results] == [1.0, 0.0, 0.0]
        assert evaluate(program, unscored).score == 0
        nan = dspy.Evaluate(devset=rows, num_threads=1, failure_score=math.nan)
        assert math.isnan(nan(program, unscored).score)
        assert [demo.answer for demo in run_example(ours)["better"].demos] == ["[1]"]
    reflecting = DummyLM([{"new_instruction": "Write brackets."}] * 9)
    gepa = dspy.GEPA(metric=equal, reflection_lm=reflecting, max_metric_calls=15, num_threads=1)
    with dspy.context(lm=DummyLM([{"answer": "1"}] * 99)):
        gepa.compile(program, trainset=rows, valset=rows)
    assert JsonEquality()("1", "[1]").reason in str(reflecting.history)


def inspect_model(*messages):
    """Make a model that gives these; its usage is given, or Inspect would fetch a vocabulary."""
    from inspect_ai.model import ChatCompletionChoice, ModelOutput, ModelUsage, get_model

    choices = ([ChatCompletionChoice(message=one)] for one in messages)
    made = [ModelOutput(model="mock", choices=one, usage=ModelUsage()) for one in choices]
    return get_model("mockllm/model", custom_outputs=made, memoize=False)


def run_inspect(rows, scorers, *messages):
    import inspect_ai

    task = inspect_ai.Task(dataset=rows, scorer=scorers)
    options = {"log_dir": "logs", "display": "none", "max_samples": 1, "fail_on_error": False}
    [log] = inspect_ai.eval(task, model=inspect_model(*messages), **options)
    return log


def test_inspect_has_what_is_unscored_in_no_mean_and_targets_as_references(monkeypatch):
    ours = adapter("inspect_ai")
    from inspect_ai import model
    from inspect_ai.dataset import Sample as Row

    answer, fixed = model.ChatMessageAssistant(content="[1]"), Fixed(RESULTS["number"])
    system = model.ChatMessageSystem(content="Be brief.")
    talk = [system, model.ChatMessageUser(content="A list?")]
    words = [None, "the reference '[1'", "needs a reference", "needs a reference"]
    targets = ["[1]", "[1", ["[1]", "[2]"], ""]
    rows = [Row(input=talk, target=target) for target in targets[:3]] + [Row(input=[system])]
    scorers = [fixed, Fixed(RESULTS["unscored"], "unscored")]
    scorers = [
        *map(ours.inspect_scorer, scorers),
        ours.inspect_scorer(JsonEquality(), value="passed"),
    ]
    log = run_inspect(rows, scorers, *[answer] * 4)
    for sample, text in zip(log.samples, words):
        assert text in sample.error.message if text else sample.error is None
    number, unscored, equality = log.results.scores
    assert (number.scored_samples, number.metrics["mean"].value) == (4, 0.25)
    assert (unscored.scored_samples, unscored.unscored_samples) == (0, 4)
    assert (equality.scored_samples, equality.metrics["mean"].value) == (1, 1.0)
    assert log.samples[0].scores["unscored"].reason == "torn"
    assert fixed.samples[::3] == [Sample("[1]", "[1]", "A list?", id=1), Sample("[1]", id=4)]
    monkeypatch.setenv("INSPECT_LOG_DIR", "logs")
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    run_example(ours, model=inspect_model(answer))


def test_what_inspects_api_calls_is_no_call_and_a_broken_call_is_one():
    ours = adapter("inspect_ai")
    from inspect_ai import model
    from inspect_ai.dataset import Sample as Row
    from inspect_ai.tool import ToolCall

    search = {"tool_type": "web_search", "id": "s", "name": "s", "arguments": "{}", "result": ""}
    own, call = (
        model.ContentToolUse(**search),
        {"id": "1", "function": "add", "arguments": {"a": 1}},
    )
    done, right, broken = (
        model.ChatMessageAssistant(content=content, tool_calls=calls)
        for content, calls in (
            ([own, model.ContentText(text="done")], None),
            ([own], [ToolCall(**call)]),
            ("", [ToolCall(**call, parse_error="bad JSON")]),
        )
    )
    gold = {"calls": [{"name": "add", "arguments": {"a": 1}}]}
    rows = [Row(input="?", metadata=gold) for _ in range(2)]
    scorer = ours.inspect_scorer(load_evaluator("tool_calls"), reference="calls")
    log = run_inspect(rows, [scorer], right, done, broken, done)
    found = [sample.scores["tool_calls"] for sample in log.samples]
    assert [one.value for one in found] == [1.0, 0.0]
    assert [one.explanation for one in found] == ["The call is right", "add: bad JSON"]
    valid = load_evaluator("tool_call_schema", tools=[{"name": "add"}], allow_undeclared=True)
    assert valid([ours._dump(one) for one in (right, done)]).passed
