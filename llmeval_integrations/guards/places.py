"""What surely holds for the values at one place of a document that is still being written."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import jsonschema_rs

from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.schemas.document import DEFINITIONS, items_of, object_of, subschemas
from llmeval_integrations.schemas.errors import describe
from llmeval_integrations.schemas.validator import CompiledSchema
from llmeval_integrations.schemas.walk import Schemas, declarations

_UNKNOWN: Final = {
    "Draft4Validator": ("const", "propertyNames", "prefixItems", "$dynamicRef", "$recursiveRef"),
    "Draft6Validator": ("prefixItems", "$dynamicRef", "$recursiveRef"),
    "Draft7Validator": ("prefixItems", "$dynamicRef", "$recursiveRef"),
    "Draft201909Validator": ("prefixItems", "$dynamicRef"),
    "Draft202012Validator": ("$recursiveRef",),
}
"""Keywords that a draft does not know, and that would be followed or asked here."""

_MOST_ALTERNATIVES: Final = 32
"""Each value is held against all alternatives of its place; more are told apart at the end."""

_MOST_PLACES: Final = 10_000
"""Of one schema; a place with alternatives left is one of its own, and texts may leave any."""

_MOST_STEPS: Final = 1_000
"""How many members a place remembers; an object may have any names."""


class Problem(NamedTuple):
    """What a schema has against a value, at a place within that value."""

    pointer: str
    keyword: str
    reason: str


NO_ALTERNATIVE: Final = Problem("", "anyOf", "The value fits none of the alternatives")


@lru_cache(maxsize=64)
def read_places(schema: CompiledSchema) -> Place:
    """Return the place of whole documents, from which all others are reached."""
    root = schema.read()
    parts = [part for part, _ in subschemas(root)]
    for part in parts[1:]:
        if any(isinstance(part.get(key), str) for key in ("$id", "id", "$schema")):
            root, parts = {}, []  # a reference may lead elsewhere; the whole tells
            break
    for part in parts:
        if schema.has_lone_references and "$ref" in part:
            for key in part.keys() - {"$ref", *DEFINITIONS}:
                del part[key]
        for key in _UNKNOWN[schema.draft]:
            part.pop(key, None)
    document = _Document(schema)
    document.add_pointers(root, "")
    place = document.place(Schemas.of(root))
    place.pointers = [""]
    return place


class _Document:
    """What all places of one schema share."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.schema = schema
        self.pointers: dict[int, str] = {}
        self.places: dict[int, Place] = {}
        self._checks: dict[str, Callable[[Any], bool]] = {"": schema.is_valid}

    def add_pointers(self, value: Any, pointer: str) -> None:
        """Note where each part of the schema stands."""
        self.pointers[id(value)] = pointer
        if isinstance(value, (dict, list)):
            for step, part in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(part, (dict, list)):
                    self.add_pointers(part, f"{pointer}/{escape(str(step))}")

    def place(self, schemas: Schemas) -> Place:
        """Return the place where these schemas hold."""
        place = self.places.get(id(schemas))
        if place is None:
            place = self.places[id(schemas)] = Place(schemas, self)
        return place

    def is_valid(self, pointer: str, value: Any) -> bool:
        """Whether a value conforms to a part; any does where the part cannot be checked alone."""
        check = self._checks.get(pointer)
        if check is None:
            try:
                check = self.schema.build_part(pointer).is_valid
            except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
                check = bool(pointer).__or__  # always true
            self._checks[pointer] = check
        return check(value)

    def explain(self, pointer: str, value: Any) -> Problem:
        """Say what a part of the schema has against a value that does not conform."""
        for words_errors in (True, False):  # a change for shorter errors may hide the part
            try:
                self.schema.build_part(pointer, words_errors=words_errors).validate(value)
            except jsonschema_rs.ValidationError as error:
                found = describe(error)
                return Problem(found["pointer"], found["keyword"], found["message"])
            except (jsonschema_rs.ReferencingError, ValueError):
                continue
        return Problem("", "schema", "The value does not conform")


class Place:
    """A place of a document: what is lost there, and which places are within."""

    def __init__(self, schemas: Schemas, document: _Document) -> None:
        self._schemas, self._document = schemas, document
        self.pointers = [document.pointers[id(one)] for one in schemas.own if type(one) is dict]
        """Those of the schemas that hold here."""
        self._steps: dict[str | int, tuple[Problem | None, Place]] = {}
        self._problems: dict[type, Problem | None] = {
            dict: self._refuse_kind("object", dict),
            list: self._refuse_kind("array", list),
        }
        self.most_members = self._least("maxProperties")
        self.most_items = self._least("maxItems")
        self._listed = max((len(items_of(part)[0]) for part in schemas.parts), default=0)

    @cached_property
    def alternatives(self) -> list[Place]:
        """This place, once for each alternative that may hold here; none where they are many."""
        choices = self._schemas.alternatives
        if len(choices) > _MOST_ALTERNATIVES:
            return []
        return [self._document.place(self._schemas.choose([one])) for one in choices]

    def narrow(self, holds: Callable[[Place], bool]) -> Place | None:
        """Return this place with the alternatives of which this holds; None where none is left."""
        if not self.alternatives:
            return self
        pairs = zip(self._schemas.alternatives, self.alternatives)
        left = [choice for choice, place in pairs if holds(place)]
        is_full = len(self._document.places) >= _MOST_PLACES
        if left and (is_full or len(left) == len(self.alternatives)):
            return self
        return self._document.place(self._schemas.choose(left)) if left else None

    def find(self, value: Any) -> Problem | None:
        """Return what the schemas that hold here have against a value that is whole."""
        for pointer in self.pointers:
            if not self._document.is_valid(pointer, value):
                return self._document.explain(pointer, value)
        return None

    def is_valid(self, value: Any) -> bool:
        """Whether the schemas that hold here have nothing against a value that is whole."""
        return all(self._document.is_valid(pointer, value) for pointer in self.pointers)

    def refuse(self, container: Any) -> Problem | None:
        """Say what is wrong with any object, or any array, here."""
        return self._problems[type(container)]

    def at(self, step: str | int) -> tuple[Problem | None, Place]:
        """Return what is wrong with any value at a name or position, and its place."""
        if isinstance(step, int):
            step = min(step, self._listed)  # all items behind those with a schema each are alike
        found = self._steps.get(step)
        if found is None:
            if len(self._steps) >= _MOST_STEPS:
                self._steps.clear()
            if isinstance(step, int):
                found = self._refuse_item(step), self._document.place(self._schemas.item(step))
            else:
                found = self._refuse_name(step), self._document.place(self._schemas.member(step))
            self._steps[step] = found
        return found

    def _refuse_kind(self, name: str, kind: type) -> Problem | None:
        if any(one is False for one in self._schemas.own):
            return Problem("", "falseSchema", "nothing is allowed here")
        for part in self._schemas.certain:
            types = part.get("type", name)
            if name not in ([types] if isinstance(types, str) else types):
                return Problem("", "type", f"an {name} is not of type {quote(types)}")
            for keyword, values in (("enum", part.get("enum")), ("const", [part.get("const")])):
                if keyword in part and kind not in map(type, values or ()):
                    return Problem("", keyword, f"an {name} is not {quote(part[keyword])}")
        return None

    def _least(self, keyword: str) -> float:
        figures = [part[keyword] for part in self._schemas.certain if keyword in part]
        return min(figures, default=float("inf"))

    def _refuse_name(self, name: str) -> Problem | None:
        for part in self._schemas.certain:
            if "propertyNames" in part:
                pointer = f"{self._document.pointers[id(part)]}/propertyNames"
                if not self._document.is_valid(pointer, name):
                    return Problem(*self._document.explain(pointer, name))._replace(
                        pointer="", keyword="propertyNames"
                    )
            declared = list(declarations(part, name))
            keyword = "patternProperties"
            if not declared and part.get("additionalProperties") is False:
                keyword = "additionalProperties"
            elif not any(one is False for one in declared):
                continue
            elif name in object_of(part, "properties"):
                keyword = "properties"
            return Problem("", keyword, f"{quote(name)} is not allowed here")
        return None

    def _refuse_item(self, position: int) -> Problem | None:
        for part in self._schemas.certain:
            listed, rest = items_of(part)
            if (listed[position] if position < len(listed) else rest) is False:
                return Problem("", "items", f"no item {position + 1} is allowed here")
        return None
