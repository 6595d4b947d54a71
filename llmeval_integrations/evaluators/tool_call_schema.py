"""Is each call valid for the tool that it names?"""

from __future__ import annotations

from collections.abc import Mapping
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
from llmeval_integrations.schemas.errors import MOST_LEVELS, is_deeper
from llmeval_integrations.schemas.keywords import REMARKS
from llmeval_integrations.schemas.reading import encode
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.definition import read_tools
from llmeval_integrations.tool_calls.differences import is_optional
from llmeval_integrations.tool_calls.reading import read_calls
from llmeval_integrations.tool_calls.schema_parts import Read, SchemaPart
from llmeval_integrations.tool_calls.schema_walk import declared

# A schema with one of these may name properties elsewhere than under `properties`.
_OPEN = frozenset(
    [
        *("additionalProperties", "unevaluatedProperties", "patternProperties"),
        *("$ref", "$dynamicRef", "$recursiveRef"),
    ]
)
_PARTS = ("allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies")

# What these say of an argument is so whatever other arguments there are.
_BY_ARGUMENT = frozenset(
    [
        *("type", "properties", "additionalProperties", "patternProperties"),
        *("$schema", *DEFINITIONS, *REMARKS),
    ]
)
_CONDITIONAL = frozenset(("then", "else"))
_TOO_DEEP = "too_deep"

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

    cut_short: bool = False
    """Whether there may be more of them, in a value of more than 16 levels."""

    def __str__(self) -> str:
        return f"{self.message} at {self.pointer}" if self.pointer else self.message


class Toolbox:
    """The tools that there are, and what they may be given."""

    def __init__(self, tools: Any, *, allow_undeclared: bool, read: Read | None = None) -> None:
        self.schemas = read_tools(tools)
        self.parts = {
            name: SchemaPart.root(schema, read=read) for name, schema in self.schemas.items()
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
        schema, part, given = self.schemas[call.name], self.parts[call.name], call.arguments
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
        if "errors_limit_reached" in result.metadata:
            return self._one_by_one(call, validator)
        return self._told(result, call)

    def _told(self, result: Result, call: ToolCall) -> list[Violation]:
        errors = result.metadata.get("errors", ())
        if not errors and not result.passed:
            return [Violation(None, "", result.label or "schema", result.reason or "")]
        return [found for error in errors for found in self._of_arguments(error, call)]

    def _one_by_one(self, call: ToolCall, validator: JsonSchema) -> list[Violation]:
        """List what is wrong with a call some arguments of which are too deep for that.

        Of each of these, and of the whole call, it is the first error, as others may follow; of
        the other arguments it is all that does not come from leaving the deep ones out.
        """
        whole = call.arguments
        deep = {name for name, value in whole.items() if is_deeper(value, MOST_LEVELS - 1)}
        rest = {name: value for name, value in whole.items() if name not in deep}
        errors = filter(_is_unconditional, validator(rest).metadata.get("errors", ()))
        told = [one for error in errors for one in self._of_arguments(error, call)]
        found = [one for one in told if one.argument is not None and one.argument not in deep]
        alone = _by_argument(validator.schema)
        for name in sorted(deep):
            given = msgspec.structs.replace(call, arguments={name: whole[name]})
            wrong = self._told(alone(given.arguments), given)
            found += [_cut_short(one, name) for one in wrong]
        known = {(one.pointer, one.keyword) for one in found}
        for one in self._told(validator(whole), call):
            if (one.pointer, one.keyword) not in known and not (found and one.keyword == _TOO_DEEP):
                found.append(_cut_short(one, one.argument if one.argument in deep else None))
        return found

    def _of_arguments(self, error: dict[str, Any], call: ToolCall) -> list[Violation]:
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
        part = self.parts[call.name].at(steps, call.arguments).member(name)
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


def _cut_short(violation: Violation, deep: str | None) -> Violation:
    """Say that there may be more of them; where in a deep argument, no default forgives it."""
    if deep is None:
        return msgspec.structs.replace(violation, cut_short=True)
    place = violation.pointer or f"/{escape(deep)}"
    return msgspec.structs.replace(
        violation, argument=deep, pointer=place, has_default=False, cut_short=True
    )


def _is_unconditional(error: dict[str, Any]) -> bool:
    """Whether an error is one whatever other arguments there are."""
    place = error["schema_pointer"].partition("/properties/")[0]
    return _CONDITIONAL.isdisjoint(read_pointer(place))


def _by_argument(schema: dict[str, Any]) -> JsonSchema:
    """Validate what a schema says of each argument by itself."""
    return JsonSchema({key: value for key, value in schema.items() if key in _BY_ARGUMENT})


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


def _speaks_of_others(schema: dict[str, Any]) -> bool:
    """Whether a schema, or a part of it, names other properties than its own `properties` do."""
    named = object_of(schema, "properties")
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        if not _OPEN.isdisjoint(part) or not object_of(part, "properties").keys() <= named.keys():
            return True
        for key in _PARTS:
            inner = part.get(key)
            if key in ("dependentSchemas", "dependencies"):
                inner = list(object_of(part, key).values())
            waiting += inner if isinstance(inner, list) else [inner]
    return False


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
    (`pointer`, `keyword`, `message`); `called` and `valid`, how many. Of an argument of more
    than 16 levels only the first error may be listed; `errors_limit_reached` says so.
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
    if any(one.cut_short for violations in found for one in violations):
        metadata["errors_limit_reached"] = True
    if valid == len(calls):
        reason = "No call" if not calls else f"Valid: {len(calls)} of {len(calls)} calls"
        return Result(1.0, True, None, reason, metadata)
    call, violations = next((call, wrong) for call, wrong in zip(calls, found) if wrong)
    reason = f"{call.name[:80]}: {violations[0]}" if call.name else str(violations[0])
    others = sum(map(len, found)) - 1
    reason = printable(reason) + (f"; and {others} more" if others else "")
    return Result(valid / len(calls), False, violations[0].keyword, reason, metadata)
