"""Find out, while a text is being written, whether it can still pass."""

from __future__ import annotations

from collections.abc import Mapping

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.tool_call_schema import ToolCallSchema
from llmeval_integrations.guards.reader import Doomed, Reader
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.schemas.validator import CompiledSchema
from llmeval_integrations.tool_calls.tools import Tool


class Watcher:
    """Reads one text, or the arguments of tool calls, in chunks. `watch` returns it."""

    def __init__(self, parsing: Parsing, schema: CompiledSchema | Mapping[str, Tool]) -> None:
        self.doomed: Doomed | None = None
        """Where and why the text fails; None while it may still conform."""
        self.tools = None if isinstance(schema, CompiledSchema) else schema
        """The tools, if it reads the arguments of tool calls instead of a text."""
        self._parsing = parsing
        self._readers: dict[int, tuple[str, Reader]] = {}
        if isinstance(schema, CompiledSchema):
            self._readers[0] = "", Reader(schema, parsing)

    def feed(self, chunk: str, name: str | None = None, index: int = 0) -> Doomed | None:
        """Read a chunk; return where and why the text fails, or None while it may still conform.

        Args:
            chunk: The next part of the text, or of the arguments of a call.
            name: The tool's name, required with the first chunk of a call.
            index: The index of the call, if several calls are written at once.
        """
        if self.doomed is None and index not in self._readers and self.tools is not None:
            if name is None:
                raise InputError(f"the first chunk of call {index!r} needs the tool's name")
            if name not in self.tools:
                reason = f"there is no tool {name!r}: {hint(name, self.tools)}"
                self.doomed = Doomed(0, "", "unknown_tool", reason)
            else:
                self._readers[index] = name, Reader(self.tools[name].compiled, self._parsing)
        if self.doomed is None:
            tool, reader = self._readers[index]
            self.doomed = reader.feed(chunk)
            if self.doomed is not None and tool:
                self.doomed = self.doomed._replace(reason=f"{tool}: {self.doomed.reason}")
        return self.doomed


def watch(evaluator: JsonSchema | ToolCallSchema) -> Watcher:
    """Watch one text, or the calls of one answer, while a model writes it.

    If the watcher reports a failure, the evaluator will not pass the text, whatever follows. It may
    report a failure late, but at the end at the latest. Members may come in any order. The watcher
    expects each member once in its object, although parsing would use the last of two.

    Example:
        >>> watcher = watch(JsonSchema({"properties": {"age": {"type": "integer"}}}))
        >>> watcher.feed('{"age": "3')
        >>> watcher.feed('", "name": ')
        Doomed(offset=11, pointer='/age', keyword='type', reason='"3" is not of type "integer"')

    Args:
        evaluator: A JsonSchema with its own schema, or a ToolCallSchema with its own tools.

    Raises:
        InvalidOptionError: The evaluator has no schema or tools, or its parsing is lenient.
    """
    if not isinstance(evaluator, (JsonSchema, ToolCallSchema)):
        raise InvalidOptionError(
            f"watch accepts a JsonSchema or a ToolCallSchema, got {quote(evaluator)}"
        )
    if evaluator.parsing == "lenient":
        raise InvalidOptionError(
            "with lenient parsing, a text may end anywhere, so no failure shows before its end; "
            'give parsing="markdown" or "strict"'
        )
    needs = "a schema" if isinstance(evaluator, JsonSchema) else "tools"
    schema = evaluator.compiled if isinstance(evaluator, JsonSchema) else evaluator.toolbox.tools
    if schema is None:
        raise InvalidOptionError(f"watch needs a {evaluator.name} with {needs} of its own")
    return Watcher(evaluator.parsing, schema)
