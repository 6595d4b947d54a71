"""What a JSON Schema says about a part of a value. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from llmeval_integrations.json_value import canonical
from llmeval_integrations.sample import MISSING
from llmeval_integrations.schemas.document import SchemaDocument, matches

_ALTERNATIVES: Final = ("allOf", "anyOf", "oneOf")
_MOST = 256  # schemas that are looked at for one place; a schema may refer to itself

Types = frozenset[str]
Read = Callable[[Any, "SchemaPart"], Any]


class SchemaPart:
    """Those schemas of a document that may apply at one place of a value.

    `$ref` within the document, `allOf`, `anyOf` and `oneOf` are followed.
    """

    def __init__(
        self, root: Any, schemas: Iterable[Any] | None = None, read: Read | None = None
    ) -> None:
        """Begin at the root; `read` says how defaults are read, which is as they are."""
        self._document = root if isinstance(root, SchemaDocument) else SchemaDocument(root)
        self._own = [root] if schemas is None else list(schemas)
        self._read = read
        self._members: dict[str, SchemaPart] = {}
        self._items: dict[int, SchemaPart] = {}

    @cached_property
    def default(self) -> Any:
        """The default, where there is one and all that apply without a choice agree; or MISSING."""
        found = [part["default"] for part in self._walk(("allOf",)) if "default" in part]
        same = len({canonical(default) for default in found}) == 1
        if not same:
            return MISSING
        return found[0] if self._read is None else self._read(found[0], self)

    @cached_property
    def types(self) -> Types:
        """The JSON types that are named; empty where none is."""
        return frozenset(name for part in self._parts for name in _names(part.get("type")))

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
        return max((len(_list(part.get("prefixItems"))) for part in self._parts), default=0)

    def member(self, name: str) -> SchemaPart:
        """Return the part for an object's member."""
        if not self._parts:
            return self
        known = self._members.get(name)
        if known is not None:
            return known
        found = [one for part in self._parts for one in declared(part, name)]
        member = self._part(found or [part.get("additionalProperties") for part in self._parts])
        if any(name in _of(part, "properties") for part in self._parts):
            self._members[name] = member  # others are not kept: an output may have any name
        return member

    def item(self, position: int) -> SchemaPart:
        """Return the part for an array's item."""
        if not self._parts:
            return self
        at = min(position, self._prefixed)  # all behind these are alike
        if at not in self._items:
            found = []
            for part in self._parts:
                first = _list(part.get("prefixItems"))
                found.append(first[at] if at < len(first) else part.get("items"))
            self._items[at] = self._part(found)
        return self._items[at]

    def at(self, steps: Iterable[str], value: Any) -> SchemaPart:
        """Return the part for a place in a value, one that says nothing where there is none.

        The validator leaves empty names out of the places that it gives.
        """
        part = self
        for step in steps:
            if isinstance(value, dict) and step in value:
                part, value = part.member(step), value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                part, value = part.item(int(step)), value[int(step)]
            else:
                return _UNKNOWN
        return part

    def _part(self, schemas: list[Any]) -> SchemaPart:
        return SchemaPart(self._document, schemas, self._read) if any(schemas) else _UNKNOWN

    @cached_property
    def _parts(self) -> list[dict[str, Any]]:
        return list(self._walk(_ALTERNATIVES))

    def _walk(self, keywords: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        waiting = [part for part in self._own if isinstance(part, dict)]
        seen: set[int] = set()
        while waiting and len(seen) < _MOST:
            part = waiting.pop()
            if id(part) in seen:
                continue
            seen.add(id(part))
            yield part
            inner = [one for key in keywords for one in _list(part.get(key))]
            inner.append(self._document.resolve(part.get("$ref")))
            waiting.extend(one for one in inner if isinstance(one, dict))


_UNKNOWN = SchemaPart(None)


def declared(part: dict[str, Any], name: str) -> Iterator[Any]:
    """Yield what a schema says of a member, by its name or by a pattern that the name has."""
    properties = _of(part, "properties")
    if name in properties:
        yield properties[name]
    for pattern, schema in _of(part, "patternProperties").items():
        if matches(pattern, name):
            yield schema


def _of(part: dict[str, Any], keyword: str) -> dict[str, Any]:
    value = part.get(keyword)
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(kind: Any) -> list[str]:
    return [kind] if isinstance(kind, str) else _list(kind)
