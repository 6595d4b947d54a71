"""How the values of one place in a tool's arguments are compared: as its schema says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import SCALARS, TYPES, canonical, equal
from llmeval_integrations.matching.node import MATCH, MISMATCH, WRONG_TYPE, AnyOf, Node, Verdict
from llmeval_integrations.schemas.document import (
    SchemaDocument,
    items_of,
    list_of,
    matches,
    object_of,
)
from llmeval_integrations.tool_calls.spelling import AnySpelling

Schema: TypeAlias = dict[str, Any]
Read: TypeAlias = "Callable[[Any, ToolNode], Any]"

_MOST: Final = 256
"""How many schemas are looked at for one place; a schema may refer to itself."""


class _Source(NamedTuple):
    """What the nodes of a tool share."""

    document: SchemaDocument
    read: Read | None
    nodes: dict[Any, ToolNode]
    """By their schemas: one that refers to itself has as few nodes as it has places."""


class ToolNode(Node):
    """The schemas that apply at a place, and the alternatives (`anyOf`, `oneOf`) of which one does.

    `$ref` within the document and `allOf` are followed.
    """

    exact = False  # a reference may have a choice in place of a leaf
    splits = False
    pairs_strangers = True
    whole_gain = 1e6  # items that match, with defaults and choices, are paired before any others

    def __init__(
        self,
        source: _Source,
        own: Sequence[Any],
        choices: Sequence[Sequence[Any]] = (),
        *,
        is_narrow: bool = False,
    ) -> None:
        """All schemas of `own` apply, and those of one of the `choices`.

        `is_narrow` says that the alternatives within them are among the choices, or do not apply.
        """
        document = source.document
        self.path = str(len(source.nodes))
        self.parts = list(_closure(own, document))
        self._source, self._own = source, own
        self.alternatives = (
            [_Alternative(one, document) for one in choices]
            if is_narrow
            else list(_alternatives(self.parts, choices, document))
        )
        self.varies = bool(self.alternatives)
        others = (part for one in self.alternatives for part in one.parts)
        self._every = list({id(part): part for part in (*self.parts, *others)}.values())
        is_set = any(part.get("uniqueItems") is True for part in self._every)
        has_positions = any(items_of(part)[0] for part in self._every)
        self.order = "any_order" if is_set and not has_positions else "ordered"
        self._members: dict[str, ToolNode] = {}

    @classmethod
    def root(cls, schema: Any, *, read: Read | None = None) -> ToolNode:
        """Return the node of a tool's arguments; `read` says how defaults are read."""
        return cls(_Source(SchemaDocument(schema), read, {}), [schema])

    def _node(
        self, own: Sequence[Any], choices: Sequence[Sequence[Any]], *, is_narrow: bool = False
    ) -> ToolNode:
        # The schemas of a document stay where they are.
        key = tuple(map(id, own)), tuple(tuple(map(id, choice)) for choice in choices), is_narrow
        nodes = self._source.nodes
        if key not in nodes:
            nodes[key] = ToolNode(self._source, own, choices, is_narrow=is_narrow)
        return nodes[key]

    # --- what the schema says ------------------------------------------------------------------

    @cached_property
    def default(self) -> Any:
        """The default, where all that apply agree on one; or MISSING.

        Of a reference with a default, and one where it leads, the nearer counts. Alternatives have
        one if it is that of each.
        """
        document, read, _ = self._source
        found = list(_defaults(self._own, document))
        if not found and self.alternatives:
            each = [list(_defaults(one.own, document)) for one in self.alternatives]
            found = [default for some in each for default in some] if all(each) else []
        if len({canonical(default) for default in found}) != 1:
            return MISSING
        return found[0] if read is None else read(found[0], self)

    @cached_property
    def types(self) -> frozenset[str]:
        """The JSON types that are named; empty where none is."""
        return frozenset(name for part in self._every for name in _type_names(part))

    @cached_property
    def allowed(self) -> list[Any]:
        """The values that an `enum` or a `const` allows without a choice."""
        only = [part["const"] for part in self.parts if "const" in part]
        return only + [one for part in self.parts for one in list_of(part, "enum")]

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

    def member(self, name: str) -> ToolNode:
        if not self._every:
            return self
        found = self._members.get(name)
        if found is None:
            found = self._inner(lambda part: list(declarations(part, name)))
            if found is None:
                return self._inner(_others) or ANYTHING
            self._members[name] = found
        return found

    def item(self, position: int) -> ToolNode:
        def schemas(part: Schema) -> list[Any]:
            first, rest = items_of(part)
            return _schema(first[position] if position < len(first) else rest)

        return (self._inner(schemas) or ANYTHING) if self._every else self

    def narrow(self, value: Any) -> ToolNode:
        """Return the node without the alternatives that an object or array is not meant for.

        An object is meant for those with the surest signs that any has: no `const` or `enum` is
        violated, all its members are declared, none that is required is missing, and all have
        their types.
        """
        kind = TYPES.get(type(value))
        if not self.alternatives or kind not in ("object", "array"):
            return self
        fit = [one for one in self.alternatives if one.allows(kind)] or self.alternatives
        if kind == "object" and len(fit) > 1:
            signs = [one.signs(value) for one in fit]
            best = max(signs)
            fit = [one for one, its in zip(fit, signs) if its == best]
        if len(fit) == 1:
            return self._node([*self._own, *fit[0].own], [], is_narrow=True)
        return self._node(self._own, [one.own for one in fit], is_narrow=True)

    def leaf(self, output: Any, reference: Any) -> Verdict:
        if isinstance(output, AnySpelling):
            output = output.spell(reference)
        if isinstance(reference, AnySpelling):
            reference = reference.spell(output)
        if equal(output, reference):
            return MATCH
        return MISMATCH if TYPES[type(output)] == TYPES[type(reference)] else WRONG_TYPE

    def leaf_text(self, value: Any) -> str:
        if isinstance(value, AnyOf):
            return f"any of {id(value)}"
        return canonical(value.text if isinstance(value, AnySpelling) else value)

    def _inner(self, schemas: Callable[[Schema], list[Any]]) -> ToolNode | None:
        """Return the node for what is within; None where nothing is said of it."""
        own = [one for part in self.parts for one in schemas(part)]
        choices = [
            [inner for part in one.parts for inner in schemas(part)] for one in self.alternatives
        ]
        if any(choices):
            # Those of a schema that refers to itself would be more with each level.
            different = {canonical(choice): choice for choice in choices}
            return self._node(own, list(different.values()))
        return self._node(own, []) if own else None


class _Alternative:
    """Schemas that apply together, if this one of several alternatives does."""

    def __init__(self, own: Sequence[Any], document: SchemaDocument) -> None:
        self.own = own
        self.parts = list(_closure(own, document))
        self._document = document

    @cached_property
    def _properties(self) -> list[tuple[str, Schema]]:
        return [
            (name, inner)
            for part in self.parts
            for name, schema in object_of(part, "properties").items()
            for inner in _closure([schema], self._document)
        ]

    def allows(self, kind: str) -> bool:
        """Whether values of a type may be meant."""
        named = map(_type_names, self.parts)
        return all(not names or kind in names for names in named)

    def signs(self, value: dict[str, Any]) -> tuple[bool, bool, bool, bool]:
        """Return whether an object has the tags, declared members, required members and types."""
        leaves = [
            (value[name], its)
            for name, its in self._properties
            if name in value and type(value[name]) in SCALARS
        ]
        required = (name for part in self.parts for name in list_of(part, "required"))
        return (
            all(
                any(equal(leaf, one) for one in (*_const(its), *list_of(its, "enum")))
                for leaf, its in leaves
                if "const" in its or "enum" in its
            ),
            all(any(True for _ in self._declared(name)) for name in value),
            all(name in value or self._has_default(name) for name in required),
            all(types_of(leaf) & {*_type_names(its)} for leaf, its in leaves if "type" in its),
        )

    def _declared(self, name: str) -> Iterator[Any]:
        return (one for part in self.parts for one in declarations(part, name))

    def _has_default(self, name: str) -> bool:
        return any(True for _ in _defaults(self._declared(name), self._document))


def declarations(part: Schema, name: str) -> Iterator[Any]:
    """Yield what a schema says of a member, by its name or by a pattern that the name has."""
    properties = object_of(part, "properties")
    if name in properties:
        yield properties[name]
    for pattern, schema in object_of(part, "patternProperties").items():
        if matches(pattern, name):
            yield schema


def types_of(value: Any) -> set[str]:
    """Return JSON Schema's names for the type of a value."""
    kind = TYPES[type(value)]
    if kind != "number":
        return {kind}
    return {"number", "integer"} if value % 1 == 0 else {"number"}


def _closure(schemas: Iterable[Any], document: SchemaDocument) -> Iterator[Schema]:
    """Yield these schemas and those that apply with them."""
    seen: set[int] = set()
    waiting = [part for part in schemas if isinstance(part, dict)]
    while waiting and len(seen) < _MOST:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            waiting += _applied(part, document)


def _defaults(schemas: Iterable[Any], document: SchemaDocument) -> Iterator[Any]:
    """Yield the defaults of these, or of those that apply with one that has none itself."""
    seen: set[int] = set()
    waiting = [part for part in schemas if isinstance(part, dict)]
    while waiting and len(seen) < _MOST:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if "default" in part:
            yield part["default"]
        else:
            waiting += _applied(part, document)


def _applied(part: Schema, document: SchemaDocument) -> list[Schema]:
    inner = [*list_of(part, "allOf"), document.resolve(part.get("$ref"))]
    return [one for one in inner if isinstance(one, dict)]


def _alternatives(
    parts: list[Schema], choices: Sequence[Sequence[Any]], document: SchemaDocument
) -> Iterator[_Alternative]:
    """Yield the alternatives of these schemas, those of alternatives among them."""
    looked = 0

    def follow(own: Sequence[Any], known: frozenset[int]) -> Iterator[_Alternative]:
        nonlocal looked
        looked += 1
        one = _Alternative(own, document)
        new = [part for part in one.parts if id(part) not in known]
        further = list(_branches(new)) if looked < _MOST else []
        for inner in further:
            yield from follow([*own, inner], known.union(map(id, new)))
        if not further:
            yield one

    followed = frozenset(map(id, parts))
    for own in [*([one] for one in _branches(parts)), *choices]:
        yield from follow(own, followed)


def _branches(parts: Iterable[Schema]) -> Iterator[Any]:
    return (one for part in parts for key in ("anyOf", "oneOf") for one in list_of(part, key))


def _type_names(part: Schema) -> list[str]:
    kind = part.get("type")
    return [kind] if isinstance(kind, str) else list_of(part, "type")


def _const(part: Schema) -> list[Any]:
    return [part["const"]] if "const" in part else []


def _others(part: Schema) -> list[Any]:
    return _schema(part.get("additionalProperties"))


def _schema(value: Any) -> list[Any]:
    return [value] if isinstance(value, dict) else []


ANYTHING: Final = ToolNode.root(None)
"""The node of a place of which no schema says anything."""
