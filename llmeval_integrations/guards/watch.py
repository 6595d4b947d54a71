"""Is a text that is still being written lost already?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, overload

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.limits import MAX_DEPTH
from llmeval_integrations.core.quoting import hint, quote
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.tool_call_schema import ToolCallSchema
from llmeval_integrations.guards.places import NO_ALTERNATIVE, Place, Problem, read_places
from llmeval_integrations.guards.tokens import Token, Tokens
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.json_values.pointer import pointer
from llmeval_integrations.schemas.compiled import CompiledSchema
from llmeval_integrations.tool_calls.toolbox import Toolbox

_UNSURE: Final = ("empty", "truncated")
"""Defects that a text has which was read to its first wrong character, whatever that is."""


class Doomed(NamedTuple):
    """Where and why a text is lost: however it goes on, it will not conform."""

    offset: int
    """How many characters of the text show it."""

    pointer: str
    """The place as a JSON Pointer."""

    keyword: str
    """The schema's keyword, or the name of the defect that keeps the text from being JSON."""

    reason: str


class _Container:
    """An object or array that is open."""

    __slots__ = ("place", "step", "texts", "value")

    def __init__(self, place: Place, value: Any) -> None:
        self.place, self.value = place, value
        self.step: Any = 0 if type(value) is list else None
        """The name or position of the member that is being written; None before a name."""
        self.texts: set[str] = set()
        """The items that may not come again."""

    def narrow(self, holds: Callable[[Place], bool]) -> Problem | None:
        """Drop the alternatives of which something does not hold."""
        place = self.place.narrow(holds)
        if place is None:
            return NO_ALTERNATIVE
        self.place = place
        return None

    def add(self, value: Any) -> Problem | None:
        """Add a value that is whole."""
        step = self.step

        def holds(place: Place) -> bool:
            problem, inner = place.at(step)
            return problem is None and inner.is_valid(value)

        problem = self.narrow(holds)
        if problem is not None:
            return problem
        if type(step) is str:
            self.value[step], self.step = value, None
            return None
        if self.place.has_unique_items:
            text = canonical(value)
            if text in self.texts:
                return Problem("", "uniqueItems", "an equal item comes before")
            self.texts.add(text)
        self.value.append(value)
        self.step += 1
        return None


class Watcher:
    """Reads one text as it is written; `watch` makes it."""

    def __init__(self, schema: CompiledSchema, parsing: Parsing) -> None:
        self.doomed: Doomed | None = None
        """Where and why the text is lost; None where it may still conform."""
        self._root = read_places(schema)
        self._parsing = parsing
        self._tokens = Tokens(is_wrapped=parsing != "strict")
        self._chunks: list[str] = []
        self._open: list[_Container] = []

    @property
    def text(self) -> str:
        """All that was fed."""
        return "".join(self._chunks)

    def feed(self, chunk: str) -> Doomed | None:
        """Read on; say where and why the text is lost, or None where it may still conform."""
        self._chunks.append(chunk)
        if self.doomed is None:
            for token in self._tokens.feed(chunk):
                problem = self._take(token)
                if problem is not None:
                    path = pointer(one.step for one in self._open if one.step is not None)
                    self.doomed = Doomed(token.end, path + problem.pointer, *problem[1:])
                    break
        return self.doomed

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
        return self._explain(token)

    def _explain(self, token: Token) -> Problem:
        """Name the defect of a text that is not JSON."""
        if token.kind == "too_deep":
            return Problem("", "too_deep", f"more than {MAX_DEPTH} levels of arrays and objects")
        read = self.text[: token.end]
        for text in (read, token.value, read + '"'):  # it may end in an open string
            defect = parse(text, self._parsing)
            if type(defect) is Defect and defect.name not in _UNSURE:
                return Problem("", defect.name, defect.reason)
        return Problem("", "unexpected_character", f"no JSON goes on so: {read[-20:]!r}")

    def _take_name(self, name: str) -> Problem | None:
        container = self._open[-1]
        is_new = name not in container.value
        if not is_new and self._parsing == "strict":
            return Problem("", "duplicate_key", f"Duplicate key {name!r}")
        container.step = name
        most = container.place.most_members
        if is_new and len(container.value) >= most:
            return Problem("", "maxProperties", f"more than {most} members")
        problem, _ = container.place.at(name)
        return problem or container.narrow(lambda place: place.at(name)[0] is None)

    def _open_container(self, value: Any) -> Problem | None:
        problem, place = self._next_place()
        problem = problem or place.refuse(value)
        if problem is not None:
            return problem
        container = _Container(place, value)
        problem = container.narrow(lambda place: place.refuse(value) is None)
        if problem is None:
            self._open.append(container)
        return problem

    def _take_value(self, value: Any) -> Problem | None:
        problem, place = self._next_place()
        problem = problem or place.find(value)
        return problem or (self._open[-1].add(value) if self._open else None)

    def _next_place(self) -> tuple[Problem | None, Place]:
        """Return what is wrong with any value that comes next, and its place."""
        if not self._open:
            return None, self._root
        container = self._open[-1]
        place, step = container.place, container.step
        if type(step) is int and step >= place.most_items:
            return Problem("", "maxItems", f"more than {place.most_items} items"), place
        return place.at(step)


class CallsWatcher:
    """Reads the arguments of tool calls as they are written; `watch` makes it."""

    def __init__(self, evaluator: ToolCallSchema, tools: Toolbox) -> None:
        self.doomed: Doomed | None = None
        """Where and why a call is lost; the offset counts the characters of its arguments."""
        self._tools, self._parsing = tools, evaluator.parsing
        self._calls: dict[int, tuple[str, Watcher]] = {}

    def feed(self, chunk: str, name: str | None = None, index: int = 0) -> Doomed | None:
        """Read on; say where and why a call is lost, or None where all may still be valid.

        Args:
            chunk: What comes next of the arguments.
            name: The tool's name; the first chunk of a call needs it.
            index: Which call it is, where several are written at once.
        """
        if self.doomed is not None:
            return self.doomed
        if index not in self._calls:
            if name is None:
                raise InputError(f"the first chunk of call {index!r} needs the tool's name")
            if name not in self._tools:
                reason = f"there is no tool {name!r}: {hint(name, self._tools)}"
                self.doomed = Doomed(0, "", "unknown_tool", reason)
                return self.doomed
            self._calls[index] = name, Watcher(self._tools[name].compiled, self._parsing)
        name, watcher = self._calls[index]
        doomed = watcher.feed(chunk)
        if doomed is not None:
            self.doomed = doomed._replace(reason=f"{name}: {doomed.reason}")
        return self.doomed


@overload
def watch(evaluator: JsonSchema) -> Watcher: ...
@overload
def watch(evaluator: ToolCallSchema) -> CallsWatcher: ...
def watch(evaluator: JsonSchema | ToolCallSchema) -> Watcher | CallsWatcher:
    """Watch one text, or the calls of one answer, while a model writes it.

    What is called lost is lost: however the text goes on, the evaluator will not pass it. It may
    see that late, at the end at the latest. Members may come in any order, and each is taken to
    come once in its object, though parsing would take the last of two.

    Example:
        >>> watcher = watch(JsonSchema({"properties": {"age": {"type": "integer"}}}))
        >>> watcher.feed('{"age": "3')
        >>> watcher.feed('", "name": ')
        Doomed(offset=11, pointer='/age', keyword='type', reason='"3" is not of type "integer"')

    Args:
        evaluator: A JsonSchema with a schema, or a ToolCallSchema with tools, of its own. In
            lenient parsing any text may still become valid.

    Raises:
        InvalidOptionError: The evaluator has no schema or tools, or its parsing is lenient.
    """
    if not isinstance(evaluator, (JsonSchema, ToolCallSchema)):
        raise InvalidOptionError(
            f"JsonSchema and ToolCallSchema can be watched, got {quote(evaluator)}"
        )
    if evaluator.parsing == "lenient":
        raise InvalidOptionError(
            "a text that is parsed leniently may end anywhere, so nothing is lost before its end; "
            'give parsing="markdown" or "strict"'
        )
    if isinstance(evaluator, ToolCallSchema):
        if evaluator.toolbox is None:
            raise InvalidOptionError("to watch calls, give ToolCallSchema its tools")
        return CallsWatcher(evaluator, evaluator.toolbox)
    if evaluator.compiled is None:
        raise InvalidOptionError("to watch a text, give JsonSchema its schema")
    return Watcher(evaluator.compiled, evaluator.parsing)
