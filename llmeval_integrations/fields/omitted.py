"""Members that count as left out."""

from __future__ import annotations

from operator import is_
from typing import Any, Final, Literal

from llmeval_integrations.fields.field import Field
from llmeval_integrations.json_values.equality import CONTAINERS

Omitted = Literal["absent", "values"]

OMITTED: Final = ("absent", "values")


class Omission:
    """Takes members out of documents that are null, or an empty object or array."""

    def __init__(self, *, nulls: bool, empty: bool) -> None:
        self._nulls = nulls
        self._empty = empty
        self.paths: set[str] = set()
        """The fields that were left out somewhere."""

    def omit(self, node: Field, value: Any) -> Any:
        """Return a value without these members; a value that has none is returned as it is.

        From the inside out: an object whose members are all left out is empty. Items of arrays stay
        where they are, and so does what a function compares as a whole.
        """
        if type(value) not in CONTAINERS or node.whole or not (self._nulls or self._empty):
            return value
        return (
            self._omit_from_array(node, value) if type(value) is list else self._omit(node, value)
        )

    def _omit_from_array(self, node: Field, items: list[Any]) -> list[Any]:
        kept = [
            self.omit(node.item(position), item) if type(item) in CONTAINERS else item
            for position, item in enumerate(items)
        ]
        return items if all(map(is_, kept, items)) else kept

    def _omit(self, node: Field, value: dict[str, Any]) -> dict[str, Any]:
        changed = False
        found: dict[str, Any] = {}
        for name, part in value.items():
            kept = self.omit(node.member(name), part) if type(part) in CONTAINERS else part
            is_nothing = self._nulls if kept is None else self._empty and kept in ([], {})
            if is_nothing:
                self.paths.add(node.member(name).path)
            else:
                found[name] = kept
            changed |= is_nothing or kept is not part
        return found if changed else value
