"""The tools that calls may name, and the calls themselves, with the schemas of their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from typing import Any, Final

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    InvalidReferenceError,
    InvalidSchemaError,
)
from llmeval_integrations.core.limits import MAX_NAMES
from llmeval_integrations.core.quote import hint
from llmeval_integrations.core.sample import Sample
from llmeval_integrations.fields.field import PRESENT, Omission
from llmeval_integrations.fields.paths import ANY, Override, Settings, check_path
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.values import canonical, encode, escape, measure
from llmeval_integrations.matching.node import AnyOf, is_optional
from llmeval_integrations.schemas.document import object_of
from llmeval_integrations.schemas.errors import describe, find_errors
from llmeval_integrations.schemas.parse import refuse_nan
from llmeval_integrations.schemas.validator import compile_schema
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.definition import read_tools
from llmeval_integrations.tool_calls.node import ToolNode
from llmeval_integrations.tool_calls.read import mark_alternatives

WrongPlace = dict[str, Any]
"""One wrong place in a call's arguments, as an entry of a result's metadata."""

Violation = dict[str, str]
"""A way in which a call violates its tool's schema, as an entry of a result's metadata."""

_OPEN: Final = frozenset(
    [
        *("additionalProperties", "unevaluatedProperties", "patternProperties"),
        *("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf"),
        *("if", "then", "else", "dependentSchemas", "dependencies"),
    ]
)
"""Keywords by which a schema may allow properties that are not under `properties`."""


def violation(keyword: str, message: str, pointer: str = "") -> Violation:
    """Say how a call violates its tool's schema, and where in the arguments."""
    return {"pointer": pointer, "keyword": keyword, "message": message}


class Tool:
    """A tool: the schema of its arguments, and the node that compares them."""

    def __init__(self, name: str, schema: Any, node: ToolNode, *, is_open: bool) -> None:
        """The schema is None if nobody declares the tool.

        `is_open` means that a call may have arguments that the schema does not declare.
        """
        self.node, self.schema = node, schema or {}
        self.declared = object_of(self.schema, "properties")
        """The schemas of its arguments by name."""
        lists_all = not is_open and "properties" in self.schema and _OPEN.isdisjoint(self.schema)
        # A tool without any declared argument may have been defined without its schema.
        self.is_closed = (lists_all and bool(self.declared)) or (
            self.schema.get("additionalProperties") is False
            and "patternProperties" not in self.schema
        )
        """Whether the reference may only have declared arguments."""
        closed = {**self.schema, "additionalProperties": False} if lists_all else self.schema
        try:
            self.compiled = compile_schema(encode(closed).decode(), None, False)
        except InvalidSchemaError as error:
            raise InvalidSchemaError(f"the tool {name!r}: {error}") from error

    def find(self, arguments: dict[str, Any], parsing: Parsing) -> list[Violation]:
        """List the violations by arguments that were parsed in this mode.

        For very large or deep arguments, only the first is listed.
        """
        value = refuse_nan(arguments, parsing)
        if isinstance(value, Defect):
            return [violation(value.name, value.reason)]
        if self.compiled.is_valid(value):
            return []
        errors = map(describe, find_errors(value, self.compiled, measure(value)))
        found = [violation(one["keyword"], one["message"], one["pointer"]) for one in errors]
        return found or [violation("too_deep", "Does not conform; nested too deeply")]


class Toolbox:
    """The declared tools, and the users' rules for the arguments of any tool."""

    def __init__(
        self, evaluator: str, tools: Any, rules: Settings | None, is_open: bool = False
    ) -> None:
        """`evaluator` is named in errors. `is_open` means that calls may have other arguments."""
        self._given = evaluator, tools, rules, is_open
        self._evaluator, self._rules, self._is_open = evaluator, rules, is_open
        self._overrides = rules.overrides if rules else []
        self._defaults = rules.defaults if rules else {}
        self._make_undeclared = lru_cache(MAX_NAMES)(partial(self._make, schema=None))
        self.tools: dict[str, Tool] | None = None
        """The declared tools by name; None if nobody declares any."""
        if tools is None:
            return
        try:
            schemas = read_tools(tools)
            self.tools = {name: self._make(name, schema) for name, schema in schemas.items()}
        except InvalidOptionError as error:
            raise type(error)(f"{evaluator}: tools: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return Toolbox, self._given  # a compiled schema cannot be pickled

    def of_sample(self, sample: Sample) -> Toolbox:
        """Return the tools in a sample's `variables["tools"]`, or these; equal ones are read once.

        An evaluator's own tools come first.
        """
        variables = sample.variables
        tools = variables.get("tools") if isinstance(variables, Mapping) else None
        if self.tools is not None or tools is None:
            return self
        if isinstance(tools, (dict, list)):
            with suppress(TypeError, ValueError, OverflowError):  # objects of a framework
                tools = encode(tools).decode()
        if isinstance(tools, str):
            return _read_once(self._evaluator, tools, self._rules, self._is_open)
        return Toolbox(self._evaluator, tools, self._rules, self._is_open)

    def get(self, name: str) -> Tool:
        """Return a tool; one that is not declared accepts any arguments."""
        tool = self.tools.get(name) if self.tools else None
        return self._make_undeclared(name) if tool is None else tool

    def _make(self, name: str, schema: Any) -> Tool:
        overrides = [
            Override(each.steps[1:], each.settings)
            for each in self._overrides
            if each.steps[0] == name
            or (each.steps[0] == ANY and (schema is None or not _explain(each, schema)))
        ]
        node = ToolNode.of_tool(name, schema, overrides, self._defaults)
        return Tool(name, schema, node, is_open=self._is_open)

    def check_rules(self) -> None:
        """Raise InvalidOptionError for a rule about a tool or an argument that is not declared."""
        schemas = {name: tool.schema for name, tool in (self.tools or {}).items()}
        for each in self._overrides if self.tools is not None else ():
            name, *steps = each.steps
            if name == ANY:
                if all(_explain(each, schema) for schema in schemas.values()):
                    path = "/".join(map(escape, steps))
                    known = [
                        key for one in schemas.values() for key in object_of(one, "properties")
                    ]
                    raise InvalidOptionError(f"fields: no tool has {path!r}; {hint(path, known)}")
            elif name not in schemas:
                raise InvalidOptionError(
                    f"fields: there is no tool {name!r}; {hint(name, schemas)}"
                )
            elif problem := _explain(each, schemas[name]):
                raise InvalidOptionError(f"fields: the tool {name!r}: {problem}")

    def check_expected(self, expected: Sequence[ToolCall], *, checks_arguments: bool) -> None:
        """Raise InvalidReferenceError for an expected call that its tool can never accept."""
        evaluator = self._evaluator
        for call in expected if self.tools is not None else ():
            if not self.tools or call.name not in self.tools:
                raise InvalidReferenceError(
                    f"{evaluator}: there is no tool {call.name!r}, which the reference calls; "
                    f"{hint(call.name, self.tools or ())}"
                )
            tool = self.tools[call.name]
            for name, value in call.arguments.items() if checks_arguments else ():
                if tool.is_closed and name not in tool.declared and not is_optional(value):
                    raise InvalidReferenceError(
                        f"{evaluator}: the tool {call.name!r} declares no argument {name!r}, "
                        f"which the reference has; {hint(name, tool.declared)} "
                        '("additionalProperties": true says that a call may have others)'
                    )


class Call:
    """A call, with its arguments as they are compared."""

    def __init__(self, call: ToolCall, toolbox: Toolbox) -> None:
        self.name, self.problem, self.arguments = call.name, call.problem, call.arguments
        self.node = toolbox.get(call.name).node
        self.values: Any = call.arguments
        """The arguments without those that count as left out."""
        for value in call.arguments.values():  # mostly scalars
            several = value.values if type(value) is AnyOf else (value,)
            if not PRESENT.issuperset(map(type, several)):
                self.values = Omission().omit(self.node, call.arguments)
                break

    @cached_property
    def text(self) -> str:
        """The arguments as a text that equal calls of a tool share."""
        return canonical(mark_alternatives(self.arguments))

    @cached_property
    def weight(self) -> float:
        """The weight of the leaves of the call alone."""
        node, values = self.node.narrow(self.values), self.values.items()
        return sum(node.member(name).weigh(one) for name, one in values if not is_optional(one))


_read_once = lru_cache(maxsize=64)(Toolbox)


def read_rules(fields: Mapping[str, Any], defaults: Mapping[str, Any]) -> Settings:
    """Read settings by `TOOL/path`, and those of all arguments."""
    for path in fields:
        if path_of(path)[1:2] in ("", "/"):
            raise InvalidOptionError(f"fields: {path!r} names no tool; write 'TOOL/path'")
    try:
        return Settings({path_of(path): each for path, each in fields.items()}, defaults)
    except InvalidOptionError as error:  # users write the path without its first slash
        raise type(error)(str(error).replace("'/", "'", 1)) from error


def path_of(path: Any) -> str:
    """Return a path as a JSON Pointer; users may leave out its first slash."""
    return f"/{str(path).removeprefix('/')}"


def _explain(override: Override, schema: Any) -> str | None:
    """Return why a tool's schema does not have a path, or None if it does."""
    path = "".join(f"/{escape(step)}" for step in override.steps[1:])
    try:
        check_path(path, override.settings, schema)
    except InvalidOptionError as error:
        return str(error).removeprefix("fields: ")
    return None
