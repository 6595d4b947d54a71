"""The nodes of a tool's arguments: fields whose defaults and unions come from the tool's schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.fields.field import Field, Omission, Place, Root
from llmeval_integrations.fields.paths import Override
from llmeval_integrations.fields.schema_rules import list_types, list_values
from llmeval_integrations.json_values.values import TYPES, canonical, equal, escape
from llmeval_integrations.matching.node import AnyOf, alternatives_of
from llmeval_integrations.schemas.walk import (
    Alternative,
    Schemas,
    closure,
    declarations,
    find_nearest,
)


class ToolNode(Field):
    """One place in a tool's arguments."""

    has_defaults = True

    def __init__(self, path: str, place: Place) -> None:
        super().__init__(path, place)
        self.literal = False  # a reference may have an AnyOf instead of a value
        self.varies = bool(place.schemas.alternatives)
        self._schemas = place.schemas
        self._chosen: dict[tuple[int, ...], ToolNode] = {}

    @classmethod
    def of_tool(
        cls, name: str, schema: Any, overrides: Sequence[Override], defaults: Mapping[str, Any]
    ) -> ToolNode:
        """Return the node of a tool's arguments."""
        return cls(f"/{escape(name)}", Place(Root(defaults), Schemas.of(schema), overrides, {}))

    @cached_property
    def default(self) -> Any:
        """The default of this place, or MISSING if it has none or several different ones.

        A default beside a `$ref` wins over the default of the schema that it refers to. In a union,
        each alternative must have the same default.
        """
        schemas = self._schemas
        found = find_nearest("default", schemas.own, schemas.document)
        if not found:
            each = [
                find_nearest("default", one.own, schemas.document) for one in schemas.alternatives
            ]
            found = [default for some in each for default in some] if all(each) else []
        if len({canonical(default) for default in found}) != 1:
            return MISSING
        return Omission().omit(self, found[0])

    def narrow(self, value: Any) -> ToolNode:
        """Return the node with only the alternatives of a union that fit this object or array."""
        kind = TYPES.get(type(value))
        if not self.varies or kind not in ("object", "array"):
            return self
        union = self._schemas.alternatives
        fit = [
            n for n, one in enumerate(union) if all(_has_type(value, part) for part in one.parts)
        ] or [*range(len(union))]
        if kind == "object" and len(fit) > 1:
            signs = [_signs(union[n], value, self._schemas.document) for n in fit]
            fit = [n for n, its in zip(fit, signs) if its == max(signs)]
        found = self._chosen.get(key := tuple(fit))
        if found is None:
            found = self._chosen[key] = type(self)(self.path, self.place.choose(fit))
        return found

    def leaf_text(self, value: Any) -> str:
        return f"any of {id(value)}" if type(value) is AnyOf else super().leaf_text(value)


def _signs(union: Alternative, value: dict[str, Any], document: Any) -> tuple[bool, bool]:
    """Return the signs that an object belongs to an alternative, the surer first.

    No `const` or `enum` is violated, and all members are declared.
    """
    declared = {
        name: [one for part in union.parts for one in declarations(part, name)] for name in value
    }
    fits = True
    for name, leaf in value.items():
        for its in closure(declared[name], document):
            if "const" in its or "enum" in its:  # of a reference's alternatives, one is enough
                values, several = list_values(its), alternatives_of(leaf)
                fits = fits and any(equal(one, each) for one in several for each in values)
    return fits, all(declared.values())


def _has_type(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether a schema's `type` allows a value."""
    types, kind = list_types(schema), TYPES.get(type(value))
    is_integer = kind == "number" and "integer" in types and value % 1 == 0
    return not types or kind in types or is_integer
