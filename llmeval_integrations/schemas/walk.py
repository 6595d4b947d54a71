"""Which schemas hold at a place of a document: the one walk of references and alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.schemas.document import (
    REFERENCES,
    SchemaDocument,
    items_of,
    list_of,
    object_of,
)
from llmeval_integrations.schemas.patterns import matches

Schema: TypeAlias = dict[str, Any]

_MOST_FOLLOWED: Final = 256
"""How many alternatives of a place are searched for further ones, and how many of their
combinations have a place of their own inside; alternatives may contain each other."""


def reach(schemas: Iterable[Any], follow: Callable[[Schema], Iterable[Any]]) -> list[Any]:
    """Return these schemas and all that `follow` leads to from them, the nearest first."""
    found: dict[int, Any] = {}
    waiting = [*schemas]
    for schema in waiting:
        if id(schema) not in found:
            found[id(schema)] = schema
            if isinstance(schema, dict):
                waiting += follow(schema)
    return [*found.values()]


def conjuncts(part: Schema, document: SchemaDocument) -> list[Any]:
    """Return the schemas that hold wherever this one does; None for a reference to nothing."""
    targets = [document.resolve(part[name]) for name in REFERENCES if name in part]
    return targets + list_of(part, "allOf")


def closure(schemas: Iterable[Any], document: SchemaDocument) -> list[Schema]:
    """Return these schemas and all that hold wherever they do, those that are objects."""
    return _objects(reach(schemas, lambda part: conjuncts(part, document)))


def branches(part: Schema, *, conditions: bool = False) -> list[Any]:
    """Return the alternatives of a schema; with `conditions` those of `if`, too."""
    found = list_of(part, "anyOf") + list_of(part, "oneOf")
    if conditions and ("then" in part or "else" in part):
        found += [part.get("then"), part.get("else")]
    return found


def find_nearest(keyword: str, schemas: Iterable[Any], document: SchemaDocument) -> list[Any]:
    """Return the values of a keyword in these schemas; where one lacks it, in its conjuncts."""

    def follow(part: Schema) -> list[Any]:
        return [] if keyword in part else conjuncts(part, document)

    return [part[keyword] for part in _objects(reach(schemas, follow)) if keyword in part]


def declarations(part: Schema, name: str) -> Iterator[Any]:
    """Yield what a schema says of a member, by its name or by a pattern that the name has."""
    properties = object_of(part, "properties")
    if name in properties:
        yield properties[name]
    for pattern, schema in object_of(part, "patternProperties").items():
        if matches(pattern, name):
            yield schema


def _objects(schemas: Iterable[Any]) -> list[Schema]:
    return [one for one in schemas if isinstance(one, dict)]


class Alternative(NamedTuple):
    """Schemas that hold together if one of several alternatives does."""

    own: Sequence[Any]
    """The branches that lead here, from the outermost to the innermost."""

    parts: list[Schema]
    """These and all that hold wherever they do."""


class _Root(NamedTuple):
    """What all places of a document share."""

    document: SchemaDocument
    conditions: bool
    places: dict[Any, Schemas]
    """By their schemas: a schema that refers to itself has no more places than it has parts."""


class Schemas:
    """The schemas of one place: those that hold for certain, and alternatives of which one does.

    Where several keywords have alternatives, each of these is one, and not each of their
    combinations, which are too many.
    """

    def __init__(
        self, root: _Root, own: Sequence[Any], choices: Iterable[Sequence[Any]], *, is_chosen: bool
    ) -> None:
        self._root, self.document = root, root.document
        self.own = own
        """The schemas that lead here, before references are followed."""
        self.certain = closure(own, root.document)
        """All schemas that hold: references and `allOf` are followed."""
        self.alternatives = (
            [Alternative(one, closure(one, root.document)) for one in choices]
            if is_chosen
            else self._find_alternatives(choices)
        )
        others = (part for one in self.alternatives for part in one.parts)
        self.parts = [*{id(part): part for part in (*self.certain, *others)}.values()]
        """All that hold or may hold."""

    @classmethod
    def of(cls, schema: Any, *, conditions: bool = False) -> Schemas:
        """Return those of whole documents; with `conditions` those of `if` are alternatives."""
        root = _Root(SchemaDocument(schema), conditions, {})
        return cls(root, [schema], [], is_chosen=False)

    def member(self, name: str) -> Schemas:
        """Return the schemas of an object's member."""
        return self._enter(
            lambda part: [*declarations(part, name)] or [part.get("additionalProperties")]
        )

    def item(self, position: int) -> Schemas:
        """Return the schemas of an array's item."""

        def inner(part: Schema) -> list[Any]:
            first, rest = items_of(part)
            return [first[position] if position < len(first) else rest]

        return self._enter(inner)

    def choose(self, alternatives: Sequence[Alternative]) -> Schemas:
        """Return the schemas where one of these alternatives holds; a single one is certain."""
        if len(alternatives) == 1:
            return self._at([*self.own, *alternatives[0].own], [], is_chosen=True)
        return self._at(self.own, [one.own for one in alternatives], is_chosen=True)

    def _enter(self, inner: Callable[[Schema], list[Any]]) -> Schemas:
        def all_inner(parts: Iterable[Schema]) -> list[Any]:
            return [one for part in parts for one in _objects(inner(part))]

        choices = [all_inner(each.parts) for each in self.alternatives]
        if not any(choices):
            choices = []
        # Those of a schema that refers to itself would be more with each level.
        different = {frozenset(map(id, choice)): choice for choice in choices}
        if len(different) > _MOST_FOLLOWED:
            different = {frozenset([id(one)]): [one] for choice in choices for one in choice}
        by_text = {canonical(choice): choice for choice in different.values()}
        return self._at(all_inner(self.certain), [*by_text.values()], is_chosen=False)

    def _at(
        self, own: Sequence[Any], choices: Sequence[Sequence[Any]], *, is_chosen: bool
    ) -> Schemas:
        # The schemas of a document stay where they are.
        key = tuple(map(id, own)), tuple(tuple(map(id, choice)) for choice in choices), is_chosen
        places = self._root.places
        if key not in places:
            places[key] = Schemas(self._root, own, choices, is_chosen=is_chosen)
        return places[key]

    def _find_alternatives(self, choices: Iterable[Sequence[Any]]) -> list[Alternative]:
        """Return the alternatives here, those of alternatives in their place."""
        certain = frozenset(map(id, self.certain))
        first: list[Sequence[Any]] = [[branch] for branch in self._branches(self.certain)]
        waiting = [(own, certain) for own in (*first, *choices)]
        found = []
        for number, (own, known) in enumerate(waiting):
            parts = closure(own, self.document)
            new = [part for part in parts if id(part) not in known]
            further = self._branches(new) if number < _MOST_FOLLOWED else []
            followed = known.union(map(id, new))
            waiting += [([*own, branch], followed) for branch in further]
            if not further:
                found.append(Alternative(own, parts))
        return found

    def _branches(self, parts: Iterable[Schema]) -> list[Any]:
        conditions = self._root.conditions
        return [one for part in parts for one in branches(part, conditions=conditions)]
