"""Inspect: `eval` with its mock model."""

import math

import pytest
from framework_cases import RESULTS, Fixed, run_example

from llmeval_integrations import (
    JsonEquality,
    Sample,
    ToolCalls,
    ToolCallSchema,
)
from llmeval_integrations.core.sample import MISSING

pytest.importorskip("inspect_ai")

import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import Sample as Row
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentText,
    ContentToolUse,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall

from llmeval_integrations.frameworks import inspect_ai as ours
from llmeval_integrations.frameworks.inspect_ai import inspect_scorer

pytestmark = pytest.mark.usefixtures("nothing_leaves")


def model(*outputs):
    """Make a model that says this; its usage is given, or Inspect would fetch a vocabulary."""
    made = [
        output if isinstance(output, ModelOutput) else ModelOutput.from_content("mock", output)
        for output in outputs
    ]
    for output in made:
        output.usage = ModelUsage()
    return get_model("mockllm/model", custom_outputs=made, memoize=False)


def run(tmp_path, scorers, outputs, rows=None, **options):
    """Evaluate what a model says, one sample for each output unless told otherwise."""
    rows = rows or [Row(input="?", target="[1.0]") for _ in outputs]
    task = Task(dataset=rows, scorer=scorers)
    [log] = inspect_ai.eval(
        task, model=model(*outputs), log_dir=str(tmp_path), display="none", max_samples=1, **options
    )
    return log


def test_what_is_unscored_stays_so_and_is_in_no_mean(tmp_path):
    scorers = [inspect_scorer(Fixed(RESULTS[name], name)) for name in ("number", "unscored")]
    log = run(tmp_path, scorers, ["1", "2"])
    log = read_eval_log(log.location)
    number, unscored = log.results.scores
    assert (number.scored_samples, number.metrics["mean"].value) == (2, 0.25)
    assert (unscored.scored_samples, unscored.unscored_samples) == (0, 2)
    torn = log.samples[1].scores["unscored"]
    assert math.isnan(torn.value)
    assert (torn.reason, torn.explanation) == ("torn", "cannot tell")


def test_what_inspect_knows_is_the_sample(tmp_path):
    fixed = Fixed(RESULTS["yes"])
    talk = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content="A list?")]
    about = {"gold": [1], "contexts": ["a", "b"], "schema": {"type": "array"}}
    rows = [
        Row(input="A list?", target="[1.0]", id="one"),
        Row(input=talk, id="two", metadata=about),
    ]
    run(tmp_path, [inspect_scorer(fixed)], ["[1]", "[2]"], rows)
    run(tmp_path, [inspect_scorer(fixed, reference="gold")], ["[3]"], rows[1:])
    assert fixed.samples == [
        Sample("[1]", "[1.0]", "A list?", id="one"),
        Sample("[2]", MISSING, "A list?", ["a", "b"], {"type": "array"}, about, "two"),
        Sample("[3]", [1], "A list?", ["a", "b"], {"type": "array"}, about, "two"),
    ]


def test_what_the_api_calls_is_no_call_and_a_broken_call_is_one(tmp_path):
    own = ContentToolUse(
        tool_type="web_search", id="s", name="web_search", arguments="{}", result=""
    )
    call = {"id": "1", "function": "add", "arguments": {"a": 1}}
    done = ChatMessageAssistant(content=[own, ContentText(text="done")])
    right = ChatMessageAssistant(content=[own], tool_calls=[ToolCall(**call)])
    broken = ChatMessageAssistant(content="", tool_calls=[ToolCall(**call, parse_error="bad JSON")])
    outputs = [
        ModelOutput(model="mock", choices=[ChatCompletionChoice(message=one)])
        for one in (right, done, broken, done)
    ]
    gold = {"calls": [{"name": "add", "arguments": {"a": 1}}]}
    rows = [Row(input="?", metadata=gold) for _ in range(2)]
    log = run(tmp_path, [inspect_scorer(ToolCalls(), reference="calls")], outputs, rows)
    found = [sample.scores["tool_calls"] for sample in log.samples]
    assert [(one.value, one.explanation) for one in found] == [
        (1.0, "The call is right"),
        (0.0, "add: bad JSON"),
    ]
    tools = [{"name": "add", "parameters": {"type": "object"}}]
    assert ToolCallSchema(tools)([ours._dump(one) for one in (right, done)]).passed


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "json_equality needs a reference"),
        ("[1", "the reference '[1'"),
        (["[1]", "[2]"], "the sample has 2 targets, but needs one reference"),
    ],
)
def test_a_bad_call_is_an_error_of_the_sample(tmp_path, target, message):
    rows = [Row(input="?", target=target), Row(input="?", target="[1]")]
    log = run(tmp_path, [inspect_scorer(JsonEquality())], ["[1]"] * 2, rows, fail_on_error=False)
    assert message in log.samples[0].error.message
    [figures] = log.results.scores
    assert (figures.scored_samples, figures.metrics["mean"].value) == (1, 1.0)


def test_the_example(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    run_example(ours, model=model("[1]"))
