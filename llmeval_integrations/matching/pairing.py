"""Which items of two arrays belong together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from llmeval_integrations.matching.aligned import align, measure_ends
from llmeval_integrations.matching.any_order import pair_by_key, pair_in_any_order
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.trials import Arrays, Pairs, Trials

GainWithPairing: TypeAlias = "Callable[[Pairing, Node, Any, Any], float]"
"""A `Gain` that takes the pairs that are known already."""


class Found(NamedTuple):
    """The pairs of two arrays."""

    pairs: Pairs
    is_limited: bool
    """Whether the items were too many to be tried with each other."""
    arrays: tuple[Node, list[Any], list[Any]]
    """What was paired, kept so that nothing else gets the same id."""


class Pairing:
    """Pairs the items of arrays, once for every two arrays of a comparison.

    Items that match in full are paired first, the others so that the sum of the leaves that match
    is the greatest; of equal sums earlier positions first. A document has one budget of pairs that
    are tried; beyond it items are paired by the parts that they share.
    """

    def __init__(self, gain: GainWithPairing) -> None:
        self.defaults: dict[tuple[int, int], bool] = {}
        """Whether values, by node and id, are the default of their place."""
        self.fills = True
        """Whether a default takes the place of what one side leaves out; inside of a default that
        does so already none does, as it may hold itself."""
        self._found: dict[tuple[int, int, int], Found] = {}
        self._trials = Trials(partial(gain, self))

    def find(self, node: Node, output: list[Any], reference: list[Any]) -> Found:
        """Return the pairs of two arrays whose node is not `ordered`, in the order of the output.

        The same two arrays meet with each item that theirs is tried with, and again once the best
        is chosen; they are paired once.
        """
        known = id(node), id(output), id(reference)
        found = self._found.get(known)
        if found is None:
            arrays = Arrays(self._trials, node, output, reference)
            pairs = sorted(_pair(arrays, output, reference))
            found = Found(pairs, arrays.is_limited, (node, output, reference))
            self._found[known] = found
        return found


def _pair(arrays: Arrays, output: list[Any], reference: list[Any]) -> Pairs:
    node, most = arrays.node, min(len(output), len(reference))
    if node.order == "anchored":  # by position, and equal ones at the end
        _, end = measure_ends(output, reference)
        pairs = [(n, n) for n in range(most - end)]
        return pairs + [(len(output) - n, len(reference) - n) for n in range(end, 0, -1)]
    if node.order == "aligned":
        return align(arrays)
    if node.order == "any_order":
        return pair_in_any_order(arrays, range(len(output)), range(len(reference)))
    if node.has_order(output) and node.has_order(reference):  # as no item has the key
        return [(n, n) for n in range(most)]
    return pair_by_key(arrays)
