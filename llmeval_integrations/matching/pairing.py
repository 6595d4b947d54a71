"""Pair the items of the arrays of two documents, and rate pairs of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llmeval_integrations.json_values.equality import SCALARS, equal
from llmeval_integrations.matching.alignment import align
from llmeval_integrations.matching.any_order import pair_in_any_order
from llmeval_integrations.matching.arrays import (
    COMMON,
    SHARED,
    WHOLE,
    Arrays,
    Budget,
    Items,
    Pairs,
    are_disjoint,
)
from llmeval_integrations.matching.by_key import pair_by_key
from llmeval_integrations.matching.node import Node, count_leaves
from llmeval_integrations.matching.texts import Texts

WHOLE_FIRST: Final = 1e6
"""The extra gain of items that match in full, if the output may have extra members. Such an item
does not equal its reference, so it is not paired before the others. But this gain is more than all
leaves of a document together, so it is paired with its reference all the same."""


class Pairing:
    """Pairs the items of arrays, once for every two arrays of a comparison.

    Items that match in full are paired first, the others for the greatest total gain. If sums are
    equal, earlier positions come first. A document has one budget of pairs that are tried. Beyond
    it, items are paired by the parts that they share.
    """

    def __init__(self, full_gain: Callable[[Pairing, Node, Any, Any], float]) -> None:
        """`full_gain` returns the gain of values by a full comparison, for nodes with defaults."""
        self.defaults: dict[tuple[int, int], bool] = {}
        """Whether a value is the default of its place, by the ids of node and value."""
        self.uses_defaults = True
        """Whether a member that one side leaves out is compared with its default. It is False
        inside such a default, which may contain itself."""
        self.texts = Texts()
        self.budget = Budget()
        self._full_gain = full_gain
        self._found: dict[tuple[int, int, int], tuple[Pairs, Arrays]] = {}

    def find(self, node: Node, output: Items, reference: Items) -> tuple[Pairs, bool]:
        """Return the pairs of two arrays, and whether there were too many items to try every pair.

        The same two arrays meet when the items that contain them are tried, and again when these
        are compared. So their pairs are kept.
        """
        order, most = node.order, min(len(output), len(reference))
        if order == "ordered":
            return [(n, n) for n in range(most)], False
        known = id(node), id(output), id(reference)
        if known not in self._found:
            arrays = Arrays(  # it keeps them alive, as their ids are keys
                *(node, output, reference), gain_of=self.gain, texts=self.texts, budget=self.budget
            )
            if order == "aligned":
                pairs = align(arrays)
            elif order == "any_order":
                pairs = pair_in_any_order(arrays, range(len(output)), range(len(reference)))
            elif node.has_order(output) and node.has_order(reference):  # no item has the key
                pairs = [(n, n) for n in range(most)]
            else:
                pairs = pair_by_key(arrays)
            self._found[known] = sorted(pairs), arrays
        pairs, arrays = self._found[known]
        return pairs, arrays.is_limited

    def gain(self, node: Node, output: Any, reference: Any) -> float:
        """Return the gain of two values, or 0 if they have no common leaf.

        A full comparison would give the same and take five times as long.
        """
        if node.ignored:
            return 0.0
        if node.has_defaults or not node.counts_extra:
            return self._full_gain(self, node, output, reference)
        kind = type(output)
        if node.whole or kind is not type(reference) or not (output and reference):
            return self._gain_of_leaves(node, output, reference)
        if kind is dict:
            total, known = 0.0, node.members
            common = COMMON + SHARED * node.pairs_all
            for name in reference:
                if name not in output:
                    continue
                its = known.get(name) or node.member(name)
                value, expected = output[name], reference[name]
                kind = type(value)
                if kind in SCALARS and kind is type(expected) and value == expected:
                    total += 0.0 if its.ignored else its.weight + common
                else:
                    total += self.gain(its, value, expected)
            return total
        if kind is list:
            if node.order != "ordered":
                its = node.item(0)
                if its.exact and not its.pairs_all and are_disjoint(output, reference):
                    return 0.0
            pairs, _ = self.find(node, output, reference)
            return sum(self.gain(node.item(n), output[n], reference[m]) for n, m in pairs)
        return self._gain_of_leaves(node, output, reference)

    def _gain_of_leaves(self, node: Node, output: Any, reference: Any) -> float:
        shared = SHARED if node.pairs_all else 0.0
        if not (type(output) in SCALARS and type(reference) in SCALARS):
            if shared:  # at most so many leaves can be at the same places
                shared *= min(count_leaves(output), count_leaves(reference))
            if not (node.is_leaf(output) and node.is_leaf(reference)):
                is_same = type(output) is type(reference) and not node.weigh(output or reference)
                # An empty object equals one in which everything is ignored.
                return WHOLE if is_same else shared
            if not (node.counts(output) or node.counts(reference)):
                return 0.0
        if node.exact:
            return node.weight + COMMON + shared if equal(output, reference) else shared
        if self.budget.depth and node.fuzzy and type(output) is type(reference) is str:
            self.budget.spend_letters(len(output) * len(reference))
        kind, score, _ = node.leaf(output, reference)
        if kind in ("match", "open") or score > 0:
            return node.weight * score + COMMON + shared
        return shared
