"""Which part of a model's messages an evaluator is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, cast

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.tool_call_schema import ToolCallSchema
from llmeval_integrations.evaluators.tool_calls import ToolCalls
from llmeval_integrations.evaluators.weighted_sum import WeightedSum
from llmeval_integrations.judges.evaluator import Conversation, JudgedEvaluator
from llmeval_integrations.llm.steps import Steps
from llmeval_integrations.tool_calls.read import read_calls

See: TypeAlias = Callable[[Evaluator, Sample], Sample]
"""Gives the sample that an evaluator sees, without the part of messages that it does not read."""


def seen(evaluator: Evaluator, messages: Any, text: Any) -> Any:
    """Return what an evaluator sees of messages whose text is this: no call of a tool is lost.

    One of tool calls sees all of them, any other the text, but a judge sees all where there is no
    text and tools are called. So does a WeightedSum, the parts of which `by_parts` lets see for
    themselves.
    """
    if isinstance(evaluator, (WeightedSum, ToolCalls, ToolCallSchema)):
        return messages
    if isinstance(evaluator, JudgedEvaluator) and not text and read_calls(messages):
        return messages
    return text


def by_parts(evaluator: Evaluator, see: See) -> Evaluator:
    """Let each part of a sum see what it would by itself; any other evaluator is given back."""
    if not isinstance(evaluator, WeightedSum):
        return evaluator
    pairs = cast("tuple[tuple[Evaluator, float], ...]", evaluator.parts)
    return replace(evaluator, parts=[(_part(part, see), weight) for part, weight in pairs])


def _part(part: Evaluator, see: See) -> Evaluator:
    if isinstance(part, WeightedSum):
        return by_parts(part, see)
    return (_JudgingPart if isinstance(part, JudgedEvaluator) else _Part)(part, see)


class _Part(Evaluator):
    """A part of a sum that sees samples its own way."""

    def __init__(self, part: Any, see: See) -> None:
        self.name = part.name
        vars(self)["needs"] = part.needs
        self._part = part
        self._see = see

    def check(self, sample: Sample) -> Result:
        return cast("Result", self._part.check(self._see(self._part, sample)))

    def check_many(self, samples: list[Sample]) -> list[Result]:
        samples = [self._see(self._part, sample) for sample in samples]
        return cast("list[Result]", self._part.check_many(samples))


class _JudgingPart(_Part, JudgedEvaluator):
    """A part of a sum that asks a model."""

    check = JudgedEvaluator.check
    check_many = JudgedEvaluator.check_many

    def judge(self, sample: Sample) -> Conversation:
        return cast("Conversation", self._part.judge(self._see(self._part, sample)))

    def steps(self, sample: Sample) -> Steps[Result]:
        return cast("Steps[Result]", self._part.steps(self._see(self._part, sample)))
