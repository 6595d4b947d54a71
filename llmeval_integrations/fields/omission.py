"""Members that count as left out."""

from __future__ import annotations

from operator import is_
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.node import AnyOf, Node

Omitted = Literal["absent", "values"]

OMITTED: Final = ("absent", "values")

_WITH_PARTS: Final = CONTAINERS | {AnyOf}
_encode = msgspec.json.Encoder(enc_hook=str).encode


class Omission:
    """Takes members out of documents that are null, or an empty object or array."""

    def __init__(self, *, nulls: bool, empty: bool) -> None:
        self._nulls = nulls
        self._empty = empty
        self.paths: set[str] = set()
        """The fields that were left out somewhere."""

    def omit(self, node: Node, value: Any) -> Any:
        """Return a value without these members; a value that has none is returned as it is.

        From the inside out: an object whose members are all left out is empty. Items of arrays stay
        where they are, and so does what a function compares as a whole.
        """
        if not (self._nulls or self._empty):
            return value
        text = _encode(value)  # most have none, and this sees it in a tenth of the time
        may_have = b"null" in text or b"[]" in text or b"{}" in text
        return self._omit(node, value) if may_have else value

    def _omit(self, node: Node, value: Any) -> Any:
        if type(value) is AnyOf:
            return AnyOf(tuple(self._omit(node, one) for one in value.values), value.optional)
        if type(value) not in CONTAINERS or node.whole:
            return value
        if type(value) is list:
            items = [
                self._omit(node.item(position), item) if type(item) in _WITH_PARTS else item
                for position, item in enumerate(value)
            ]
            return value if all(map(is_, items, value)) else items
        found: dict[str, Any] = {}
        for name, part in value.items():
            kept = self._omit(node.member(name), part) if type(part) in _WITH_PARTS else part
            if type(kept) is AnyOf:  # which may be left out if one of its values counts as left out
                several = tuple(one for one in kept.values if not self._is_nothing(one))
                kept = AnyOf(several, kept.optional or len(several) < len(kept.values))
            if self._is_nothing(kept):
                self.paths.add(node.member(name).path)
            else:
                found[name] = kept
        is_same = len(found) == len(value) and all(map(is_, found.values(), value.values()))
        return value if is_same else found

    def _is_nothing(self, value: Any) -> bool:
        return self._nulls if value is None else self._empty and value in ([], {})
