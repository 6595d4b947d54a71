"""Our evaluators for Inspect: a `Scorer` with its metrics.

    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from llmeval_integrations import JsonEquality
    from llmeval_integrations.frameworks.inspect_ai import inspect_scorer

    lists = Task(
        dataset=[Sample(input="A list, please.", target="[1.0]")],
        scorer=[inspect_scorer(JsonEquality())],
    )
    [log] = eval(lists, model=model)
    log.results.scores[0].metrics["mean"].value  # 1.0

`llmeval compare` reads Inspect's logs as runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.frameworks._base import Wrapper, make_sample, optional
from llmeval_integrations.json_values.parse import as_python
from llmeval_integrations.messages.read import Messages
from llmeval_integrations.messages.reply import Reply

with optional("inspect_ai", "inspect-ai", "inspect"):
    from inspect_ai.model import ChatMessage
    from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState


def inspect_scorer(
    evaluator: Evaluator,
    *,
    metrics: Sequence[Metric] | None = None,
    value: str = "score",
    reference: str | None = None,
) -> Scorer:
    """Make a scorer with the name of our evaluator; a judge asks its own model.

    A result without a score is `Score.unscored`, which metrics leave out, even if it has a label. A
    bad call is an error of the sample. The sample's metadata become variables of a judge's prompt.
    Their `contexts` and `schema` also become fields of the sample.

    Args:
        metrics: Metrics of Inspect, by default `mean` and `stderr`.
        value: "score", or "passed" for a value of True or False.
        reference: A key of the sample's metadata. By default the reference is the target, if there
            is only one.
    """
    ours = Wrapper(evaluator, value=value)

    async def score(state: TaskState, target: Target) -> Score:
        result = await evaluator.aevaluate(_sample(evaluator, reference, state, target))
        details = {"label": result.label, "passed": as_python(result.passed)}
        fields = {"explanation": result.reason, "metadata": {**result.metadata, **details}}
        fields["answer"] = state.output.completion
        figure = ours.figure(result)
        if figure is None:
            return Score.unscored(reason=result.label or "unscored", **fields)
        return Score(value=figure, **fields)

    @scorer(metrics=list(metrics or [mean(), stderr()]), name=evaluator.name)  # type: ignore[untyped-decorator]
    def scorer_by_name(evaluator: str) -> Scorer:  # noqa: ARG001 - the log contains it
        return score

    return scorer_by_name(repr(evaluator))


def _sample(evaluator: Evaluator, key: str | None, state: TaskState, target: Target) -> Sample:
    output: Any = state.output.completion
    if any(getattr(message, "tool_calls", None) for message in state.messages):
        # Evaluators of tool calls read all messages; the others read the last text.
        output = Messages(Reply(output), tuple(map(_dump, state.messages)))
    # If there is no message of the user, `input_text` raises.
    asked = isinstance(state.input, str) or "user" in [one.role for one in state.input]
    only = target.text if len(target) == 1 else None
    return make_sample(
        evaluator,
        output,
        state.metadata,
        reference=state.metadata.get(key) if key else only or None,
        input=state.input_text if asked else None,
        id=state.sample_id,
    )


def _dump(message: ChatMessage) -> dict[str, Any]:
    """Return a message in the common format, without the calls that the API ran itself."""
    dumped: dict[str, Any] = message.model_dump(exclude_none=True)
    for call in dumped.get("tool_calls", ()):
        call["name"] = call.pop("function")
        if "parse_error" in call:
            call["error"] = call.pop("parse_error")
    if isinstance(dumped["content"], list):
        dumped["content"] = [each for each in dumped["content"] if each["type"] != "tool_use"]
    return dumped
