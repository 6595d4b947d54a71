"""Which of a schema's alternatives a value is meant for. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.schemas.document import SchemaDocument, list_of, object_of
from llmeval_integrations.tool_calls.schema_walk import (
    declared,
    defaults,
    together,
    type_names,
    types_of,
)

_SCALARS: Final = frozenset((str, int, float, bool, type(None), Decimal))


class Alternative:
    """Schemas that apply together, if this one of several alternatives does."""

    def __init__(self, own: list[Any], document: SchemaDocument) -> None:
        self.own = own
        self.parts = together(own, document)
        """Those and what they refer to."""
        self._document = document

    def allows(self, kind: str) -> bool:
        """Whether values of a type may be meant."""
        named = map(type_names, self.parts)
        return all(not names or kind in names for names in named)

    def has_tags(self, value: dict[str, Any]) -> bool:
        """Whether no member has another value than a `const` or `enum` says."""
        return all(
            any(equal(value[name], one) for one in allowed)
            for name, allowed in self._tags
            if name in value and type(value[name]) in _SCALARS
        )

    def declares(self, value: dict[str, Any]) -> bool:
        """Whether all members are declared."""
        return all(any(True for _ in self._declared(name)) for name in value)

    def has_required(self, value: dict[str, Any]) -> bool:
        """Whether no member is missing, those aside that have a default."""
        return all(
            name in value or defaults(self._declared(name), self._document)
            for part in self.parts
            for name in list_of(part, "required")
        )

    def has_types(self, value: dict[str, Any]) -> bool:
        """Whether no member that is neither object nor array has another type."""
        return all(
            not types.isdisjoint(types_of(value[name]))
            for name, types in self._types
            if name in value and type(value[name]) in _SCALARS
        )

    def _declared(self, name: str) -> Iterator[Any]:
        return (one for part in self.parts for one in declared(part, name))

    @cached_property
    def _properties(self) -> list[tuple[str, dict[str, Any]]]:
        return [
            (name, inner)
            for part in self.parts
            for name, schema in object_of(part, "properties").items()
            for inner in together([schema], self._document)
        ]

    @cached_property
    def _tags(self) -> list[tuple[str, list[Any]]]:
        only = [(name, [part["const"]]) for name, part in self._properties if "const" in part]
        several = [
            (name, list_of(part, "enum")) for name, part in self._properties if "enum" in part
        ]
        return only + several

    @cached_property
    def _types(self) -> list[tuple[str, frozenset[str]]]:
        named = [(name, frozenset(type_names(part))) for name, part in self._properties]
        return [(name, types) for name, types in named if types]


_SIGNS: Final[tuple[Callable[[Alternative, dict[str, Any]], bool], ...]] = (
    Alternative.has_tags,
    Alternative.declares,
    Alternative.has_required,
    Alternative.has_types,
)
"""By what an object is told to be meant for an alternative, the surest sign first."""


def suiting(several: list[Alternative], value: dict[str, Any]) -> list[Alternative]:
    """Return those of several that an object is meant for.

    A sign that no alternative has tells nothing.
    """
    for has_sign in _SIGNS:
        if len(several) > 1:
            several = [one for one in several if has_sign(one, value)] or several
    return several
