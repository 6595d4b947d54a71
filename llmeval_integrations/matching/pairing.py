"""Which items of two arrays belong together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.matching.aligned import Aligned
from llmeval_integrations.matching.any_order import AnyOrder
from llmeval_integrations.matching.by_key import ByKey
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.trials import Pairs, Trials

GainIn: TypeAlias = "Callable[[Pairing, Node, Any, Any], tuple[float, int]]"
"""A `Gain` that is told the pairs that are known already."""


class Found(NamedTuple):
    """The pairs of two arrays."""

    pairs: Pairs
    is_limited: bool
    """Whether the items were too many to be tried with each other."""
    arrays: tuple[list[Any], list[Any]]
    """The arrays, kept so that no others get their ids."""


class Pairing:
    """Pairs the items of arrays, once for every two arrays of a comparison.

    Items that are equal are paired first, the others so that the sum of the leaves that match is
    the greatest. A document has one budget of pairs that are tried; beyond it items are paired by
    the parts that they share.
    """

    def __init__(self, gain: GainIn) -> None:
        self.defaults: dict[tuple[str, str, int], bool] = {}
        """Whether values, by place and id, are the default of their place."""
        self.fills = True
        """Whether a default takes the place of what one side leaves out; inside of a default that
        does so already none does, as it may hold itself."""
        self._found: dict[tuple[str, str, int, int], Found] = {}
        self._trials = Trials(partial(gain, self))

    def find(self, node: Node, output: list[Any], reference: list[Any]) -> Found:
        """Return the pairs of two arrays whose node is not `ordered`, in the order of the output.

        The same two arrays meet with each item that theirs is tried with, and again once the best
        is chosen; they are paired once.
        """
        known = node.path, node.variant, id(output), id(reference)
        found = self._found.get(known)
        if found is None:
            pairs, is_limited = self._pair(node, output, reference)
            found = Found(sorted(pairs), is_limited, (output, reference))
            self._found[known] = found
        return found

    def _pair(self, node: Node, output: list[Any], reference: list[Any]) -> tuple[Pairs, bool]:
        if node.order == "anchored":
            return align_ends(output, reference), False
        if node.order == "aligned":
            aligned = Aligned(self._trials, node, output, reference)
            return aligned.pair(), aligned.is_limited
        if node.order == "by_key":
            by_key = ByKey(self._trials, node, output, reference)
            pairs = by_key.pair()
            if pairs is None:  # without the key the items have an order
                both = range(min(len(output), len(reference)))
                return [(n, n) for n in both], False
            return pairs, by_key.is_limited
        items = AnyOrder(self._trials, node, output, reference)
        return items.pair(range(len(output)), range(len(reference))), items.is_limited


def align_ends(output: list[Any], reference: list[Any]) -> Pairs:
    """Pair items of arrays that have other lengths: by position, and equal ones at the end."""
    most = min(len(output), len(reference))
    start = end = 0
    while start < most and equal(output[start], reference[start]):
        start += 1
    while end < most - start and equal(output[-1 - end], reference[-1 - end]):
        end += 1
    pairs = [(n, n) for n in range(most - end)]
    return pairs + [(len(output) - n, len(reference) - n) for n in range(end, 0, -1)]
