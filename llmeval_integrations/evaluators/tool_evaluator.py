"""The base class of evaluators that check tool calls."""

from __future__ import annotations

from abc import abstractmethod

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.json_evaluator import defect_result
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.messages.read import read_items
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.read import read_calls


class ToolEvaluator(Evaluator):
    """Checks the tool calls of an output.

    Subclasses implement `check_calls`. Calls are read from a text, the JSON of an API, objects of
    an SDK or framework, or a whole conversation. An empty output or a refusal contains no calls. An
    output that looks like calls but cannot be read has the score 0.

    >>> @dataclass(frozen=True)
    ... class CallsOnce(ToolEvaluator):
    ...     def check_calls(self, calls, sample):
    ...         return Result(float(len(calls) == 1), len(calls) == 1)
    """

    parsing: Parsing = "markdown"
    """How much text may surround the JSON of calls and arguments."""

    def check(self, sample: Sample) -> Result:
        calls = read_calls(read_items(sample.output), self.parsing, expects_calls=False)
        if isinstance(calls, Defect):
            return defect_result(calls, 0.0)
        return self.check_calls(calls, sample)

    @abstractmethod
    def check_calls(self, calls: list[ToolCall], sample: Sample) -> Result:
        """Check the calls of one output; the only method that a subclass has to implement."""
