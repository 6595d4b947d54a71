"""The declared tools, and how a call violates their schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    InvalidReferenceError,
    InvalidSchemaError,
)
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.limits import measure
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.node import is_optional
from llmeval_integrations.schemas.document import list_of, object_of
from llmeval_integrations.schemas.errors import describe, find_errors
from llmeval_integrations.schemas.parse import encode, refuse_nan
from llmeval_integrations.schemas.validator import compile_schema
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.definition import read_tools
from llmeval_integrations.tool_calls.expected import mark_alternatives
from llmeval_integrations.tool_calls.rules import NO_RULES, ArgumentRules

_OPEN: Final = frozenset(
    [
        *("additionalProperties", "unevaluatedProperties", "patternProperties"),
        *("$ref", "$dynamicRef", "$recursiveRef"),
    ]
)
"""Keywords by which a schema may allow properties that are not under `properties`."""


class Violation(msgspec.Struct, frozen=True):
    """A way in which a call violates a tool's schema."""

    argument: str | None
    """The argument's name; None if the violation is about the whole call."""

    pointer: str
    """The place as a JSON Pointer within the arguments."""

    keyword: str
    """The schema's keyword; `unknown_tool` and `unreadable` are ours."""

    message: str

    is_missing: bool = False
    """Whether a required argument is missing."""

    def __str__(self) -> str:
        return f"{self.message} at {self.pointer}" if self.pointer else self.message


class Tool:
    """One tool: the schema of its arguments, and the node that compares them."""

    def __init__(
        self, name: str, schema: dict[str, Any], is_open: bool, rules: ArgumentRules
    ) -> None:
        """`is_open` means that a call may have arguments that the schema does not declare."""
        self.node = rules.make_node(name, schema)
        self.schema = schema
        self._options = name, schema, is_open, rules
        self._lists_all = not is_open and "properties" in schema and _says_all(schema)
        asked = {**schema, "additionalProperties": False} if self._lists_all else schema
        try:
            self.compiled = compile_schema(encode(asked).decode(), None, False, "markdown")
        except InvalidSchemaError as error:
            raise InvalidSchemaError(f"the tool {name!r}: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return Tool, self._options  # a compiled schema cannot be pickled

    def requires(self, name: str) -> bool:
        """Return whether an argument is required."""
        return name in list_of(self.schema, "required")

    def refuse(self, arguments: dict[str, Any], *, complete: bool) -> str | None:
        """Return why no call of the tool can have arguments with these names, or None.

        With `complete`, the call has no other arguments. None means that a call may be valid. A
        tool without any declared argument may have been defined without its schema.
        """
        schema, declared = self.schema, object_of(self.schema, "properties")
        is_closed = (
            schema.get("additionalProperties") is False and "patternProperties" not in schema
        )
        if self._lists_all:
            is_closed = bool(declared) and "propertyNames" not in schema
        for name, value in arguments.items() if is_closed else ():
            if name not in declared and not is_optional(value):
                return f"declares no argument {name!r}"
        for name in list_of(schema, "required") if complete else ():
            if name not in arguments and self.node.member(name).default is MISSING:
                return f"requires {name!r}"
        return None

    def find(self, arguments: dict[str, Any], parsing: Parsing) -> list[Violation]:
        """List the violations by arguments that were parsed in this mode.

        For very large or deep arguments, only the first is listed.
        """
        value = refuse_nan(arguments, parsing)
        if isinstance(value, Defect):
            return [Violation(None, "", value.name, value.reason)]
        if self.compiled.is_valid(value):
            return []
        errors = find_errors(value, self.compiled, measure(value))
        found = [violation for error in errors for violation in _describe(error)]
        too_deep = "Does not conform; nested too deeply to say where"
        return found or [Violation(None, "", "too_deep", too_deep)]


def _describe(error: Any) -> Iterator[Violation]:
    """Yield the violations of one error; missing and undeclared arguments are named one by one."""
    said, kind = describe(error), error.kind.name
    place, keyword, message = said["pointer"], said["keyword"], said["message"]
    steps, is_missing = [*map(str, error.instance_path)], kind == "required"
    if is_missing and not steps:
        name = error.kind.as_dict()["property"]
        yield Violation(name, f"/{escape(name)}", keyword, message, is_missing)
    elif kind == "additionalProperties" and not steps:
        for name in error.kind.as_dict()["unexpected"]:
            why = "the tool declares no such argument"
            yield Violation(name, f"/{escape(name)}", keyword, why)
    else:
        yield Violation(steps[0] if steps else None, place, keyword, message, is_missing)


def _says_all(schema: dict[str, Any]) -> bool:
    """Return whether a schema lists all its properties itself, not in schemas combined with it."""
    named, waiting = object_of(schema, "properties").keys(), [schema]
    for part in waiting:
        if not _OPEN.isdisjoint(part) or not object_of(part, "properties").keys() <= named:
            return False
        inner = [one for key in ("allOf", "anyOf", "oneOf") for one in list_of(part, key)]
        inner += [part.get(key) for key in ("if", "then", "else")]
        for key in ("dependentSchemas", "dependencies"):
            inner += object_of(part, key).values()
        waiting += [one for one in inner if isinstance(one, dict)]
    return True


Toolbox: TypeAlias = Mapping[str, Tool]
"""The declared tools, by name."""


def read_toolbox(
    evaluator: str, tools: Any, rules: ArgumentRules = NO_RULES, *, is_open: bool
) -> Toolbox:
    """Return the tools by name; InvalidOptionError names the evaluator.

    `is_open` means that calls may have arguments that their tool does not declare.
    """
    try:
        return _read(tools, is_open, rules)
    except InvalidOptionError as error:
        raise type(error)(f"{evaluator}: tools: {error}") from error


def sample_toolbox(
    evaluator: str, sample: Sample, rules: ArgumentRules = NO_RULES, *, is_open: bool
) -> Toolbox | None:
    """Return the tools in `variables["tools"]`; they are read once if samples have the same."""
    tools = sample.variables.get("tools") if isinstance(sample.variables, Mapping) else None
    if tools is None:
        return None
    text = parse(tools) if type(tools) in (dict, list) else tools
    if isinstance(text, (dict, list)):  # JSON, not an object of a framework
        text = encode(text).decode()
    if type(text) is str:
        with suppress(InvalidOptionError):  # `read_toolbox` raises it with the evaluator's name
            return _read_once(text, is_open, rules)
    return read_toolbox(evaluator, tools, rules, is_open=is_open)


def _read(tools: Any, is_open: bool, rules: ArgumentRules) -> Toolbox:
    return {name: Tool(name, schema, is_open, rules) for name, schema in read_tools(tools).items()}


_read_once = lru_cache(maxsize=64)(_read)


def check_expected(
    evaluator: str, expected: Sequence[ToolCall], toolbox: Toolbox, *, complete: bool | None
) -> None:
    """Raise InvalidReferenceError for an expected call that its tool can never accept.

    `complete` means that a call has the expected arguments and no others. With None, only the names
    of tools are checked.
    """
    for call in expected:
        if call.name not in toolbox:
            raise InvalidReferenceError(
                f"{evaluator}: there is no tool {call.name!r}, which the reference calls; "
                f"{hint(call.name, toolbox)}"
            )
        if complete is None:
            continue
        refusal = toolbox[call.name].refuse(call.arguments, complete=complete)
        if refusal:
            raise InvalidReferenceError(
                f"{evaluator}: the tool {call.name!r} {refusal}, so no valid call can match the "
                f"reference {quote(mark_alternatives(call.arguments))}"
            )
