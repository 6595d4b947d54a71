"""Is each call valid for the tool that it names?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from llmeval_integrations.core.errors import MissingFieldError
from llmeval_integrations.core.limits import MAX_SCHEMA_ERRORS
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.evaluators.tool_evaluator import ToolEvaluator
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.tools import Tool, Toolbox, Violation, violation


@dataclass(frozen=True)
class ToolCallSchema(ToolEvaluator):
    """Is each call valid for the tool that it names?

    Score: the share of valid calls, from 0 to 1, and 1 if there is no call. Calls and tools are
    read in the same formats as by ToolCalls. Calls that an API makes by itself do not count. The
    reason describes the first error. The label is its keyword in the schema, `unknown_tool` or
    `unreadable`, or the defect of an output that cannot be read at all.

    Metadata:
    - `calls`: each with `name`, `valid` and its first 100 `errors` (`pointer`, `keyword`,
      `message`)
    - `called` and `valid`: the number of calls, and of valid calls
    """

    tools: Any = field(default=None, hash=False)
    """The tool definitions. With None, each sample's `variables["tools"]` are used."""

    allow_undeclared: bool = False
    """Whether a call may have arguments that the tool's schema does not declare. If False, a schema
    with `properties` allows no others, unless it says that it does, or has `allOf` or the like."""

    parsing: Parsing = "markdown"
    """How much text may surround the JSON of calls and arguments."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.toolbox  # noqa: B018 - checks the tools

    @cached_property
    def toolbox(self) -> Toolbox:
        """The evaluator's own tools, if it has any."""
        return Toolbox(self.name, self.tools, None, self.allow_undeclared)

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The variables are needed if the option `tools` is not set."""
        return ("variables",) if self.tools is None else ()

    def check_calls(self, calls: list[ToolCall], sample: Sample) -> Result:
        tools = self.toolbox.of_sample(sample).tools
        if tools is None:
            raise MissingFieldError(
                f"{self.name} needs tools: the option tools=..., or a sample's variables['tools']"
            )
        found = [_violations(call, tools, self.parsing) for call in calls]
        rows = [
            {"name": call.name, "valid": not wrong, "errors": wrong[:MAX_SCHEMA_ERRORS]}
            for call, wrong in zip(calls, found)
        ]
        valid = found.count([])
        metadata = {"calls": rows, "called": len(calls), "valid": valid}
        if valid == len(calls):
            reason = f"Valid: {valid} of {valid} calls" if calls else "No call"
            return Result(1.0, True, None, reason, metadata)
        call, first = next((call, wrong[0]) for call, wrong in zip(calls, found) if wrong)
        reason, pointer = first["message"], first["pointer"]
        reason += f" at {pointer}" if pointer else ""
        reason = f"{call.name[:80]}: {reason}" if call.name else reason
        if others := sum(map(len, found)) - 1:
            reason += f"; and {others} more"
        return Result(valid / len(calls), False, first["keyword"], reason, metadata)


def _violations(call: ToolCall, tools: Mapping[str, Tool], parsing: Parsing) -> list[Violation]:
    """List the violations by one call."""
    if call.problem is not None:
        return [violation("unreadable", call.problem)]
    if call.name not in tools:
        return [violation("unknown_tool", "there is no such tool")]
    return tools[call.name].find(call.arguments, parsing)
