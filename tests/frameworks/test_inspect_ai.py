"""Inspect: `eval` with its mock model; figures, calls in messages, and targets."""

import pytest
from framework_cases import RESULTS, Fixed, run_example

from llmeval_integrations import JsonEquality, Sample, ToolCalls, ToolCallSchema

pytest.importorskip("inspect_ai")

import inspect_ai
from inspect_ai import model as models
from inspect_ai.dataset import Sample as Row
from inspect_ai.tool import ToolCall

from llmeval_integrations.frameworks import inspect_ai as ours
from llmeval_integrations.frameworks.inspect_ai import inspect_scorer

pytestmark = pytest.mark.usefixtures("nothing_leaves")


def message(content="[1]", **more):
    return models.ChatMessageAssistant(content=content, **more)


def model(*messages):
    """Make a model that gives these; its usage is given, or Inspect would fetch a vocabulary."""
    choices = ([models.ChatCompletionChoice(message=one)] for one in messages)
    usage = models.ModelUsage()
    made = [models.ModelOutput(model="mock", choices=one, usage=usage) for one in choices]
    return models.get_model("mockllm/model", custom_outputs=made, memoize=False)


def run(rows, *scorers, messages=None):
    task = inspect_ai.Task(dataset=rows, scorer=[*scorers])
    options = {"log_dir": "logs", "display": "none", "max_samples": 1, "fail_on_error": False}
    asked = model(*messages or [message() for _ in rows])
    [log] = inspect_ai.eval(task, model=asked, **options)
    return log


def test_what_is_unscored_is_in_no_mean_and_targets_are_references(monkeypatch):
    targets = {"[1]": None, "": "needs a reference", "[1": "the reference '[1'"}
    rows = [Row(input="?", target=target) for target in (*targets, ["[1]", "[2]"])]
    scorers = [inspect_scorer(Fixed(RESULTS[name], name)) for name in ("number", "unscored")]
    log = run(rows, *scorers, inspect_scorer(JsonEquality(), value="passed"))
    words = [*targets.values(), "the sample has 2 targets, but needs one reference"]
    for sample, text in zip(log.samples, words):
        assert text in sample.error.message if text else sample.error is None
    number, unscored, equality = log.results.scores
    assert (number.scored_samples, number.metrics["mean"].value) == (4, 0.25)
    assert (unscored.scored_samples, unscored.unscored_samples) == (0, 4)
    assert (equality.scored_samples, equality.metrics["mean"].value) == (1, 1.0)
    torn = log.samples[0].scores["unscored"]
    assert (torn.reason, torn.explanation) == ("torn", "cannot tell")
    monkeypatch.setenv("INSPECT_LOG_DIR", "logs")
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    run_example(ours, model=model(message()))


def test_the_last_message_of_the_user_is_the_input():
    fixed, system = Fixed(RESULTS["yes"]), models.ChatMessageSystem(content="Be brief.")
    talk = [system, models.ChatMessageUser(content="A list?")]
    rows = [Row(input=talk, target="[1.0]", id="one"), Row(input=[system], id="two")]
    run(rows, inspect_scorer(fixed))
    assert fixed.samples == [Sample("[1]", "[1.0]", "A list?", id="one"), Sample("[1]", id="two")]


def test_what_the_api_calls_is_no_call_and_a_broken_call_is_one():
    own = models.ContentToolUse(
        tool_type="web_search", id="s", name="web_search", arguments="{}", result=""
    )
    call = {"id": "1", "function": "add", "arguments": {"a": 1}}
    done = message([own, models.ContentText(text="done")])
    right = message([own], tool_calls=[ToolCall(**call)])
    broken = message("", tool_calls=[ToolCall(**call, parse_error="bad JSON")])
    gold = {"calls": [{"name": "add", "arguments": {"a": 1}}]}
    rows = [Row(input="?", metadata=gold) for _ in range(2)]
    scorer = inspect_scorer(ToolCalls(), reference="calls")
    found = run(rows, scorer, messages=[right, done, broken, done]).samples
    found = [sample.scores["tool_calls"] for sample in found]
    assert [one.value for one in found] == [1.0, 0.0]
    assert [one.explanation for one in found] == ["The call is right", "add: bad JSON"]
    tools = [{"name": "add", "parameters": {"type": "object"}}]
    assert ToolCallSchema(tools)([ours._dump(one) for one in (right, done)]).passed
