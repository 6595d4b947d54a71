"""The schemas that apply at a place of a document, through references and alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.schemas.document import REFERENCES, items_of, list_of, object_of, resolve
from llmeval_integrations.schemas.patterns import matches

Schema: TypeAlias = dict[str, Any]

_MOST_FOLLOWED: Final = 256
"""The limit for alternatives of a place that are searched for nested ones, and for different
combinations inside them. Without it, alternatives that contain each other would never end."""


def reach(schemas: Iterable[Any], follow: Callable[[Schema], Iterable[Any]]) -> list[Any]:
    """Return these schemas and all that `follow` reaches from them, nearest first."""
    found: dict[int, Any] = {}
    waiting = [*schemas]
    for schema in waiting:
        if id(schema) not in found:
            found[id(schema)] = schema
            if isinstance(schema, dict):
                waiting += follow(schema)
    return [*found.values()]


def conjuncts(part: Schema, document: Any) -> list[Any]:
    """Return the schemas that apply together with this one; None for a reference to nothing."""
    targets = [resolve(document, part[name]) for name in REFERENCES if name in part]
    return targets + list_of(part, "allOf")


def closure(schemas: Iterable[Any], document: Any) -> list[Schema]:
    """Return these schemas and all that apply together with them, without booleans."""
    return _objects(reach(schemas, lambda part: conjuncts(part, document)))


def branches(part: Schema, *, conditions: bool = False) -> list[Any]:
    """Return the alternatives of a schema; with `conditions`, `then` and `else` are included."""
    found = list_of(part, "anyOf") + list_of(part, "oneOf")
    if conditions and ("then" in part or "else" in part):
        found += [part.get("then"), part.get("else")]
    return found


def find_nearest(keyword: str, schemas: Iterable[Any], document: Any) -> list[Any]:
    """Return the values of a keyword in these schemas; if one lacks it, look in its conjuncts."""

    def follow(part: Schema) -> list[Any]:
        return [] if keyword in part else conjuncts(part, document)

    return [part[keyword] for part in _objects(reach(schemas, follow)) if keyword in part]


def declarations(part: Schema, name: str) -> Iterator[Any]:
    """Yield the schemas of a member, by its name and by each pattern that matches the name."""
    properties = object_of(part, "properties")
    if name in properties:
        yield properties[name]
    for pattern, schema in object_of(part, "patternProperties").items():
        if matches(pattern, name):
            yield schema


def _objects(schemas: Iterable[Any]) -> list[Schema]:
    return [one for one in schemas if isinstance(one, dict)]


class Alternative(NamedTuple):
    """The schemas that apply together if one of several alternatives is chosen."""

    own: Sequence[Any]
    """The branches that lead to this alternative, outermost first."""

    parts: list[Schema]
    """The branches and all schemas that apply together with them."""


class _Root(NamedTuple):
    """The data that all places of a document share."""

    document: Any
    """The whole schema."""
    conditions: bool
    places: dict[Any, Schemas]
    """Places by the ids of their schemas, so that a recursive schema has only so many."""


class Schemas:
    """The schemas of one place: those that always apply, and alternatives of which one applies.

    If several keywords have alternatives, they are listed one by one. Their combinations are not
    listed, since there would be too many.
    """

    def __init__(
        self, root: _Root, own: Sequence[Any], choices: Iterable[Sequence[Any]], *, is_chosen: bool
    ) -> None:
        self._root, self.document = root, root.document
        self.own = own
        """The schemas of this place, before references are followed."""
        self.certain = closure(own, root.document)
        """All schemas that always apply: references and `allOf` are followed."""
        self.alternatives = (
            [Alternative(one, closure(one, root.document)) for one in choices]
            if is_chosen
            else self._find_alternatives(choices)
        )
        others = (part for one in self.alternatives for part in one.parts)
        self.parts = [*{id(part): part for part in (*self.certain, *others)}.values()]
        """All schemas that apply or may apply."""

    @classmethod
    def of(cls, schema: Any, *, conditions: bool = False) -> Schemas:
        """Return the root place; with `conditions`, `then` and `else` count as alternatives."""
        root = _Root(schema, conditions, {})
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
        """Return this place with only these alternatives; a single one always applies."""
        if len(alternatives) == 1:
            return self._at([*self.own, *alternatives[0].own], [], is_chosen=True)
        return self._at(self.own, [one.own for one in alternatives], is_chosen=True)

    def _enter(self, inner: Callable[[Schema], list[Any]]) -> Schemas:
        def all_inner(parts: Iterable[Schema]) -> list[Any]:
            return [one for part in parts for one in _objects(inner(part))]

        choices = [all_inner(each.parts) for each in self.alternatives]
        if not any(choices):
            choices = []
        # In a recursive schema their number would grow with each level.
        different = {frozenset(map(id, choice)): choice for choice in choices}
        if len(different) > _MOST_FOLLOWED:
            different = {frozenset([id(one)]): [one] for choice in choices for one in choice}
        by_text = {canonical(choice): choice for choice in different.values()}
        return self._at(all_inner(self.certain), [*by_text.values()], is_chosen=False)

    def _at(
        self, own: Sequence[Any], choices: Sequence[Sequence[Any]], *, is_chosen: bool
    ) -> Schemas:
        # Ids are safe as keys, since the document keeps its schemas alive.
        key = tuple(map(id, own)), tuple(tuple(map(id, choice)) for choice in choices), is_chosen
        places = self._root.places
        if key not in places:
            places[key] = Schemas(self._root, own, choices, is_chosen=is_chosen)
        return places[key]

    def _find_alternatives(self, choices: Iterable[Sequence[Any]]) -> list[Alternative]:
        """Return the alternatives; one with nested alternatives is replaced by them."""
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
