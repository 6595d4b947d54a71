"""Is each call valid for the tool that it names?"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from json import JSONDecoder
from typing import Any

import msgspec

from llmeval_integrations.core.errors import (
    InvalidOptionError,
    InvalidSchemaError,
    MissingFieldError,
)
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.options import check_choice, check_flag
from llmeval_integrations.core.printable import printable
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.json_validity import defective
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import PARSINGS, Parsing, parse
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.schemas.document import (
    DEFINITIONS,
    SchemaDocument,
    list_of,
    object_of,
    read_pointer,
)
from llmeval_integrations.schemas.keywords import REMARKS
from llmeval_integrations.schemas.reading import encode
from llmeval_integrations.schemas.walk import declared
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.definition import read_tools
from llmeval_integrations.tool_calls.expected import is_optional
from llmeval_integrations.tool_calls.node import Read, ToolNode
from llmeval_integrations.tool_calls.read import read_calls

# A schema with one of these may name properties elsewhere than under `properties`.
_OPEN = frozenset(
    [
        *("additionalProperties", "unevaluatedProperties", "patternProperties"),
        *("$ref", "$dynamicRef", "$recursiveRef"),
    ]
)
_PARTS = ("allOf", "anyOf", "oneOf", "if", "then", "else")
_BY_NAME = ("dependentSchemas", "dependencies")

# What these say is about one argument.
_ABOUT_ARGUMENTS = frozenset(
    [
        *("type", "properties", "required", "additionalProperties", "patternProperties"),
        *("$schema", *DEFINITIONS, *REMARKS),
    ]
)

_MISSING = " is a required property"
"""How the message of `required`, `dependentRequired` and `dependencies` ends, behind the name."""

_raw_decode = JSONDecoder().raw_decode


class Violation(msgspec.Struct, frozen=True):
    """What a tool's schema has against a call."""

    argument: str | None
    """The argument's name; None where the call as a whole is meant."""

    pointer: str
    """The place as a JSON Pointer within the arguments."""

    keyword: str
    """The schema's keyword; `unknown_tool` and `unreadable` are ours."""

    message: str

    is_missing: bool = False
    """Whether it is an argument that has to be given, and is not."""

    has_default: bool = False
    """Whether the schema has a default for it."""

    def __str__(self) -> str:
        return f"{self.message} at {self.pointer}" if self.pointer else self.message


class Toolbox:
    """The tools that there are, and what they may be given."""

    def __init__(self, tools: Any, *, allow_undeclared: bool, read: Read | None = None) -> None:
        self.schemas = read_tools(tools)
        self.nodes = {
            name: ToolNode.root(schema, read=read) for name, schema in self.schemas.items()
        }
        self._names = {
            name: {
                *list_of(schema, "required"),
                *([] if schema.keys() <= _ABOUT_ARGUMENTS else [""]),
            }
            for name, schema in self.schemas.items()
        }
        self._validators = {
            name: _validator(name, schema if allow_undeclared else _closed(schema))
            for name, schema in self.schemas.items()
        }

    @classmethod
    def of(cls, evaluator: Any, tools: Any, read: Read | None = None) -> Toolbox:
        """Read an evaluator's tools; raise InvalidOptionError that names it."""
        try:
            return cls(tools, allow_undeclared=evaluator.allow_undeclared, read=read)
        except InvalidOptionError as error:
            raise type(error)(f"{evaluator.name}: tools: {error}") from error

    @classmethod
    def of_sample(cls, evaluator: Any, tools: Any, read: Read | None = None) -> Toolbox:
        """Read the tools that a sample brings, once where others bring the same ones."""
        text = parse(tools) if type(tools) in (dict, list) else tools
        if isinstance(text, (dict, list)):  # which objects of frameworks are not
            text = encode(text).decode()
        if type(text) is str:
            with suppress(InvalidOptionError):  # which is worded below
                return _read_once(text, evaluator.allow_undeclared, read)
        return cls.of(evaluator, tools, read)

    def refusal(self, call: ToolCall, *, complete: bool) -> str | None:
        """Say why no call of a tool that there is can have these arguments, whatever they hold.

        `complete` says that it has no others. None where that is not sure.
        """
        schema, part, given = self.schemas[call.name], self.nodes[call.name], call.arguments
        if self._surely_closed(call.name):
            declared = object_of(schema, "properties")
            for name in given:
                if name not in declared and not is_optional(given[name]):
                    return f"declares no argument {name!r}"
        for name in list_of(schema, "required") if complete else ():
            if name not in given and part.member(name).default is MISSING:
                return f"requires {name!r}"
        return None

    def _surely_closed(self, tool: str) -> bool:
        """Whether a tool takes only arguments that it declares, as its definition has it.

        One that declares none may have been defined without its arguments.
        """
        own, closed = self.schemas[tool], self._validators[tool].schema
        if closed.get("additionalProperties") is not False or "patternProperties" in own:
            return False
        if "additionalProperties" in own:
            return True
        return bool(own["properties"]) and "propertyNames" not in own

    def names_of_errors(self, tool: str, arguments: Iterable[str]) -> set[str]:
        """Return the arguments that errors may be about; an empty name for the call as a whole."""
        return self._names[tool].union(arguments)

    def violations(self, call: ToolCall) -> list[Violation]:
        """List what is wrong with a call."""
        if call.problem is not None:
            return [Violation(None, "", "unreadable", call.problem)]
        validator = self._validators.get(call.name)
        if validator is None:
            return [Violation(None, "", "unknown_tool", "there is no such tool")]
        result = validator.check(Sample(call.arguments))
        if result.passed:
            return []
        errors = result.metadata.get("errors", ())
        if not errors:
            return [Violation(None, "", result.label or "schema", result.reason or "")]
        return [found for error in errors for found in self._by_argument(error, call)]

    def _by_argument(self, error: dict[str, Any], call: ToolCall) -> list[Violation]:
        """Word an error; what is missing and what is not declared are named by argument."""
        pointer, keyword = error["pointer"], error["keyword"]
        if error["message"].endswith(_MISSING):
            return [self._missing(error, call)]
        if keyword == "additionalProperties" and not pointer:
            names = self._undeclared(error["schema_pointer"], call)
            why = "the tool declares no such argument"
            if names:
                return [Violation(name, f"/{escape(name)}", keyword, why) for name in names]
        argument = next(iter(read_pointer(pointer)), None)
        return [Violation(argument, pointer, keyword, error["message"])]

    def _missing(self, error: dict[str, Any], call: ToolCall) -> Violation:
        pointer, message = error["pointer"], error["message"]
        name, _ = _raw_decode(message)
        steps = read_pointer(pointer)
        part = self.nodes[call.name].at(steps, call.arguments).member(name)
        argument, place = (steps[0], pointer) if steps else (name, f"/{escape(name)}")
        has_default = part.default is not MISSING
        return Violation(argument, place, error["keyword"], message, True, has_default)

    def _undeclared(self, place: str, call: ToolCall) -> list[str]:
        """Name the arguments that the schema's `additionalProperties` at this place refuses."""
        reference = "#" + place.rpartition("/")[0].replace("%", "%25")
        schema = SchemaDocument(self.schemas[call.name]).resolve(reference)
        if not isinstance(schema, dict):
            return []
        return [name for name in call.arguments if not any(True for _ in declared(schema, name))]


def _validator(name: str, schema: dict[str, Any]) -> JsonSchema:
    try:
        return JsonSchema(schema)
    except InvalidSchemaError as error:
        raise InvalidSchemaError(f"the tool {name!r}: {error}") from error


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Let a schema that lists the arguments allow no others, unless it speaks of them itself."""
    if "properties" not in schema or _speaks_of_others(schema):
        return schema
    return {**schema, "additionalProperties": False}


def _speaks_of_others(schema: Any, named: Container[str] | None = None) -> bool:
    """Whether a schema, or a part of it, names other properties than its own `properties` do."""
    if isinstance(schema, list):
        return any(_speaks_of_others(part, named) for part in schema)
    if not isinstance(schema, dict):
        return False
    own = object_of(schema, "properties")
    named = own if named is None else named
    if not _OPEN.isdisjoint(schema) or not all(name in named for name in own):
        return True
    parts = [schema[key] for key in _PARTS if key in schema]
    parts += [part for key in _BY_NAME for part in object_of(schema, key).values()]
    return any(_speaks_of_others(part, named) for part in parts)


@lru_cache(maxsize=64)
def _read_once(text: str, allow_undeclared: bool, read: Read | None) -> Toolbox:
    return Toolbox(text, allow_undeclared=allow_undeclared, read=read)


def sample_tools(sample: Sample) -> Any:
    """Return `variables["tools"]`, or None."""
    variables = sample.variables
    return variables.get("tools") if isinstance(variables, Mapping) else None


@dataclass(frozen=True)
class ToolCallSchema(Evaluator):
    """Is each call valid for the tool that it names?

    Score: the share of the calls that are, from 0 to 1; 1 where there is no call. Calls and tools
    are read from the shapes that ToolCalls reads, and what an API calls by itself is not a call.
    The reason names the first call that is not valid, the label is the keyword of its schema,
    `unknown_tool` or `unreadable`. Metadata: `calls`, each with `name`, `valid` and `errors`
    (`pointer`, `keyword`, `message`); `called` and `valid`, how many.
    """

    tools: Any = field(default=None, hash=False)
    """The definitions; None takes each sample's `variables["tools"]`."""

    allow_undeclared: bool = False
    """Whether a call may have arguments that the tool's schema does not name. Without it a schema
    that lists `properties`, and says nothing about others, allows no others."""

    parsing: Parsing = "markdown"
    """How much may stand around the JSON of calls and arguments."""

    def __post_init__(self) -> None:
        check_flag(self, "allow_undeclared")
        check_choice(self, "parsing", PARSINGS)
        toolbox = None if self.tools is None else Toolbox.of(self, self.tools)
        object.__setattr__(self, "_toolbox", toolbox)

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The variables are needed where there are no tools of our own."""
        return ("variables",) if self.tools is None else ()

    def check(self, sample: Sample) -> Result:
        toolbox: Toolbox | None = self._toolbox  # type: ignore[attr-defined]
        if toolbox is None:
            tools = sample_tools(sample)
            if tools is None:
                raise MissingFieldError(
                    f"{self.name} needs tools: the option tools=... or variables['tools']"
                )
            toolbox = Toolbox.of_sample(self, tools)
        calls = read_calls(sample.output, self.parsing)
        if isinstance(calls, Defect):
            return defective(calls, 0.0)
        return _judged(calls, [toolbox.violations(call) for call in calls])


def _judged(calls: list[ToolCall], found: list[list[Violation]]) -> Result:
    rows = [
        {
            "name": call.name,
            "valid": not violations,
            "errors": [
                {"pointer": one.pointer, "keyword": one.keyword, "message": one.message}
                for one in violations
            ],
        }
        for call, violations in zip(calls, found)
    ]
    valid = found.count([])
    metadata: dict[str, Any] = {"calls": rows, "called": len(calls), "valid": valid}
    if valid == len(calls):
        reason = "No call" if not calls else f"Valid: {len(calls)} of {len(calls)} calls"
        return Result(1.0, True, None, reason, metadata)
    call, violations = next((call, wrong) for call, wrong in zip(calls, found) if wrong)
    reason = f"{call.name[:80]}: {violations[0]}" if call.name else str(violations[0])
    others = sum(map(len, found)) - 1
    reason = printable(reason) + (f"; and {others} more" if others else "")
    return Result(valid / len(calls), False, violations[0].keyword, reason, metadata)
