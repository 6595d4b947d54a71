"""What a schema requires at each place of a document that is still being written."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import jsonschema_rs

from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.schemas.document import DEFINITIONS, items_of, subschemas
from llmeval_integrations.schemas.errors import describe
from llmeval_integrations.schemas.validator import CompiledSchema
from llmeval_integrations.schemas.walk import Schemas, declarations

_MOST_STEPS: Final = 10_000
"""How many members are remembered; an object with many names would fill the memory."""


class Problem(NamedTuple):
    """Why a value violates a schema, and at which place within that value."""

    pointer: str
    keyword: str
    reason: str


@lru_cache(maxsize=64)
class Places:
    """What a schema requires at each place of a document. A place is a Schemas."""

    def __init__(self, schema: CompiledSchema) -> None:
        self._schema = schema
        root = _read_root(schema)
        self.root = Schemas.of(root)
        """The place of the whole document."""
        self._paths: dict[int, str] = {}
        self._add_paths(root, "")
        self._validators: dict[str, Any] = {}
        self._steps: dict[tuple[int, str | int], tuple[Problem | None, Schemas]] = {}

    def find(self, place: Schemas, value: Any) -> Problem | None:
        """Return why a complete value violates the schemas at a place."""
        if place is self.root:
            return None if self._schema.is_valid(value) else self._find("", value)
        found = (self._find(self._paths[id(one)], value) for one in place.own)
        return next((problem for problem in found if problem), None)

    def refuse(self, place: Schemas, container: Any) -> Problem | None:
        """Return why no object, or no array, is valid at a place."""
        name = "object" if type(container) is dict else "array"
        for part in place.certain:
            types = part.get("type", name)
            if name not in ([types] if isinstance(types, str) else types):
                return Problem("", "type", f"an {name} is not of type {quote(types)}")
        return None

    def enter(self, place: Schemas, step: str | int) -> tuple[Problem | None, Schemas]:
        """Return the place at a name or position, and why no value is valid there."""
        if isinstance(step, int):  # all items after the listed schemas share one place
            step = min(step, max((len(items_of(part)[0]) for part in place.certain), default=0))
        key = id(place), step
        found = self._steps.get(key)
        if found is None:
            if len(self._steps) >= _MOST_STEPS:
                self._steps.clear()
            if isinstance(step, int):
                found = None, place.item(step)
            else:
                found = _refuse_name(place, step), place.member(step)
            self._steps[key] = found
        return found

    def _add_paths(self, value: Any, path: str) -> None:
        """Store the pointer of each part of the schema."""
        self._paths[id(value)] = path
        if isinstance(value, (dict, list)):
            for step, part in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(part, (dict, list)):
                    self._add_paths(part, f"{path}/{escape(str(step))}")

    def _find(self, path: str, value: Any) -> Problem | None:
        """Return why a value violates a part; None also if the part cannot be checked alone."""
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
            found = describe(error)
            return Problem(found["pointer"], found["keyword"], found["message"])
        return None


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


def _refuse_name(place: Schemas, name: str) -> Problem | None:
    for part in place.certain:
        declared = list(declarations(part, name))
        keyword = "properties" if declared else "additionalProperties"
        if False in (declared or [part.get("additionalProperties")]):
            return Problem("", keyword, f"{quote(name)} is not allowed here")
    return None
