"""Pair the items of two arrays: the gain of a pair, and the budget of pairs that are tried.

The gain of a pair is the weight of its leaves that match, each times its similarity, plus tiny
amounts that decide between equal sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS, equal
from llmeval_integrations.matching.aligned import align, measure_ends
from llmeval_integrations.matching.any_order import COMMON, WHOLE, pair_in_any_order
from llmeval_integrations.matching.by_key import pair_by_key
from llmeval_integrations.matching.likely import likely_pairs
from llmeval_integrations.matching.node import Node, count_leaves
from llmeval_integrations.matching.texts import Texts

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Table: TypeAlias = list[list[float]]
"""The gains of pairs: a row for each item of the output, a column for each of the reference."""

Item: TypeAlias = tuple[int, Any]
"""The row or column of an item, and the item's value at some place."""

SHARED: Final = 1e-6
"""The gain of two leaves at the same place that do not match, if `pairs_all`."""

WHOLE_FIRST: Final = 1e6
"""The extra gain of items that match in full, if the output may have extra members. Such an item
does not equal its reference, so it is not paired before the others. But this gain is more than all
leaves of a document together, so it is paired with its reference all the same."""

_LETTERS: Final = 500_000
"""The pairs of characters that take as long to compare as one pair of items."""


class BudgetSpentError(Exception):
    """Raised if the budget is spent while arrays inside other items are tried."""


class Pairing:
    """Pairs the items of arrays, once for every two arrays of a comparison.

    Items that match in full are paired first, the others for the greatest total gain. If sums are
    equal, earlier positions come first. A document has one budget of pairs that are tried. Beyond
    it, items are paired by the parts that they share.
    """

    def __init__(self, rate: Callable[[Pairing, Node, Any, Any], float]) -> None:
        """`rate` returns the gain of values by a full comparison, for nodes with defaults."""
        self.defaults: dict[tuple[int, int], bool] = {}
        """Whether a value is the default of its place, by the ids of node and value."""
        self.fills = True
        """Whether a member that one side leaves out is compared with its default. It is False
        inside such a default, which may contain itself."""
        self.texts = Texts()
        self.budget: float = MAX_PAIRS
        """How many more pairs may be tried."""
        self.depth = 0
        """How many arrays that contain the current one are being tried."""
        self._rate = rate
        self._found: dict[tuple[int, int, int], tuple[Pairs, Arrays]] = {}

    def find(self, node: Node, output: list[Any], reference: list[Any]) -> tuple[Pairs, bool]:
        """Return the pairs of two arrays, and whether there were too many items to try every pair.

        The same two arrays meet when the items that contain them are tried, and again when these
        are compared. So their pairs are kept.
        """
        order, most = node.order, min(len(output), len(reference))
        if order == "anchored" and len(output) != len(reference):
            _, end = measure_ends(output, reference)
            pairs = [(n, n) for n in range(most - end)]
            pairs += [(len(output) - n, len(reference) - n) for n in range(end, 0, -1)]
            return pairs, False
        if order in ("ordered", "anchored"):
            return [(n, n) for n in range(most)], False
        known = id(node), id(output), id(reference)
        if known not in self._found:
            arrays = Arrays(self, node, output, reference)  # keeps them alive, as ids are keys
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
        if node.fills or not node.counts_extra:
            return self._rate(self, node, output, reference)
        kind = type(output)
        if node.whole or kind is not type(reference) or not (output and reference):
            return self._gain_of_leaves(node, output, reference)
        if kind is dict:
            total, known, uniform = 0.0, node.members, node.uniform
            common = COMMON + SHARED * node.pairs_all
            for name in reference:
                if name not in output:
                    continue
                its = node if uniform else known.get(name) or node.member(name)
                value, expected = output[name], reference[name]
                kind = type(value)
                if kind in SCALARS and kind is type(expected) and value == expected:
                    total += 0.0 if its.ignored else its.weight + common
                else:
                    total += self.gain(its, value, expected)
            return total
        if kind is list:
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
            if not node.counts_empty and output in ([], {}) and reference in ([], {}):
                return 0.0
        if node.exact:
            return node.weight + COMMON + shared if equal(output, reference) else shared
        if self.depth and node.fuzzy and type(output) is type(reference) is str:
            self.spend(len(output) * len(reference) / _LETTERS)
        kind, score, _ = node.leaf(output, reference)
        if kind in ("match", "open") or score > 0:
            return node.weight * score + COMMON + shared
        return shared

    def spend(self, pairs: float) -> None:
        """Take pairs from the budget; raise BudgetSpentError if it has fewer."""
        self.budget -= pairs
        if self.budget < 0:
            raise BudgetSpentError


class Arrays:
    """Two arrays whose items are paired."""

    def __init__(
        self, pairing: Pairing, node: Node, output: list[Any], reference: list[Any]
    ) -> None:
        self.pairing = pairing
        self.node = node
        self.its = node.item(0)
        self.output = output
        self.reference = reference
        self.least = node.min_similarity
        """The least similarity of a pair."""
        self.is_limited = False
        """Whether there were too many items to try every pair."""

    def gain(self, here: int, there: int) -> float:
        """Return the gain of two items, or 0 if they are less similar than `least`."""
        return self._table([here], [there])[0][0]

    def table(self, here: Sequence[int], there: Sequence[int]) -> Table | None:
        """Return the gain of each pair of these items, or None if there are too many.

        In that case half of the budget is given back, so that arrays inside the items can still be
        tried. All trials of a document together take at most twice the budget. Raises
        BudgetSpentError if the arrays are inside items that are being tried.
        """
        pairing, before = self.pairing, self.pairing.budget
        pairing.depth += 1
        try:
            pairing.spend(len(here) * len(there))
            return self._table(here, there)
        except BudgetSpentError:
            if pairing.depth > 1:
                raise
            pairing.budget = before // 2
            return None
        finally:
            pairing.depth -= 1

    def _table(self, here: Sequence[int], there: Sequence[int]) -> Table:
        its = self.its
        if len(here) == len(there) == 1 and not self.least:
            return [[self.pairing.gain(its, self.output[here[0]], self.reference[there[0]])]]
        ours, theirs = [self.output[n] for n in here], [self.reference[n] for n in there]
        table = [[0.0] * len(theirs) for _ in ours]
        self._add(table, its, [*enumerate(ours)], [*enumerate(theirs)])
        weights = [its.weigh(value) for value in theirs]
        for gains, weight in zip(table, map(its.weigh, ours)):
            for column, gain in enumerate(gains):
                if gain and gain >= max(weight, weights[column]):
                    gains[column] += WHOLE
                elif 2 * gain < self.least * (weight + weights[column]) * (1 - 1e-9):
                    gains[column] = 0.0
        return table

    def _add(self, table: Table, node: Node, ours: list[Item], theirs: list[Item]) -> None:
        """Add the gains of values at a node: each of ours with each of theirs.

        The gain of two objects is the sum of their members' gains, and equal leaves are found by
        their texts. This takes a tenth of the time of comparing each pair of items.
        """
        kinds = {type(value) if value else None for _, value in (*ours, *theirs)}
        is_plain = not (node.ignored or node.whole or node.fills)
        if is_plain and kinds == {dict} and node.counts_extra:
            members, others = _group_by_member(ours), _group_by_member(theirs)
            for name in members.keys() & others.keys():
                self._add(table, node.member(name), members[name], others[name])
        elif node.rates and kinds <= {str}:
            self._add_texts(table, node, ours, theirs)
        elif is_plain and node.exact and not node.pairs_all and not kinds & CONTAINERS:
            columns: defaultdict[str, list[int]] = defaultdict(list)
            for column, value in theirs:
                columns[node.leaf_text(value)].append(column)
            for row, value in ours:
                for column in columns.get(node.leaf_text(value), ()):
                    table[row][column] += node.weight + COMMON
        else:
            gain = self.pairing.gain
            for row, value in ours:
                for column, expected in theirs:
                    table[row][column] += gain(node, value, expected)

    def _add_texts(self, table: Table, node: Node, ours: list[Item], theirs: list[Item]) -> None:
        """Add the gains of texts, each of ours with all of theirs at once."""
        shared = SHARED if node.pairs_all else 0.0
        texts = [text for _, text in theirs]
        letters = sum(len(text) for _, text in ours) * sum(map(len, texts))
        self.pairing.spend(letters / _LETTERS)
        for row, text in ours:
            gains = table[row]
            for column, _ in theirs:
                gains[column] += shared
            for position, score in node.rate(text, texts):
                gains[theirs[position][0]] += node.weight * score + COMMON

    def pair_likely(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair items by the rare leaves that they share, without trying every pair."""
        self.is_limited = True
        leaves, its = self.pairing.texts.leaves, self.its
        pairs = likely_pairs(
            {n: sorted(leaves(its, self.output[n])) for n in spare},
            {n: sorted(leaves(its, self.reference[n])) for n in wanted},
        )
        return pairs if its.pairs_all else [pair for pair in pairs if self.gain(*pair)]

    def pair_leaves(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair the leftover leaves in their order; they do not match."""
        if self.least:
            return []  # their similarity is 0
        if self.its.pairs_all:
            return [*zip(spare, wanted)]
        here = [n for n in spare if self.its.is_leaf(self.output[n])]
        return [*zip(here, [n for n in wanted if self.its.is_leaf(self.reference[n])])]


def _group_by_member(items: list[Item]) -> dict[str, list[Item]]:
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for place, value in items:
        for name, part in value.items():
            found[name].append((place, part))
    return found
