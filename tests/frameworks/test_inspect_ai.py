"""Inspect: `eval` with its mock model; figures, calls in messages, and targets."""

import pytest
from framework_cases import RESULTS, Fixed, run_example

from llmeval_integrations import JsonEquality, Sample, ToolCalls, ToolCallSchema

pytest.importorskip("inspect_ai")

import inspect_ai
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


def model(*messages):
    """Make a model that gives these; its usage is given, or Inspect would fetch a vocabulary."""
    made = [
        ModelOutput(model="mock", choices=[ChatCompletionChoice(message=one)], usage=ModelUsage())
        for one in messages
    ]
    return get_model("mockllm/model", custom_outputs=made, memoize=False)


def run(scorers, messages, rows):
    messages = [ChatMessageAssistant(content=m) if isinstance(m, str) else m for m in messages]
    task = inspect_ai.Task(dataset=rows, scorer=scorers)
    options = {"log_dir": "logs", "display": "none", "max_samples": 1, "fail_on_error": False}
    [log] = inspect_ai.eval(task, model=model(*messages), **options)
    return log


def test_what_is_unscored_is_in_no_mean_and_targets_are_references(monkeypatch):
    targets = {"[1]": None, "": "needs a reference", "[1": "the reference '[1'"}
    rows = [Row(input="?", target=target) for target in (*targets, ["[1]", "[2]"])]
    scorers = [inspect_scorer(Fixed(RESULTS[name], name)) for name in ("number", "unscored")]
    log = read_eval_log(run(scorers, ["1"] * 4, rows).location)
    number, unscored = log.results.scores
    assert (number.scored_samples, number.metrics["mean"].value) == (4, 0.25)
    assert (unscored.scored_samples, unscored.unscored_samples) == (0, 4)
    torn = log.samples[1].scores["unscored"]
    assert (torn.reason, torn.explanation) == ("torn", "cannot tell")

    log = run([inspect_scorer(JsonEquality(), value="passed")], ["[1]"] * 4, rows)
    words = [*targets.values(), "the sample has 2 targets, but needs one reference"]
    for sample, message in zip(log.samples, words):
        assert message in sample.error.message if message else sample.error is None
    [figures] = log.results.scores
    assert (figures.scored_samples, figures.metrics["mean"].value) == (1, 1.0)
    monkeypatch.setenv("INSPECT_LOG_DIR", "logs")
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    run_example(ours, model=model(ChatMessageAssistant(content="[1]")))


def test_the_last_message_of_the_user_is_the_input():
    fixed = Fixed(RESULTS["yes"])
    system = ChatMessageSystem(content="Be brief.")
    talk = [system, ChatMessageUser(content="A list?")]
    run([inspect_scorer(fixed)], ["[1]", "[2]"], [Row(input=talk, target="[1.0]", id="one"), Row(input=[system], id="two")])  # fmt: skip
    assert fixed.samples == [Sample("[1]", "[1.0]", "A list?", id="one"), Sample("[2]", id="two")]


def test_what_the_api_calls_is_no_call_and_a_broken_call_is_one():
    own = ContentToolUse(
        tool_type="web_search", id="s", name="web_search", arguments="{}", result=""
    )
    call = {"id": "1", "function": "add", "arguments": {"a": 1}}
    done = ChatMessageAssistant(content=[own, ContentText(text="done")])
    right = ChatMessageAssistant(content=[own], tool_calls=[ToolCall(**call)])
    broken = ChatMessageAssistant(content="", tool_calls=[ToolCall(**call, parse_error="bad JSON")])
    gold = {"calls": [{"name": "add", "arguments": {"a": 1}}]}
    rows = [Row(input="?", metadata=gold) for _ in range(2)]
    log = run([inspect_scorer(ToolCalls(), reference="calls")], [right, done, broken, done], rows)
    found = [sample.scores["tool_calls"] for sample in log.samples]
    assert [(one.value, one.explanation) for one in found] == [
        (1.0, "The call is right"),
        (0.0, "add: bad JSON"),
    ]
    tools = [{"name": "add", "parameters": {"type": "object"}}]
    assert ToolCallSchema(tools)([ours._dump(one) for one in (right, done)]).passed
