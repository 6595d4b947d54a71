"""Read JSON in chunks while it is written, and check each part as soon as it is complete."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, NoReturn

import jsonschema_rs

from llmeval_integrations.core.limits import MAX_DEPTH
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.parse import Parsing
from llmeval_integrations.json_values.values import DECODE_ERRORS, decode, escape, measure, pointer
from llmeval_integrations.schemas.document import DEFINITIONS, items_of, subschemas
from llmeval_integrations.schemas.errors import describe, find_errors
from llmeval_integrations.schemas.validator import CompiledSchema
from llmeval_integrations.schemas.walk import Schemas, declarations

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(
    r'[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*'
)
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_WORD: Final = re.compile(r'[^ \t\n\r,:\[\]{}"`~]*')

_FENCE: Final = re.compile(r"(?:`+|~+)[ \t]*[\w.+-]{0,40}[ \t]*\r?")
"""The first line of a fence. Any other first line can only be judged with the whole text."""

_MOST_STEPS: Final = 10_000
"""How many members are remembered; an object with many names would fill the memory."""


class Doomed(NamedTuple):
    """Where and why a text fails: whatever follows, it will not conform."""

    offset: int
    """How many characters of the text, or of the call's arguments, were enough to decide this."""

    pointer: str
    """The place of the problem as a JSON Pointer."""

    keyword: str
    """The keyword of the schema, or `unexpected_character` if the text is not JSON."""

    reason: str
    """What is wrong."""


class _FailureError(Exception):
    """The text fails; `pointer` leads on from the open place."""

    def __init__(self, keyword: str, reason: str, pointer: str = "") -> None:
        super().__init__(reason)
        self.keyword, self.reason, self.pointer = keyword, reason, pointer


@dataclass
class _Container:
    """An open object or array."""

    place: Schemas
    value: Any
    step: Any
    """The name or position of the next member; None before a name."""


class Reader:
    """Reads one text, or the arguments of one call."""

    def __init__(self, schema: CompiledSchema, parsing: Parsing) -> None:
        self._places, self._parsing = Places(schema), parsing
        self._is_wrapped = self._leads = parsing != "strict"  # white space or a fence is allowed
        self._rest = ""  # the end of the last chunk, if it is needed with the next one
        self._offset = 0  # where the rest begins in the whole text
        self._end = 0  # how many characters of the rest and the chunk have been needed
        self._scalar: list[str] = []  # the parts of the open string, number or literal
        self._open: list[_Container] = []
        self._expects = "value"

    def feed(self, chunk: str) -> Doomed | None:
        """Read a chunk; return where and why the text fails, or None while it may conform."""
        text, self._rest = self._rest + chunk, ""
        try:
            position = self._skip_lead(text) if self._leads else 0
            while position < len(text):
                if self._scalar:
                    position = self._read_scalar(text, position)
                    continue
                position = _find_end(_SPACE, text, position)
                if position < len(text):
                    position = self._end = position + 1
                    self._read_mark(text[position - 1])
        except _FailureError as failure:
            path = pointer(one.step for one in self._open if one.step is not None)
            path += failure.pointer
            return Doomed(self._offset + self._end, path, failure.keyword, failure.reason)
        self._offset += len(text) - len(self._rest)
        return None

    def _skip_lead(self, text: str) -> int:
        """Return where the JSON begins after white space or the first line of a fence."""
        begin = _find_end(_SPACE, text, 0)
        line, newline, _ = text[begin:].partition("\n")
        if not line.startswith(("`", "~")):
            self._leads = begin == len(text)
            return begin
        if not _FENCE.fullmatch(line):
            self._leads, self._expects = False, "anything"
        elif newline:
            self._leads = False
            return begin + len(line) + 1
        else:
            self._rest = text
        return len(text)

    def _read_scalar(self, text: str, position: int) -> int:
        """Read on in a string, number or literal; return where it ends, or the text."""
        is_string = self._scalar[0] == '"'
        end = _find_end(_STRING if is_string else _WORD, text, position)
        self._scalar.append(text[position:end])
        if end == len(text):
            return end
        self._end = end + 1
        if is_string and text[end] != '"':
            begun = _ESCAPE.match(text, end)
            wrong = begun.end() if begun else end
            if not begun or wrong < len(text):
                self._end = wrong + 1
                _refuse(text[end : self._end])
            self._rest = text[end:]
            return len(text)
        written, self._scalar = "".join(self._scalar) + '"' * is_string, []
        try:
            value = decode(written)
        except DECODE_ERRORS:
            _refuse(written)
        if self._expects.startswith("name"):
            self._add_name(value)
        else:
            self._add(value)
        return end + is_string

    def _read_mark(self, mark: str) -> None:
        """Read a separator, a bracket, or the first character of a scalar."""
        expects, container = self._expects, self._open[-1] if self._open else None
        if expects == "anything" or (expects == "nothing" and self._is_wrapped and mark in "`~"):
            return
        if mark == ":" and expects == "colon":
            self._expects = "value"
        elif container and mark == "," and expects == "comma or end":
            self._expects = "value" if type(container.value) is list else "name"
        elif container and mark == ("]" if type(container.value) is list else "}"):
            if not expects.endswith("end"):
                _refuse(mark)
            self._open.pop()
            self._add(container.value)
        elif mark == '"' and expects.startswith(("value", "name")):
            self._scalar = ['"']
        elif mark in "[{" and expects.startswith("value"):
            self._open_container([] if mark == "[" else {})
        elif mark in "-0123456789tfn" and expects.startswith("value"):
            self._scalar = [mark]
        else:
            _refuse(mark)

    def _open_container(self, value: Any) -> None:
        place = self._next_place()
        self._places.check_type(place, value)
        if len(self._open) == MAX_DEPTH:
            reason = f"more than {MAX_DEPTH} levels of arrays and objects"
            raise _FailureError("too_deep", reason)
        is_list = type(value) is list
        self._open.append(_Container(place, value, 0 if is_list else None))
        self._expects = "value or end" if is_list else "name or end"

    def _add_name(self, name: str) -> None:
        container = self._open[-1]
        if name in container.value and self._parsing == "strict":
            raise _FailureError("duplicate_key", f"Duplicate key {name!r}")
        container.step = name
        self._places.check_name(container.place, name)
        self._expects = "colon"

    def _add(self, value: Any) -> None:
        """Check a complete value, and add it to its container."""
        self._places.check(self._next_place(), value)
        self._expects = "comma or end" if self._open else "nothing"
        if not self._open:
            return
        container = self._open[-1]
        if type(container.value) is list:
            container.value.append(value)
            container.step += 1
        else:
            container.value[container.step] = value
            container.step = None

    def _next_place(self) -> Schemas:
        """Return the place of the next value."""
        if not self._open:
            return self._places.root
        return self._places.enter(self._open[-1].place, self._open[-1].step)


def _refuse(written: str) -> NoReturn:
    """Stop at what JSON cannot have at a place."""
    raise _FailureError("unexpected_character", f"{quote(written)} cannot be read as JSON here")


def _find_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where the match ends. The pattern must be able to match an empty text."""
    return pattern.match(text, position).end()  # type: ignore[union-attr]


@lru_cache(maxsize=64)
class Places:
    """What a schema requires at each place of a document. A place is a Schemas.

    Its checks raise _FailureError.
    """

    def __init__(self, schema: CompiledSchema) -> None:
        self._schema = schema
        root = _read_root(schema)
        self.root = Schemas.of(root)
        """The place of the whole document."""
        self._paths: dict[int, str] = {}
        self._add_paths(root, "")
        self._validators: dict[str, Any] = {}
        self._steps: dict[tuple[int, str | int], Schemas] = {}

    def check(self, place: Schemas, value: Any) -> None:
        """Check a complete value by the schemas at a place."""
        if place is not self.root:
            for schema in place.own:
                self._check_part(self._paths[id(schema)], value)
        elif not self._schema.is_valid(value):
            raise _failure(find_errors(value, self._schema, measure(value))[0])

    def check_type(self, place: Schemas, container: Any) -> None:
        """Check whether an object, or an array, may be valid at a place."""
        name = "object" if type(container) is dict else "array"
        for part in place.certain:
            types = part.get("type", name)
            if name not in ([types] if isinstance(types, str) else types):
                raise _FailureError("type", f"an {name} is not of type {quote(types)}")

    def check_name(self, place: Schemas, name: str) -> None:
        """Check whether any value may be valid under a name."""
        for part in place.certain:
            declared = list(declarations(part, name))
            if False in (declared or [part.get("additionalProperties")]):
                keyword = "properties" if declared else "additionalProperties"
                raise _FailureError(keyword, f"{quote(name)} is not allowed here")

    def enter(self, place: Schemas, step: str | int) -> Schemas:
        """Return the place at a name or position."""
        if isinstance(step, int):  # all items after the listed schemas share one place
            step = min(step, max((len(items_of(part)[0]) for part in place.certain), default=0))
        key = id(place), step
        found = self._steps.get(key)
        if found is None:
            if len(self._steps) >= _MOST_STEPS:
                self._steps.clear()
            found = place.item(step) if isinstance(step, int) else place.member(step)
            self._steps[key] = found
        return found

    def _add_paths(self, value: Any, path: str) -> None:
        """Store the pointer of each part of the schema."""
        self._paths[id(value)] = path
        if isinstance(value, (dict, list)):
            for step, part in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(part, (dict, list)):
                    self._add_paths(part, f"{path}/{escape(str(step))}")

    def _check_part(self, path: str, value: Any) -> None:
        """Check a value by a part of the schema, unless the part cannot be checked alone."""
        if path not in self._validators:
            try:
                self._validators[path] = self._schema.build_part(path)
            except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
                self._validators[path] = None
        validator = self._validators[path]
        try:
            if validator is not None:
                validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            raise _failure(error) from None


def _failure(error: jsonschema_rs.ValidationError) -> _FailureError:
    found = describe(error)
    return _FailureError(found["keyword"], found["message"], found["pointer"])


def _read_root(schema: CompiledSchema) -> Any:
    """Return the schema, with only the keywords that its draft follows."""
    root = schema.read()
    parts = [part for part, _ in subschemas(root)]
    unknown = {"$dynamicRef", "$recursiveRef"}
    if schema.draft != "Draft202012Validator":
        unknown.add("prefixItems")
    for number, part in enumerate(parts):
        names = ("$id", "id", "$schema") if number else ()
        if unknown & part.keys() or any(isinstance(part.get(name), str) for name in names):
            return {}  # references may lead elsewhere, so only the end is checked
    for part in parts:
        if schema.has_lone_references and "$ref" in part:
            for key in part.keys() - {"$ref", *DEFINITIONS}:
                del part[key]
    return root
