"""What a JSON Schema says about a part of a value. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.schemas.document import SchemaDocument, items_of, list_of, object_of
from llmeval_integrations.tool_calls.alternatives import Alternative, suiting
from llmeval_integrations.tool_calls.schema_walk import (
    MOST,
    alternatives,
    declared,
    defaults,
    together,
    type_names,
)

Types = frozenset[str]
Read = Callable[[Any, "SchemaPart"], Any]


class _Source(NamedTuple):
    """What the parts of a document share."""

    document: SchemaDocument
    read: Read | None
    parts: dict[Any, SchemaPart]
    # By their schemas: one that refers to itself has as few parts as it has places.


class SchemaPart:
    """Those schemas of a document that may apply at one place of a value.

    `$ref` within the document, `allOf`, `anyOf` and `oneOf` are followed.
    """

    def __init__(
        self,
        source: _Source,
        own: Sequence[Any],
        choices: Sequence[list[Any]] = (),
        *,
        chosen: bool = False,
    ) -> None:
        """All schemas of `own` apply, and those of one of the `choices`.

        `chosen` says that the alternatives which these may hold are among the choices, or were left
        out.
        """
        self._source, self._own = source, own
        self._choices = choices
        self._chosen = chosen
        self._members: dict[str, SchemaPart] = {}
        self._items: dict[int, SchemaPart] = {}
        self._narrowed: dict[tuple[int, ...], SchemaPart] = {}
        self.default_text: str | None = None
        """How `normal_form` writes the default, once it has."""

    @classmethod
    def root(cls, schema: Any, *, read: Read | None = None) -> SchemaPart:
        """Begin at a schema's root; `read` says how defaults are read, which is as they are."""
        return cls(_Source(SchemaDocument(schema), read, {}), [schema])

    @cached_property
    def default(self) -> Any:
        """The default, where there is one and all that apply agree; or MISSING.

        Of a reference with a default, and one where it leads, the nearer counts. Alternatives have
        one if it is that of each.
        """
        document, read, _ = self._source
        found = defaults(self._own, document)
        if not found and self._alternatives:
            each = [defaults(one.own, document) for one in self._alternatives]
            found = [default for some in each for default in some] if all(each) else []
        same = len({canonical(default) for default in found}) == 1
        if not same:
            return MISSING
        return found[0] if read is None else read(found[0], self)

    @cached_property
    def types(self) -> Types:
        """The JSON types that are named; empty where none is."""
        return frozenset(name for part in self._parts for name in type_names(part))

    @cached_property
    def allowed(self) -> list[Any]:
        """The values that an `enum` or a `const` allows without a choice."""
        only = [part["const"] for part in self._sure if "const" in part]
        return only + [one for part in self._sure for one in list_of(part, "enum")]

    @cached_property
    def unordered(self) -> bool:
        """Whether this is an array that holds nothing twice: a set."""
        return any(part.get("uniqueItems") is True for part in self._parts)

    @property
    def is_positional(self) -> bool:
        """Whether the place of an item decides about its schema."""
        return self._prefixed > 0

    @cached_property
    def _prefixed(self) -> int:
        return max((len(items_of(part)[0]) for part in self._parts), default=0)

    @cached_property
    def has_kinds_of_objects(self) -> bool:
        """Whether of an object its members say which alternative it is."""
        return len(self._of_objects) > 1

    @property
    def key(self) -> str:
        """What tells this part from others for the same place, as long as the schema is there."""
        return ",".join(str(id(one)) for one in self._own)

    def of(self, value: Any) -> SchemaPart:
        """Return the part without the alternatives that an object or array cannot be meant for."""
        if not self._alternatives:
            return self
        fit = self._of_arrays
        if isinstance(value, dict):
            fit = suiting(self._of_objects, value)
        key = tuple(map(id, fit))
        if key not in self._narrowed:
            self._narrowed[key] = self._with(fit)
        return self._narrowed[key]

    def _with(self, fit: list[Alternative]) -> SchemaPart:
        if len(fit) == 1:
            return self._part([*self._own, *fit[0].own], [], chosen=True)
        return self._part(self._own, [one.own for one in fit], chosen=True)

    @cached_property
    def _of_objects(self) -> list[Alternative]:
        return [one for one in self._alternatives if one.allows("object")] or self._alternatives

    @cached_property
    def _of_arrays(self) -> list[Alternative]:
        return [one for one in self._alternatives if one.allows("array")] or self._alternatives

    def member(self, name: str) -> SchemaPart:
        """Return the part for an object's member."""
        if not self._parts:
            return self
        known = self._members.get(name)
        if known is not None:
            return known
        member = self._inner(lambda part: list(declared(part, name))) or self._inner(
            lambda part: _schema(part.get("additionalProperties"))
        )
        if member is None:
            return _UNKNOWN
        if any(name in object_of(part, "properties") for part in self._parts):
            self._members[name] = member  # others are not kept: an output may have any name
        return member

    def item(self, position: int) -> SchemaPart:
        """Return the part for an array's item."""
        if not self._parts:
            return self
        at = min(position, self._prefixed)  # all behind these are alike

        def schemas(part: dict[str, Any]) -> list[Any]:
            first, rest = items_of(part)
            return _schema(first[at] if at < len(first) else rest)

        if at not in self._items:
            self._items[at] = self._inner(schemas) or _UNKNOWN
        return self._items[at]

    def at(self, steps: Iterable[str], value: Any) -> SchemaPart:
        """Return the part for a place in a value, one that says nothing where there is none.

        The validator leaves empty names out of the places that it gives.
        """
        part = self.of(value)
        for step in steps:
            if isinstance(value, dict) and step in value:
                part, value = part.member(step), value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                part, value = part.item(int(step)), value[int(step)]
            else:
                return _UNKNOWN
            part = part.of(value)
        return part

    def _inner(self, schemas: Callable[[dict[str, Any]], list[Any]]) -> SchemaPart | None:
        """Return the part for what is within; None where nothing is said of it."""
        own = [one for part in self._sure for one in schemas(part)]
        choices = [
            [inner for part in one.parts for inner in schemas(part)] for one in self._alternatives
        ]
        if any(choices):
            # Those of a schema that refers to itself would be more with each level.
            different = {canonical(choice): choice for choice in choices}
            return self._part(own, list(different.values()), chosen=False)
        return self._part(own, [], chosen=False) if own else None

    def _part(
        self, own: Sequence[Any], choices: Sequence[list[Any]], *, chosen: bool
    ) -> SchemaPart:
        # The schemas of a document stay where they are.
        key = tuple(map(id, own)), tuple(tuple(map(id, choice)) for choice in choices), chosen
        parts = self._source.parts
        if key not in parts:
            parts[key] = SchemaPart(self._source, own, choices, chosen=chosen)
        return parts[key]

    @cached_property
    def _parts(self) -> list[dict[str, Any]]:
        perhaps = [part for one in self._alternatives for part in one.parts]
        return list({id(part): part for part in [*self._sure, *perhaps]}.values())

    @cached_property
    def _sure(self) -> list[dict[str, Any]]:
        """The schemas that apply whatever the value is."""
        return together(self._own, self._source.document)

    @cached_property
    def _alternatives(self) -> list[Alternative]:
        """The alternatives, those of alternatives among them."""
        if self._chosen:
            return [self._alternative(own) for own in self._choices]
        followed = frozenset(map(id, self._sure))
        first = [*([one] for one in alternatives(self._sure)), *self._choices]
        waiting = [(own, followed) for own in first]
        found: list[Alternative] = []
        looked = 0
        while waiting:
            own, followed = waiting.pop()
            one = self._alternative(own)
            looked += 1
            new = [part for part in one.parts if id(part) not in followed]
            further = alternatives(new) if looked < MOST else []
            followed = followed.union(map(id, new))
            waiting += [([*own, inner], followed) for inner in further]
            if not further:
                found.append(one)
        return found[::-1]

    def _alternative(self, own: list[Any]) -> Alternative:
        return Alternative(own, self._source.document)


_UNKNOWN = SchemaPart.root(None)


def _schema(value: Any) -> list[Any]:
    return [value] if isinstance(value, dict) else []
