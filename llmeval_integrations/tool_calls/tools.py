"""The tools that calls may name: their schemas, and how their arguments are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    InvalidReferenceError,
    InvalidSchemaError,
)
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.fields.paths import ANY, Override, Settings, check_path
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.limits import measure
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.node import is_optional
from llmeval_integrations.schemas.document import list_of, object_of
from llmeval_integrations.schemas.errors import describe, find_errors
from llmeval_integrations.schemas.parse import encode, refuse_nan
from llmeval_integrations.schemas.validator import compile_schema
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.definition import read_tools
from llmeval_integrations.tool_calls.expected import mark_alternatives
from llmeval_integrations.tool_calls.node import ToolNode

_OPEN: Final = frozenset(
    [
        *("additionalProperties", "unevaluatedProperties", "patternProperties"),
        *("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf"),
        *("if", "then", "else", "dependentSchemas", "dependencies"),
    ]
)
"""Keywords by which a schema may allow properties that are not under `properties`."""

_MOST_KEPT: Final = 1_000
"""The most tools without a schema whose nodes are kept; models may invent any number of names."""


class Violation(NamedTuple):
    """A way in which a call violates a tool's schema."""

    argument: str
    """The argument's name; empty if the violation is about the whole call."""

    pointer: str
    """The place as a JSON Pointer within the arguments."""

    keyword: str
    """The schema's keyword; `unknown_tool` and `unreadable` are ours."""

    message: str

    is_missing: bool = False
    """Whether a required argument is missing."""


class Tool:
    """One declared tool: the schema of its arguments, and the node that compares them."""

    def __init__(self, name: str, schema: dict[str, Any], node: ToolNode, *, is_open: bool) -> None:
        """`is_open` means that a call may have arguments that the schema does not declare."""
        self.node = node
        self.schema = schema
        self._declared = object_of(schema, "properties")
        lists_all = not is_open and "properties" in schema and _OPEN.isdisjoint(schema)
        # A tool without any declared argument may have been defined without its schema.
        self._is_closed = (lists_all and bool(self._declared)) or (
            schema.get("additionalProperties") is False and "patternProperties" not in schema
        )
        closed = {**schema, "additionalProperties": False} if lists_all else schema
        try:
            self.compiled = compile_schema(encode(closed).decode(), None, False, "markdown")
        except InvalidSchemaError as error:
            raise InvalidSchemaError(f"the tool {name!r}: {error}") from error

    def requires(self, name: str) -> bool:
        """Return whether an argument is required."""
        return name in list_of(self.schema, "required")

    def refuse(self, arguments: Mapping[str, Any], *, complete: bool) -> str | None:
        """Return why no valid call can have these expected arguments, or None.

        With `complete`, the call has no other arguments.
        """
        for name, value in arguments.items() if self._is_closed else ():
            if name not in self._declared and not is_optional(value):
                return f"declares no argument {name!r}"
        for name in list_of(self.schema, "required") if complete else ():
            if name not in arguments and self.node.member(name).default is MISSING:
                return f"requires {name!r}"
        return None

    def find(self, arguments: dict[str, Any], parsing: Parsing) -> list[Violation]:
        """List the violations by arguments that were parsed in this mode.

        For very large or deep arguments, only the first is listed.
        """
        value = refuse_nan(arguments, parsing)
        if isinstance(value, Defect):
            return [Violation("", "", value.name, value.reason)]
        if self.compiled.is_valid(value):
            return []
        errors = find_errors(value, self.compiled, measure(value))
        found = [violation for error in errors for violation in _describe(error)]
        return found or [Violation("", "", "too_deep", "Does not conform; nested too deeply")]


def _describe(error: Any) -> Iterator[Violation]:
    """Yield the violations of one error; missing and undeclared arguments are named one by one."""
    said, kind, path = describe(error), error.kind.name, error.instance_path
    keyword, message, is_missing = said["keyword"], said["message"], kind == "required"
    names = [str(path[0])] if path else [""]
    if not path and is_missing:
        names = [error.kind.as_dict()["property"]]
    elif not path and kind == "additionalProperties":
        names = error.kind.as_dict()["unexpected"]
        message = "the tool declares no such argument"
    for name in names:
        place = said["pointer"] or (name and f"/{escape(name)}")
        yield Violation(name, place, keyword, message, is_missing)


class Toolbox:
    """The declared tools, and the users' rules for the arguments of any tool."""

    def __init__(self, evaluator: str, tools: Any, rules: Settings | None, is_open: bool) -> None:
        """`evaluator` is named in errors. `is_open` means that calls may have other arguments."""
        self._given = evaluator, tools, rules, is_open
        self._overrides = rules.overrides if rules else []
        self._defaults = rules.defaults if rules else {}
        self._make_plain_node = lru_cache(_MOST_KEPT)(partial(self._make_node, schema=None))
        self.tools: dict[str, Tool] | None = None
        """The declared tools by name; None if nobody declares any."""
        if tools is None:
            return
        try:
            schemas = read_tools(tools)
            self.tools = {
                name: Tool(name, schema, self._make_node(name, schema), is_open=is_open)
                for name, schema in schemas.items()
            }
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
        evaluator, _, rules, is_open = self._given
        if isinstance(tools, (dict, list)):
            with suppress(TypeError, ValueError, OverflowError):  # objects of a framework
                tools = encode(tools).decode()
        if isinstance(tools, str):
            return _read_once(evaluator, tools, rules, is_open)
        return Toolbox(evaluator, tools, rules, is_open)

    def find_node(self, name: str) -> ToolNode:
        """Return the node of a tool's arguments; that of an undeclared tool is created once."""
        tool = self.tools.get(name) if self.tools else None
        return self._make_plain_node(name) if tool is None else tool.node

    def _make_node(self, name: str, schema: Any) -> ToolNode:
        overrides = [
            Override(each.steps[1:], each.settings)
            for each in self._overrides
            if each.steps[0] == name
            or (each.steps[0] == ANY and (schema is None or not _explain(each, schema)))
        ]
        return ToolNode.of_tool(name, schema, overrides, self._defaults)

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

    def check_expected(self, expected: Sequence[ToolCall], *, complete: bool | None) -> None:
        """Raise InvalidReferenceError for an expected call that its tool can never accept.

        `complete` means that a call has the expected arguments and no others. With None, only the
        names of tools are checked.
        """
        tools = self.tools
        for call in expected if tools is not None else ():
            tool = (tools or {}).get(call.name)
            if tool is None:
                raise InvalidReferenceError(
                    f"{self._given[0]}: there is no tool {call.name!r}, which the reference calls; "
                    f"{hint(call.name, tools or ())}"
                )
            refusal = None if complete is None else tool.refuse(call.arguments, complete=complete)
            if refusal:
                raise InvalidReferenceError(
                    f"{self._given[0]}: the tool {call.name!r} {refusal}, so no valid call can "
                    f"match the reference {quote(mark_alternatives(call.arguments))}"
                )


_read_once = lru_cache(maxsize=64)(Toolbox)


def read_rules(fields: Mapping[str, Any], defaults: Mapping[str, Any]) -> Settings:
    """Read settings by `TOOL/path`, and those of all arguments."""
    try:
        return Settings({f"/{path}": settings for path, settings in fields.items()}, defaults)
    except InvalidOptionError as error:  # users write the path without its first slash
        raise type(error)(str(error).replace("'/", "'", 1)) from error


def _explain(override: Override, schema: Any) -> str | None:
    """Return why a tool's schema does not have a path, or None if it does."""
    path = "".join(f"/{escape(step)}" for step in override.steps[1:])
    try:
        check_path(path, override.settings, schema)
    except InvalidOptionError as error:
        return str(error).removeprefix("fields: ")
    return None
