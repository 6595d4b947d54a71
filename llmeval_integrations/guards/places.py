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

_MOST_STEPS: Final = 1_000
"""How many members a place keeps; an object with many names would fill the memory."""


class Problem(NamedTuple):
    """Why a value violates a schema, and at which place within that value."""

    pointer: str
    keyword: str
    reason: str


@lru_cache(maxsize=64)
def read_places(schema: CompiledSchema) -> Place:
    """Return the place of the whole document, from which all other places are reached."""
    root = schema.read()
    parts = [part for part, _ in subschemas(root)]
    unknown = {"$dynamicRef", "$recursiveRef"}
    if schema.draft != "Draft202012Validator":
        unknown.add("prefixItems")
    for number, part in enumerate(parts):
        names = ("$id", "id", "$schema") if number else ()
        if unknown & part.keys() or any(isinstance(part.get(name), str) for name in names):
            root, parts = {}, []  # references may lead elsewhere, so only the end is checked
            break
    for part in parts:
        if schema.has_lone_references and "$ref" in part:
            for key in part.keys() - {"$ref", *DEFINITIONS}:
                del part[key]
    document = _Document(schema)
    document.add_pointers(root, "")
    place = document.place(Schemas.of(root))
    place.pointers = [""]
    return place


class _Document:
    """The data that all places of one schema share."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.schema = schema
        self.pointers: dict[int, str] = {}
        self._places: dict[int, Place] = {}
        self._validators: dict[str, Any] = {"": schema.error_validator}

    def add_pointers(self, value: Any, pointer: str) -> None:
        """Store the pointer of each part of the schema."""
        self.pointers[id(value)] = pointer
        if isinstance(value, (dict, list)):
            for step, part in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(part, (dict, list)):
                    self.add_pointers(part, f"{pointer}/{escape(str(step))}")

    def place(self, schemas: Schemas) -> Place:
        """Return the place to which these schemas apply."""
        if id(schemas) not in self._places:
            self._places[id(schemas)] = Place(schemas, self)
        return self._places[id(schemas)]

    def find(self, pointer: str, value: Any) -> Problem | None:
        """Return why a value violates a part; None also if the part cannot be checked alone."""
        if pointer not in self._validators:
            try:
                self._validators[pointer] = self.schema.build_part(pointer)
            except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
                self._validators[pointer] = None
        validator = self._validators[pointer]
        try:
            if validator is not None:
                validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            found = describe(error)
            return Problem(found["pointer"], found["keyword"], found["message"])
        return None


class Place:
    """A place of a document: which values fail there, and which places it contains."""

    def __init__(self, schemas: Schemas, document: _Document) -> None:
        self._schemas, self._document = schemas, document
        self.pointers = [document.pointers[id(one)] for one in schemas.own if type(one) is dict]
        """The pointers of the schemas that apply here."""
        self._steps: dict[str | int, tuple[Problem | None, Place]] = {}
        self._listed = max((len(items_of(part)[0]) for part in schemas.certain), default=0)

    def find(self, value: Any) -> Problem | None:
        """Return why a complete value violates the schemas that apply here."""
        found = (self._document.find(pointer, value) for pointer in self.pointers)
        return next((problem for problem in found if problem), None)

    def refuse(self, container: Any) -> Problem | None:
        """Return why no object, or no array, is valid here."""
        name = "object" if type(container) is dict else "array"
        for part in self._schemas.certain:
            types = part.get("type", name)
            if name not in ([types] if isinstance(types, str) else types):
                return Problem("", "type", f"an {name} is not of type {quote(types)}")
        return None

    def at(self, step: str | int) -> tuple[Problem | None, Place]:
        """Return the place at a name or position, and why no value is valid there."""
        # All items after the listed schemas share one place.
        key = min(step, self._listed) if isinstance(step, int) else step
        if key not in self._steps:
            if len(self._steps) >= _MOST_STEPS:
                self._steps.clear()
            if isinstance(key, int):
                problem, schemas = None, self._schemas.item(key)
            else:
                problem, schemas = self._refuse_name(key), self._schemas.member(key)
            self._steps[key] = problem, self._document.place(schemas)
        return self._steps[key]

    def _refuse_name(self, name: str) -> Problem | None:
        for part in self._schemas.certain:
            declared = list(declarations(part, name))
            keyword = "properties" if declared else "additionalProperties"
            if False in (declared or [part.get("additionalProperties")]):
                return Problem("", keyword, f"{quote(name)} is not allowed here")
        return None
