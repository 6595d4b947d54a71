"""What a JSON Schema says about a part of a value. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from llmeval_integrations.json_value import canonical
from llmeval_integrations.sample import MISSING

_ALTERNATIVES: Final = ("allOf", "anyOf", "oneOf")
_MOST = 256  # schemas that are looked at for one place; a schema may refer to itself

Types = frozenset[str]


class SchemaPart:
    """Those schemas of a document that may apply at one place of a value.

    `$ref` within the document, `allOf`, `anyOf` and `oneOf` are followed.
    """

    def __init__(self, root: Any, schemas: Iterable[Any] | None = None) -> None:
        self._root = root
        self._own = [root] if schemas is None else list(schemas)
        self._all: list[dict[str, Any]] | None = None

    @property
    def default(self) -> Any:
        """The default, where there is one and all that apply without a choice agree; or MISSING."""
        found = [part["default"] for part in self._walk(("allOf",)) if "default" in part]
        same = len({canonical(default) for default in found}) == 1
        return found[0] if same else MISSING

    @property
    def types(self) -> Types:
        """The JSON types that are named; empty where none is."""
        return frozenset(name for part in self._parts() for name in _names(part.get("type")))

    @property
    def unordered(self) -> bool:
        """Whether this is an array that holds nothing twice: a set."""
        return any(part.get("uniqueItems") is True for part in self._parts())

    def member(self, name: str) -> SchemaPart:
        """Give the part for an object's member."""
        parts = self._parts()
        found = [part["properties"][name] for part in parts if name in _of(part, "properties")]
        return SchemaPart(self._root, found or [part.get("additionalProperties") for part in parts])

    def item(self, position: int) -> SchemaPart:
        """Give the part for an array's item."""
        found = []
        for part in self._parts():
            first = part.get("prefixItems")
            if isinstance(first, list) and position < len(first):
                found.append(first[position])
            else:
                found.append(part.get("items"))
        return SchemaPart(self._root, found)

    def _parts(self) -> list[dict[str, Any]]:
        if self._all is None:
            self._all = list(self._walk(_ALTERNATIVES))
        return self._all

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
            inner.append(_resolve(self._root, part.get("$ref")))
            waiting.extend(one for one in inner if isinstance(one, dict))


def _resolve(root: Any, reference: Any) -> Any:
    """Follow a reference within the document; None where it leads nowhere."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    if "%" in reference:
        from urllib.parse import unquote

        reference = unquote(reference)
    value = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict):
            value = value.get(name)
        else:
            return None
    return value


def _of(part: dict[str, Any], keyword: str) -> dict[str, Any]:
    value = part.get(keyword)
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(kind: Any) -> list[str]:
    return [kind] if isinstance(kind, str) else _list(kind)
