"""How the values of one place in a tool's arguments are compared: as its schema says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.fields.field import Field, Place, Root
from llmeval_integrations.fields.omitted import Omission
from llmeval_integrations.fields.paths import Override
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import (
    SCALARS,
    TYPES,
    canonical,
    equal,
    write_scalar,
)
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.node import AnyOf, Verdict
from llmeval_integrations.schemas.document import SchemaDocument, list_of, object_of
from llmeval_integrations.schemas.walk import (
    Alternative,
    Schema,
    Schemas,
    closure,
    declarations,
    find_nearest,
)
from llmeval_integrations.tool_calls.spelling import AnySpelling, is_spelling, read_text


class ToolNode(Field):
    """The node of ToolCalls: one place in a tool's arguments, as its schema and rules have it."""

    fills = True
    coerces = False
    """Whether defaults are coerced, as arguments are."""

    def __init__(self, path: str, place: Place) -> None:
        super().__init__(path, place)
        self.exact = self.literal = False  # a reference may have a choice in place of a leaf
        self.varies = bool(place.schemas.alternatives)
        self._schemas = place.schemas
        self._chosen: dict[tuple[int, ...], ToolNode] = {}

    @classmethod
    def of_tool(
        cls, name: str, schema: Any, overrides: Sequence[Override], defaults: Mapping[str, Any]
    ) -> ToolNode:
        """Return the node of a tool's arguments."""
        return cls(f"/{escape(name)}", Place(Root(defaults), Schemas.of(schema), overrides, {}))

    # --- what the schema says ------------------------------------------------------------------

    @cached_property
    def default(self) -> Any:
        """The default, where all that apply agree on one; or MISSING.

        Of a reference with a default, and one where it leads, the nearer counts. Alternatives have
        one if it is that of each.
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
        default = self.drop(found[0])
        return self.coerce(default) if self.coerces else default

    @cached_property
    def types(self) -> frozenset[str]:
        """The JSON types that are named; empty where none is."""
        return frozenset(name for part in self._schemas.parts for name in _type_names(part))

    @cached_property
    def allowed(self) -> list[Any]:
        """The values that an `enum` or a `const` allows without a choice."""
        return [value for part in self._schemas.certain for value in _values(part)]

    def coerce(self, value: Any) -> Any:
        """Return the value of the type that the schema asks for, where it can be read as such.

        A text becomes what it says where the schema allows that type and no text, or names it by
        `enum` or `const` without a type. A number or boolean may have any spelling where only a
        text is allowed. Members and items likewise. Whatever cannot be read stays as it is.
        """
        if isinstance(value, AnyOf):
            return AnyOf(tuple(map(self.coerce, value.values)), value.optional)
        if isinstance(value, str):
            value = self._coerce_text(value)
        elif isinstance(value, (bool, int, float)) and self.types == {"string"}:
            known = [
                one for one in self.allowed if isinstance(one, str) and is_spelling(one, value)
            ]
            text = known[0] if known else write_scalar(value)
            return text if len(known) == 1 else AnySpelling(value, text)
        if isinstance(value, dict):
            return {key: self.member(key).coerce(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.item(n).coerce(item) for n, item in enumerate(value)]
        return value

    def _coerce_text(self, text: str) -> Any:
        if "string" in self.types or not (self.types or self.allowed) or text in self.allowed:
            return text
        value = read_text(text)
        if isinstance(value, Defect):
            return text
        if self.types:
            return value if self.types & types_of(value) else text
        return value if any(equal(value, one) for one in self.allowed) else text

    def drop(self, value: Any) -> Any:
        """Return a value without the members that count as left out."""
        return Omission(nulls=True, empty=True).omit(self, value)

    def at(self, steps: Iterable[str], value: Any) -> ToolNode:
        """Return the node for a place in a value; one that says nothing where there is none."""
        node = self.narrow(value)
        for step in steps:
            if isinstance(value, dict) and step in value:
                node, value = node.member(step), value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                node, value = node.item(int(step)), value[int(step)]
            else:
                return ANYTHING
            node = node.narrow(value)
        return node

    # --- what a comparison asks ----------------------------------------------------------------

    def narrow(self, value: Any) -> ToolNode:
        """Return the node without the alternatives that an object or array is not meant for.

        An object is meant for those with the surest signs that any has: no `const` or `enum` is
        violated, all its members are declared, none that is required is missing, and all have
        their types.
        """
        kind = TYPES.get(type(value))
        if not self.varies or kind not in ("object", "array"):
            return self
        union = self._union
        fit = [n for n, one in enumerate(union) if one.allows(kind)] or [*range(len(union))]
        if kind == "object" and len(fit) > 1:
            signs = [union[n].signs(value) for n in fit]
            best = max(signs)
            fit = [n for n, its in zip(fit, signs) if its == best]
        found = self._chosen.get(key := tuple(fit))
        if found is None:
            found = self._chosen[key] = type(self)(self.path, self.place.choose(fit))
        return found

    @cached_property
    def _union(self) -> list[_Alternative]:
        document = self._schemas.document
        return [_Alternative(one, document) for one in self._schemas.alternatives]

    def leaf(self, output: Any, reference: Any) -> Verdict:
        if isinstance(output, AnySpelling):
            output = output.spell(reference)
        if isinstance(reference, AnySpelling):
            reference = reference.spell(output)
        return super().leaf(output, reference)

    def leaf_text(self, value: Any) -> str:
        if isinstance(value, AnyOf):
            return f"any of {id(value)}"
        return super().leaf_text(value.text if isinstance(value, AnySpelling) else value)


class CoercingNode(ToolNode):
    """The same with `coerce=True`."""

    coerces = True


class _Alternative:
    """One member of a union, and the signs by which an object is meant for it."""

    def __init__(self, alternative: Alternative, document: SchemaDocument) -> None:
        self.alternative = alternative
        self._parts = alternative.parts
        self._document = document

    @cached_property
    def _properties(self) -> list[tuple[str, Schema]]:
        return [
            (name, inner)
            for part in self._parts
            for name, schema in object_of(part, "properties").items()
            for inner in closure([schema], self._document)
        ]

    def allows(self, kind: str) -> bool:
        """Whether values of a type may be meant."""
        named = map(_type_names, self._parts)
        return all(not names or kind in names for names in named)

    def signs(self, value: dict[str, Any]) -> tuple[bool, bool, bool, bool]:
        """Return whether an object has the tags, declared members, required members and types."""
        leaves = [
            (value[name], its)
            for name, its in self._properties
            if name in value and type(value[name]) in SCALARS
        ]
        required = (name for part in self._parts for name in list_of(part, "required"))
        return (
            all(
                any(equal(leaf, one) for one in _values(its))
                for leaf, its in leaves
                if "const" in its or "enum" in its
            ),
            all(self._declared(name) for name in value),
            all(name in value or self._has_default(name) for name in required),
            all(types_of(leaf) & {*_type_names(its)} for leaf, its in leaves if "type" in its),
        )

    def _declared(self, name: str) -> list[Any]:
        return [one for part in self._parts for one in declarations(part, name)]

    def _has_default(self, name: str) -> bool:
        return bool(find_nearest("default", self._declared(name), self._document))


def types_of(value: Any) -> set[str]:
    """Return JSON Schema's names for the type of a value."""
    kind = TYPES[type(value)]
    if kind != "number":
        return {kind}
    return {"number", "integer"} if value % 1 == 0 else {"number"}


def _type_names(part: Schema) -> list[str]:
    kind = part.get("type")
    return [kind] if isinstance(kind, str) else list_of(part, "type")


def _values(part: Schema) -> list[Any]:
    """Return the values that a schema allows by name."""
    only = [part["const"]] if "const" in part else []
    return only + list_of(part, "enum")


ANYTHING: Final = ToolNode.of_tool("", None, [], {})
"""The node of a place of which no schema says anything."""
