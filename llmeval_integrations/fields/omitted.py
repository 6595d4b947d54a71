"""Members that count as left out."""

from __future__ import annotations

import re
from operator import is_
from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.fields.field import Field
from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.node import AnyOf

_WITH_PARTS: Final = CONTAINERS | {AnyOf}
_MAY_BE_NOTHING: Final = re.compile(rb"null|\[\]|\{\}").search

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
        if type(value) is AnyOf:
            return AnyOf(tuple(self.omit(node, one) for one in value.values), value.optional)
        if type(value) not in CONTAINERS or node.whole or not (self._nulls or self._empty):
            return value
        return (
            self._omit_from_array(node, value) if type(value) is list else self._omit(node, value)
        )

    def omit_from_document(self, node: Field, document: Any) -> Any:
        """Return a document without these members.

        Most documents have none: to see that in their text takes a tenth of the time.
        """
        text = msgspec.json.encode(document)
        return self.omit(node, document) if _MAY_BE_NOTHING(text) else document

    def _omit_from_array(self, node: Field, items: list[Any]) -> list[Any]:
        kept = [
            self.omit(node.item(position), item) if type(item) in _WITH_PARTS else item
            for position, item in enumerate(items)
        ]
        return items if all(map(is_, kept, items)) else kept

    def _omit(self, node: Field, value: dict[str, Any]) -> dict[str, Any]:
        changed = False
        found: dict[str, Any] = {}
        for name, part in value.items():
            kept = self.omit(node.member(name), part) if type(part) in _WITH_PARTS else part
            if type(kept) is AnyOf:
                kept = self._omit_choices(kept)
            is_nothing = self._is_nothing(kept)
            if is_nothing:
                self.paths.add(node.member(name).path)
            else:
                found[name] = kept
            changed |= is_nothing or kept is not part
        return found if changed else value

    def _omit_choices(self, choices: AnyOf) -> AnyOf:
        """Return choices for a member, which may be left out if one of them counts as left out."""
        kept = [value for value in choices.values if not self._is_nothing(value)]
        return AnyOf(tuple(kept), choices.optional or len(kept) < len(choices.values))

    def _is_nothing(self, value: Any) -> bool:
        return self._nulls if value is None else self._empty and value in ([], {})
