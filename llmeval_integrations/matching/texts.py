"""Texts by which values that match in full are found."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS, canonical
from llmeval_integrations.matching.node import Node

_LONGEST: Final = 64
"""The longest text of an object or array that is not replaced by its hash: else the text of deeply
nested values would be written anew at every level."""


class Texts:
    """Writes values of two documents so that two values with the same text match in full."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], str] = {}

    def write(self, node: Node, value: Any) -> str:
        """Return the text of a value; the value has to live as long as this object."""
        if type(value) not in CONTAINERS or not value or node.whole:
            return node.leaf_text(value)
        known = node.path, node.variant, id(value)
        text = self._known.get(known)
        if text is None:
            if node.literal:
                text = canonical(value, sort_arrays=node.order == "any_order")
            elif type(value) is dict:
                text = self._object(node, value)
            else:
                text = self._array(node, value)
            if len(text) > _LONGEST:
                from hashlib import blake2b  # here, as importing it takes long

                text = blake2b(text.encode(), digest_size=16).hexdigest()
            self._known[known] = text
        return text

    def _object(self, node: Node, value: dict[str, Any]) -> str:
        texts = []
        for name in sorted(value):  # a comprehension would take one more level of the stack
            its = node.member(name)
            is_default = not node.varies and _is_default(its, value[name])
            if not (its.ignored or is_default):
                texts.append(f"{name!r}:{self.write(its, value[name])}")
        return f"{{{','.join(texts)}}}" if texts else "{ignored}"

    def _array(self, node: Node, items: list[Any]) -> str:
        texts = []
        for position, item in enumerate(items):
            its = node.item(position)
            if not its.ignored:
                texts.append(self.write(its, item))
        if not node.has_order(items):
            texts.sort()
        return f"[{','.join(texts)}]" if texts else "[ignored]"


def _is_default(node: Node, value: Any) -> bool:
    """Whether leaving the place out means this value; only of a scalar, which holds no other."""
    default = node.default
    if default is MISSING or type(value) not in SCALARS or type(default) not in SCALARS:
        return False
    return node.leaf_text(value) == node.leaf_text(default)
