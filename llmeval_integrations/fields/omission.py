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
_MAY_BE_NOTHING: Final = re.compile(r"null|\[\s*\]|\{\s*\}").search

Omitted = Literal["absent", "values"]

OMITTED: Final = ("absent", "values")


class Omission:
    """Takes members out of documents that are null, or an empty object or array."""

    def __init__(self, *, nulls: bool, empty: bool) -> None:
        self._nulls = nulls
        self._empty = empty
        self.paths: set[str] = set()
        """The fields that were left out somewhere."""

    def omit_from_document(self, node: Field, document: Any, source: Any) -> Any:
        """Return a document without these members; `source` is the text that it stands in, if any.

        Most documents have none: to see that in their text takes a tenth of the time.
        """
        text = source if type(source) is str else msgspec.json.encode(document).decode()
        return self.omit(node, document) if _MAY_BE_NOTHING(text) else document

    def omit(self, node: Field, value: Any) -> Any:
        """Return a value without these members; a value that has none is returned as it is.

        From the inside out: an object whose members are all left out is empty. Items of arrays stay
        where they are, and so does what a function compares as a whole.
        """
        if type(value) is AnyOf:
            return AnyOf(tuple(self.omit(node, one) for one in value.values), value.optional)
        if type(value) not in CONTAINERS or node.whole or not (self._nulls or self._empty):
            return value
        if type(value) is list:
            items = [
                self.omit(node.item(position), item) if type(item) in _WITH_PARTS else item
                for position, item in enumerate(value)
            ]
            return value if all(map(is_, items, value)) else items
        found: dict[str, Any] = {}
        for name, part in value.items():
            kept = self.omit(node.member(name), part) if type(part) in _WITH_PARTS else part
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
