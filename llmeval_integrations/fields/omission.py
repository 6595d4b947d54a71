"""Remove the members that count as left out."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.node import AnyOf, Node

Omitted = Literal["absent", "values"]

OMITTED: Final = get_args(Omitted)

_KEPT: Final = frozenset((str, int, float, bool))
"""The types of values that always stay, with everything in them; most values are of these."""


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
        if type(value) is AnyOf:
            if _KEPT.issuperset(map(type, value.values)):
                return value
            return AnyOf(tuple(self.omit(node, one) for one in value.values), value.optional)
        if type(value) not in CONTAINERS or node.whole or not (self._nulls or self._empty):
            return value
        return self._omit_members(node, value) if type(value) is dict else self._enter(node, value)

    def _enter(self, node: Node, items: list[Any]) -> list[Any]:
        kept = items
        if not _KEPT.issuperset(map(type, items)):
            for position, item in enumerate(items):
                left = self.omit(node.item(position), item)
                if left is not item:
                    kept = items.copy() if kept is items else kept
                    kept[position] = left
        return kept

    def _omit_members(self, node: Node, value: dict[str, Any]) -> dict[str, Any]:
        kept, known = value, node.members
        for name, part in value.items():
            if type(part) in _KEPT:
                continue
            its = known.get(name) or node.member(name)
            left = self.omit(its, part)
            if type(left) is AnyOf and left is not part:
                # It is optional if one of its alternatives counts as left out.
                several = tuple(one for one in left.values if not self._is_nothing(one))
                left = AnyOf(several, left.optional or len(several) < len(left.values))
            is_nothing = self._is_nothing(left)
            if left is part and not is_nothing:
                continue
            kept = value.copy() if kept is value else kept
            if is_nothing:
                self.paths.add(its.path)
                del kept[name]
            else:
                kept[name] = left
        return kept

    def _is_nothing(self, value: Any) -> bool:
        if value is None:
            return self._nulls
        return self._empty and not value and type(value) in CONTAINERS
