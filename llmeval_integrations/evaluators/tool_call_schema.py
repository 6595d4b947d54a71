"""Is each call valid for the tool that it names?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from json import JSONDecoder
from typing import Any

import msgspec

from llmeval_integrations.errors import InvalidOptionError, InvalidSchemaError, MissingFieldError
from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.json_validity import defective
from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_pointer import escape
from llmeval_integrations.json_text import PARSINGS, Parsing
from llmeval_integrations.options import check_choice, check_flag
from llmeval_integrations.printable import printable
from llmeval_integrations.result import Result
from llmeval_integrations.sample import MISSING, Sample
from llmeval_integrations.schemas.document import SchemaDocument, read_pointer
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.definition import read_tools
from llmeval_integrations.tool_calls.reading import read_calls
from llmeval_integrations.tool_calls.schema_parts import Read, SchemaPart, declared

# A schema with one of these may name properties elsewhere than under `properties`.
_OPEN = frozenset(
    [
        *("additionalProperties", "unevaluatedProperties", "patternProperties"),
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"),
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
        self.parts = {name: SchemaPart(schema, read=read) for name, schema in self.schemas.items()}
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
        errors = result.metadata.get("errors")
        if not errors:
            return [Violation(None, "", result.label or "schema", result.reason or "")]
        return [found for error in errors for found in self._of_arguments(error, call)]

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


def _validator(name: str, schema: dict[str, Any]) -> JsonSchema:
    try:
        return JsonSchema(schema)
    except InvalidSchemaError as error:
        raise InvalidSchemaError(f"the tool {name!r}: {error}") from error


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Let a schema that lists the arguments allow no others, unless it speaks of them itself."""
    if "properties" not in schema or not _OPEN.isdisjoint(schema):
        return schema
    return {**schema, "additionalProperties": False}


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
            toolbox = Toolbox.of(self, tools)
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
    metadata = {"calls": rows, "called": len(calls), "valid": valid}
    if valid == len(calls):
        reason = "No call" if not calls else f"Valid: {len(calls)} of {len(calls)} calls"
        return Result(1.0, True, None, reason, metadata)
    call, violations = next((call, wrong) for call, wrong in zip(calls, found) if wrong)
    reason = f"{call.name[:80]}: {violations[0]}" if call.name else str(violations[0])
    others = sum(map(len, found)) - 1
    reason = printable(reason) + (f"; and {others} more" if others else "")
    return Result(valid / len(calls), False, violations[0].keyword, reason, metadata)
