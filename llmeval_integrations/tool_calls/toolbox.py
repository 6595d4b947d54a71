"""The tools that there are, and what their schemas have against a call."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError, InvalidSchemaError
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.schemas.compiled import compile_schema
from llmeval_integrations.schemas.document import DEFINITIONS, list_of, object_of
from llmeval_integrations.schemas.errors import describe, find_errors, measure, shorten
from llmeval_integrations.schemas.reading import REMARKS, encode, refuse_nan
from llmeval_integrations.tool_calls.definition import read_tools
from llmeval_integrations.tool_calls.reference import is_optional
from llmeval_integrations.tool_calls.rules import NO_RULES, ArgumentRules

# A schema with one of these may name properties elsewhere than under `properties`.
_OPEN: Final = frozenset(
    [
        *("additionalProperties", "unevaluatedProperties", "patternProperties"),
        *("$ref", "$dynamicRef", "$recursiveRef"),
    ]
)
_PARTS: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else")
_BY_NAME: Final = ("dependentSchemas", "dependencies")

# What these say is about one argument.
_ABOUT_ARGUMENTS: Final = frozenset(
    [
        *("type", "properties", "required", "additionalProperties", "patternProperties"),
        *("$schema", *DEFINITIONS, *REMARKS),
    ]
)


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


_TOO_DEEP: Final = Violation(
    None, "", "too_deep", "Does not conform; nested too deeply to say where"
)


class Tool:
    """One tool: what it may be given, and how that is compared."""

    def __init__(
        self, name: str, schema: dict[str, Any], is_open: bool, rules: ArgumentRules
    ) -> None:
        """`is_open` says that a call may have arguments that the schema does not name."""
        self.node = rules.node(name, schema)
        self.schema = schema
        self._options = name, schema, is_open, rules
        self._lists_all = not is_open and "properties" in schema and not _speaks_of_others(schema)
        asked = {**schema, "additionalProperties": False} if self._lists_all else schema
        try:
            self.compiled = compile_schema(encode(asked).decode(), None, False, "markdown")
        except InvalidSchemaError as error:
            raise InvalidSchemaError(f"the tool {name!r}: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return Tool, self._options  # what is compiled cannot be pickled

    def refusal(self, arguments: dict[str, Any], *, complete: bool) -> str | None:
        """Say why no call of the tool can have these arguments, whatever they hold.

        `complete` says that it has no others. None where that is not sure.
        """
        if self._is_closed():
            declared = object_of(self.schema, "properties")
            for name, value in arguments.items():
                if name not in declared and not is_optional(value):
                    return f"declares no argument {name!r}"
        for name in list_of(self.schema, "required") if complete else ():
            if name not in arguments and self.node.member(name).default is MISSING:
                return f"requires {name!r}"
        return None

    def _is_closed(self) -> bool:
        """Whether the tool takes only arguments that it declares, as its definition has it.

        One that declares none may have been defined without its arguments.
        """
        if self._lists_all:
            return bool(self.schema["properties"]) and "propertyNames" not in self.schema
        return (
            self.schema.get("additionalProperties") is False
            and "patternProperties" not in self.schema
        )

    def requires(self, name: str) -> bool:
        """Whether a call has to have an argument."""
        return name in list_of(self.schema, "required")

    def names(self, arguments: Iterable[str]) -> set[str]:
        """Return the arguments that violations may be about; "" for the call as a whole."""
        whole = () if self.schema.keys() <= _ABOUT_ARGUMENTS else ("",)
        return {*list_of(self.schema, "required"), *whole, *arguments}

    def find(self, arguments: dict[str, Any], parsing: Parsing) -> tuple[list[Violation], bool]:
        """List what is wrong with arguments that were read in this mode, and whether it is all."""
        value = refuse_nan(arguments, parsing)
        if isinstance(value, Defect):
            return [Violation(None, "", value.name, value.reason)], True
        if self.compiled.is_valid(value):
            return [], True
        extent = measure(value)
        errors, complete = find_errors(value, self.compiled, extent), extent.is_listed
        found = [violation for error in errors for violation in self._describe(error, value)]
        return found or [_TOO_DEEP], complete

    def find_others(
        self, decided: Collection[str], arguments: dict[str, Any], parsing: Parsing
    ) -> list[Violation]:
        """List what is wrong with other arguments than those on which a reference decides.

        What is missing and has a default is not wrong.
        """
        found, complete = self.find(arguments, parsing)
        if not complete:  # the one that is listed may be about these
            short = {name: shorten(arguments[name]) for name in decided if name in arguments}
            found, complete = self.find({**arguments, **short}, parsing)
        found = [
            one for one in found if not one.has_default and (one.argument or "") not in decided
        ]
        return found if found or complete else [_TOO_DEEP]

    def _describe(self, error: Any, arguments: dict[str, Any]) -> Iterator[Violation]:
        """Word an error; what is missing and what is not declared are named by argument."""
        said = describe(error)
        place, keyword, message = said["pointer"], said["keyword"], said["message"]
        steps = list(map(str, error.instance_path))
        if error.kind.name == "required":
            name = error.kind.as_dict()["property"]
            node = self.node.at(steps, arguments).member(name)
            argument, place = (steps[0], place) if steps else (name, f"/{escape(name)}")
            has_default = node.default is not MISSING
            yield Violation(argument, place, keyword, message, True, has_default)
        elif error.kind.name == "additionalProperties" and not steps:
            for name in error.kind.as_dict()["unexpected"]:
                why = "the tool declares no such argument"
                yield Violation(name, f"/{escape(name)}", keyword, why)
        else:
            yield Violation(steps[0] if steps else None, place, keyword, message)


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


Toolbox: TypeAlias = Mapping[str, Tool]
"""The tools that there are, by name."""


def read_toolbox(evaluator: Any, tools: Any, rules: ArgumentRules = NO_RULES) -> Toolbox:
    """Return an evaluator's tools by name; raise InvalidOptionError that names it."""
    try:
        return _read(tools, evaluator.allow_undeclared, rules)
    except InvalidOptionError as error:
        raise type(error)(f"{evaluator.name}: tools: {error}") from error


def sample_toolbox(
    evaluator: Any, sample: Sample, rules: ArgumentRules = NO_RULES
) -> Toolbox | None:
    """Return the tools in `variables["tools"]`, read once where many samples bring the same."""
    tools = sample.variables.get("tools") if isinstance(sample.variables, Mapping) else None
    if tools is None:
        return None
    text = parse(tools) if type(tools) in (dict, list) else tools
    if isinstance(text, (dict, list)):  # which objects of frameworks are not
        text = encode(text).decode()
    if type(text) is str:
        with suppress(InvalidOptionError):  # which is worded below
            return _read_once(text, evaluator.allow_undeclared, rules)
    return read_toolbox(evaluator, tools, rules)


def _read(tools: Any, is_open: bool, rules: ArgumentRules) -> Toolbox:
    return {name: Tool(name, schema, is_open, rules) for name, schema in read_tools(tools).items()}


_read_once = lru_cache(maxsize=64)(_read)
