"""Find out, while a text is being written, whether it can still pass."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.limits import MAX_DEPTH
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.tool_call_schema import ToolCallSchema
from llmeval_integrations.guards.places import Place, Problem, read_places
from llmeval_integrations.guards.tokens import Token, Tokens
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.json_values.pointer import pointer
from llmeval_integrations.schemas.validator import CompiledSchema
from llmeval_integrations.tool_calls.tools import Toolbox

_UNSURE: Final = ("empty", "truncated")
"""Defects of any text that is cut off, so they do not explain a wrong character."""


class Doomed(NamedTuple):
    """Where and why a text fails: whatever follows, it will not conform."""

    offset: int
    """How many characters of the text, or of the call's arguments, were enough to decide this."""

    pointer: str
    """The place of the problem as a JSON Pointer."""

    keyword: str
    """The keyword of the schema, or the name of the defect if the text is not JSON."""

    reason: str


class Watcher:
    """Reads one text, or the arguments of tool calls, in chunks. `watch` returns it."""

    def __init__(self, parsing: Parsing, schema: CompiledSchema | Toolbox) -> None:
        self.doomed: Doomed | None = None
        """Where and why the text fails; None while it may still conform."""
        self.reads_calls = not isinstance(schema, CompiledSchema)
        """Whether it reads the arguments of tool calls instead of a text."""
        self._parsing, self._schema = parsing, schema
        self._readers: dict[int, _Reader] = {}

    def feed(self, chunk: str, name: str | None = None, index: int = 0) -> Doomed | None:
        """Read a chunk; return where and why the text fails, or None while it may still conform.

        Args:
            chunk: The next part of the text, or of the arguments of a call.
            name: The tool's name, required with the first chunk of a call.
            index: The index of the call, if several calls are written at once.
        """
        if self.doomed is None:
            reader = self._readers.get(index) or self._open(name, index)
            if reader is not None:
                doomed = reader.feed(chunk)
                if doomed is not None and reader.name:
                    doomed = doomed._replace(reason=f"{reader.name}: {doomed.reason}")
                self.doomed = doomed
        return self.doomed

    def _open(self, name: str | None, index: int) -> _Reader | None:
        schema = self._schema
        if not isinstance(schema, CompiledSchema):
            if name is None:
                raise InputError(f"the first chunk of call {index!r} needs the tool's name")
            if name not in schema:
                reason = f"there is no tool {name!r}: {hint(name, schema)}"
                self.doomed = Doomed(0, "", "unknown_tool", reason)
                return None
            schema = schema[name].compiled
        reader = self._readers[index] = _Reader(schema, self._parsing, name)
        return reader


class _Container:
    """An open object or array."""

    __slots__ = ("place", "step", "value")

    def __init__(self, place: Place, value: Any) -> None:
        self.place, self.value = place, value
        self.step: Any = 0 if type(value) is list else None
        """The name or position of the member that is being written; None before a name."""

    def add(self, value: Any) -> None:
        """Add a complete value."""
        if type(self.step) is str:
            self.value[self.step], self.step = value, None
        else:
            self.value.append(value)
            self.step += 1


class _Reader:
    """Reads one text, or the arguments of one call."""

    def __init__(self, schema: CompiledSchema, parsing: Parsing, name: str | None = None) -> None:
        self.name = name
        self._root = read_places(schema)
        self._parsing = parsing
        self._tokens = Tokens(is_wrapped=parsing != "strict")
        self._chunks: list[str] = []
        self._open: list[_Container] = []

    def feed(self, chunk: str) -> Doomed | None:
        self._chunks.append(chunk)
        for token in self._tokens.feed(chunk):
            problem = self._take(token)
            if problem is not None:
                path = pointer(one.step for one in self._open if one.step is not None)
                return Doomed(token.end, path + problem.pointer, *problem[1:])
        return None

    def _take(self, token: Token) -> Problem | None:
        kind = token.kind
        if kind == "name":
            return self._take_name(token.value)
        if kind == "value":
            return self._take_value(token.value)
        if kind in ("{", "["):
            return self._open_container({} if kind == "{" else [])
        if kind in ("}", "]"):
            return self._take_value(self._open.pop().value)
        if kind == "too_deep":
            return Problem("", "too_deep", f"more than {MAX_DEPTH} levels of arrays and objects")
        read = "".join(self._chunks)[: token.end]
        for text in (read, token.value, read + '"'):  # the text may end in an open string
            defect = parse(text, self._parsing)
            if type(defect) is Defect and defect.name not in _UNSURE:
                return Problem("", defect.name, defect.reason)
        return Problem("", "unexpected_character", f"JSON cannot continue so: {read[-20:]!r}")

    def _take_name(self, name: str) -> Problem | None:
        container = self._open[-1]
        if name in container.value and self._parsing == "strict":
            return Problem("", "duplicate_key", f"Duplicate key {name!r}")
        container.step = name
        problem, _ = container.place.at(name)
        return problem

    def _open_container(self, value: Any) -> Problem | None:
        problem, place = self._next_place()
        problem = problem or place.refuse(value)
        self._open += [] if problem else [_Container(place, value)]
        return problem

    def _take_value(self, value: Any) -> Problem | None:
        problem, place = self._next_place()
        problem = problem or place.find(value)
        if self._open and problem is None:
            self._open[-1].add(value)
        return problem

    def _next_place(self) -> tuple[Problem | None, Place]:
        """Return the place of the next value, and why no value is valid there."""
        return self._open[-1].place.at(self._open[-1].step) if self._open else (None, self._root)


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
    schema = evaluator.compiled if isinstance(evaluator, JsonSchema) else evaluator.toolbox
    if schema is None:
        raise InvalidOptionError(f"watch needs a {evaluator.name} with {needs} of its own")
    return Watcher(evaluator.parsing, schema)
