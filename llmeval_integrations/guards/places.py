"""What surely holds for the values at one place of a document that is still being written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.schemas.compiled import CompiledSchema
from llmeval_integrations.schemas.document import DEFINITIONS, items_of, object_of, subschemas
from llmeval_integrations.schemas.errors import describe
from llmeval_integrations.schemas.walk import Schemas, declarations

_UNKNOWN: Final = {
    "Draft4Validator": ("const", "propertyNames", "prefixItems", "$dynamicRef", "$recursiveRef"),
    "Draft6Validator": ("prefixItems", "$dynamicRef", "$recursiveRef"),
    "Draft7Validator": ("prefixItems", "$dynamicRef", "$recursiveRef"),
    "Draft201909Validator": ("prefixItems", "$dynamicRef"),
    "Draft202012Validator": ("$recursiveRef",),
}
"""Keywords that a draft does not know, and that would be followed or asked here."""

_OWN_BASE: Final = ("$id", "id", "$schema")

_MOST_ALTERNATIVES: Final = 32
"""Each value is held against all alternatives of its place; more are told apart at the end."""

_MOST_PLACES: Final = 10_000
"""Of one schema; a place with alternatives left is one of its own, and texts may leave any."""

_MOST_NAMES: Final = 1_000
"""How many names of members a place remembers; an object may have any names."""


class Problem(NamedTuple):
    """What a schema has against a value, at a place within that value."""

    pointer: str
    keyword: str
    reason: str


NO_ALTERNATIVE: Final = Problem("", "anyOf", "The value fits none of the alternatives")


@lru_cache(maxsize=64)
def read_places(schema: CompiledSchema) -> Place:
    """Return the place of whole documents, from which all others are reached."""
    return _Document(schema).root


class _Document:
    """What all places of one schema share."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.schema = schema
        root = schema.read()
        parts = [part for part, _ in subschemas(root)]
        if any(isinstance(part.get(key), str) for part in parts[1:] for key in _OWN_BASE):
            root = {}  # a reference may lead elsewhere; the whole tells
        for part in parts:
            if schema.has_lone_references and "$ref" in part:
                for key in part.keys() - {"$ref", *DEFINITIONS}:
                    del part[key]
            for key in _UNKNOWN[schema.draft]:
                part.pop(key, None)
        self.pointers: dict[int, str] = {}
        self._find_pointers(root, "")
        self._places: dict[int, Place] = {}
        self._validators: dict[str, Callable[[Any], bool]] = {"": schema.is_valid}
        self.root = self.place(Schemas.of(root))
        self.root.pointers = [""]

    def _find_pointers(self, value: Any, place: str) -> None:
        self.pointers[id(value)] = place
        inner: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            inner = value.items()
        elif isinstance(value, list):
            inner = enumerate(value)
        for step, part in inner:
            if isinstance(part, (dict, list)):
                self._find_pointers(part, f"{place}/{escape(str(step))}")

    def place(self, schemas: Schemas) -> Place:
        """Return the place where these schemas hold."""
        place = self._places.get(id(schemas))
        if place is None:
            place = self._places[id(schemas)] = Place(schemas, self)
        return place

    @property
    def is_full(self) -> bool:
        """Whether there are so many places that none is added for what is left of alternatives."""
        return len(self._places) >= _MOST_PLACES

    def validator(self, pointer: str) -> Callable[[Any], bool]:
        """Return what says whether a value conforms to a part; nothing is wrong if none can."""
        found = self._validators.get(pointer)
        if found is None:
            import jsonschema_rs

            try:
                found = self.schema.build_part(pointer).is_valid
            except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
                found = _accept
            self._validators[pointer] = found
        return found

    def explain(self, pointer: str, value: Any) -> Problem:
        """Say what a part of the schema has against a value that does not conform."""
        import jsonschema_rs

        for words_errors in (True, False):  # a change for shorter errors may hide the part
            try:
                self.schema.build_part(pointer, words_errors=words_errors).validate(value)
            except jsonschema_rs.ValidationError as error:
                found = describe(error)
                return Problem(found["pointer"], found["keyword"], found["message"])
            except (jsonschema_rs.ReferencingError, ValueError):
                continue
        return Problem("", "schema", "The value does not conform")


def _accept(_value: Any) -> bool:
    return True


class Place:
    """A place of a document: what is lost there, and which places are within."""

    def __init__(self, schemas: Schemas, document: _Document) -> None:
        self._schemas, self._document = schemas, document
        self.pointers = [document.pointers[id(one)] for one in schemas.own if type(one) is dict]
        """Those of the schemas that hold here."""
        self._members: dict[str, tuple[Problem | None, Place]] = {}
        self._items: dict[int, tuple[Problem | None, Place]] = {}

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
        if left and (len(left) == len(self.alternatives) or self._document.is_full):
            return self
        return self._document.place(self._schemas.choose(left)) if left else None

    def find(self, value: Any) -> Problem | None:
        """Return what the schemas that hold here have against a value that is whole."""
        for pointer in self.pointers:
            if not self._document.validator(pointer)(value):
                return self._document.explain(pointer, value)
        return None

    def is_valid(self, value: Any) -> bool:
        """Whether the schemas that hold here have nothing against a value that is whole."""
        return all(self._document.validator(pointer)(value) for pointer in self.pointers)

    def refuse(self, container: Any) -> Problem | None:
        """Say what is wrong with any object, or any array, here."""
        return self._object_problem if type(container) is dict else self._array_problem

    @cached_property
    def _object_problem(self) -> Problem | None:
        return self._refuse_kind("object", dict)

    @cached_property
    def _array_problem(self) -> Problem | None:
        return self._refuse_kind("array", list)

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

    @cached_property
    def most_members(self) -> float:
        """How many members an object may have."""
        return self._least("maxProperties")

    @cached_property
    def most_items(self) -> float:
        """How many items an array may have."""
        return self._least("maxItems")

    def _least(self, keyword: str) -> float:
        figures = [part[keyword] for part in self._schemas.certain if keyword in part]
        return min(figures, default=float("inf"))

    @cached_property
    def has_unique_items(self) -> bool:
        """Whether no two items of an array may be equal."""
        return any(part.get("uniqueItems") is True for part in self._schemas.certain)

    def at(self, step: str | int) -> tuple[Problem | None, Place]:
        """Return what is wrong with any value at a name or position, and its place."""
        return self._item(step) if isinstance(step, int) else self._member(step)

    def _member(self, name: str) -> tuple[Problem | None, Place]:
        found = self._members.get(name)
        if found is None:
            if len(self._members) >= _MOST_NAMES:
                self._members.clear()
            found = self._refuse_name(name), self._document.place(self._schemas.member(name))
            self._members[name] = found
        return found

    def _refuse_name(self, name: str) -> Problem | None:
        for part in self._schemas.certain:
            if "propertyNames" in part:
                pointer = f"{self._document.pointers[id(part)]}/propertyNames"
                if not self._document.validator(pointer)(name):
                    reason = self._document.explain(pointer, name).reason
                    return Problem("", "propertyNames", reason)
            declared = list(declarations(part, name))
            if not declared and part.get("additionalProperties") is False:
                return Problem("", "additionalProperties", f"{quote(name)} is not allowed here")
            if False in [one for one in declared if isinstance(one, bool)]:
                keyword = "patternProperties"
                if name in object_of(part, "properties"):
                    keyword = "properties"
                return Problem("", keyword, f"{quote(name)} is not allowed here")
        return None

    def _item(self, position: int) -> tuple[Problem | None, Place]:
        position = min(position, self._listed)
        found = self._items.get(position)
        if found is None:
            rest = (items_of(part) for part in self._schemas.certain)
            allowed = [one[position] if position < len(one) else other for one, other in rest]
            problem = None
            if False in [one for one in allowed if isinstance(one, bool)]:
                problem = Problem("", "items", f"no item {position + 1} is allowed here")
            found = problem, self._document.place(self._schemas.item(position))
            self._items[position] = found
        return found

    @cached_property
    def _listed(self) -> int:
        """How many items have schemas by position; all others have the same."""
        return max((len(items_of(part)[0]) for part in self._schemas.parts), default=0)
