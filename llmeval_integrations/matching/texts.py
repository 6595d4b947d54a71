"""Texts that are equal for values that match in full, so that these are found quickly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS, canonical
from llmeval_integrations.matching.node import Node

_LONGEST: Final = 64
"""The longest text of an object or array; a longer one is replaced by its hash. Otherwise the text
of a deeply nested value would be copied at every level."""


class Texts:
    """Writes values of two documents so that two values with the same text match in full."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[str, Node]] = {}  # with the node, to keep its id

    def write(self, node: Node, value: Any) -> str:
        """Return the text of a value, which has to live as long as this object."""
        if type(value) not in CONTAINERS or not value or node.whole:
            return node.leaf_text(value)
        known = self._known.get((id(node), id(value)))
        if known is not None:
            return known[0]
        if node.literal:
            text = canonical(value, sort_arrays=node.order == "any_order")
        elif type(value) is dict:
            text = self._write_object(node, value)
        else:
            items = enumerate(value)
            texts = [
                self.write(its, item) for n, item in items if not (its := node.item(n)).ignored
            ]
            if not node.has_order(value):
                texts.sort()
            text = f"[{','.join(texts)}]" if texts else "[ignored]"
        if len(text) > _LONGEST:
            from hashlib import blake2b  # here, as importing it takes long

            text = blake2b(text.encode(), digest_size=16).hexdigest()
        self._known[id(node), id(value)] = text, node
        return text

    def _write_object(self, node: Node, value: dict[str, Any]) -> str:
        texts = []
        for name in sorted(value):
            its = node.member(name)
            is_default = not node.varies and _is_default(its, value[name])
            if not (its.ignored or is_default):
                texts.append(f"{name!r}:{self.write(its, value[name])}")
        return f"{{{','.join(texts)}}}" if texts else "{ignored}"

    def leaves(self, node: Node, value: Any, path: str = "") -> Iterator[str]:
        """Yield the texts of the leaves of a value, each with its place."""
        if node.ignored:
            return
        if type(value) is dict and value and not node.whole:
            for name, part in value.items():
                yield from self.leaves(node.member(name), part, f"{path}/{name}")
        elif type(value) is list and value and not node.whole:
            has_order = node.has_order(value)
            for position, part in enumerate(value):
                step = position if has_order else "*"
                yield from self.leaves(node.item(position), part, f"{path}/{step}")
        else:
            yield f"{path}:{self.write(node, value)}"


def _is_default(node: Node, value: Any) -> bool:
    """Return whether a scalar is the default of its place; other values are not looked into."""
    default = node.default
    if default is MISSING or type(value) not in SCALARS or type(default) not in SCALARS:
        return False
    return node.leaf_text(value) == node.leaf_text(default)
