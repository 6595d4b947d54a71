"""Remove the members that count as left out."""

from __future__ import annotations

from operator import is_
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.node import AnyOf, Node

Omitted = Literal["absent", "values"]

OMITTED: Final = get_args(Omitted)

_WITH_PARTS: Final = CONTAINERS | {AnyOf}
_encode = msgspec.json.Encoder(enc_hook=str).encode


class Omission:
    """Removes members that are null, or an empty object or array, from documents."""

    def __init__(self, *, nulls: bool, empty: bool) -> None:
        self._nulls = nulls
        self._empty = empty
        self.paths: set[str] = set()
        """The paths of members that were removed."""

    def omit(self, node: Node, value: Any) -> Any:
        """Return a value without these members, or the value itself if it has none.

        Inner members are removed first, so an object that loses all its members is removed, too.
        Items of arrays are kept, and so are the parts of a value that is compared as a whole.
        """
        if not (self._nulls or self._empty):
            return value
        text = _encode(value)  # most values have none; this finds out in a tenth of the time
        may_have = b"null" in text or b"[]" in text or b"{}" in text
        return self._omit(node, value) if may_have else value

    def _omit(self, node: Node, value: Any) -> Any:
        if type(value) is AnyOf:
            return AnyOf(tuple(self._omit(node, one) for one in value.values), value.optional)
        if type(value) not in CONTAINERS or node.whole:
            return value
        if type(value) is list:
            if _WITH_PARTS.isdisjoint(map(type, value)):
                return value
            items = [
                self._omit(node.item(position), item) if type(item) in _WITH_PARTS else item
                for position, item in enumerate(value)
            ]
            return value if all(map(is_, items, value)) else items
        found: dict[str, Any] = {}
        for name, part in value.items():
            kept = self._omit(node.member(name), part) if type(part) in _WITH_PARTS else part
            if type(kept) is AnyOf:  # optional if one of its alternatives counts as left out
                several = tuple(one for one in kept.values if not self._is_nothing(one))
                kept = AnyOf(several, kept.optional or len(several) < len(kept.values))
            # A scalar that is not null needs no look; most members are one.
            if (kept is None or type(kept) in CONTAINERS) and self._is_nothing(kept):
                self.paths.add(node.member(name).path)
            else:
                found[name] = kept
        is_same = len(found) == len(value) and all(map(is_, found.values(), value.values()))
        return value if is_same else found

    def _is_nothing(self, value: Any) -> bool:
        return self._nulls if value is None else self._empty and value in ([], {})
