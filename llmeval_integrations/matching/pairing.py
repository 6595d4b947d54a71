"""Pair the items of two arrays, so that as much as possible matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.values import (
    CONTAINERS,
    SCALARS,
    canonical,
    count_leaves,
    equal,
)
from llmeval_integrations.matching.alignment import align, are_disjoint, pair_by_position
from llmeval_integrations.matching.assignment import (
    Pairs,
    Positions,
    Table,
    best_pairs,
    leftovers,
    pair_texts,
)
from llmeval_integrations.matching.gains import (
    COMMON,
    FULL,
    SAME_PLACE,
    BudgetSpentError,
    gain_by_comparison,
    make_table,
    prefer_full,
    spend_on_texts,
)
from llmeval_integrations.matching.keys import pair_by_key
from llmeval_integrations.matching.node import AnyOf, Node
from llmeval_integrations.matching.shared_parts import pair_by_parts

if TYPE_CHECKING:
    from llmeval_integrations.matching.comparison import Comparison

_FEW: Final = 9  # pairs of items, for which it is faster to compare each pair


class Pairing(msgspec.Struct):
    """Pairs the items of arrays, once for every two arrays of a comparison.

    Items that match in full are paired first, the others for the greatest total gain. If sums are
    equal, earlier positions come first. A document has one budget of pairs that are tried. Beyond
    it, items are paired by the parts that they share.
    """

    compare: Callable[[Pairing, Node, Any, Any], Comparison]
    """Compares two items in full, for nodes with defaults."""

    left: float = MAX_PAIRS
    """How many more pairs of items may be tried."""

    depth: int = 0
    """How many arrays that contain the current one are being tried."""

    found: dict[tuple[int, int, int], tuple[Pairs, Arrays]] = {}
    """The pairs of arrays that were paired, by the ids of node and arrays, which live on here."""

    texts: dict[tuple[int, int], tuple[str, Node]] = {}
    """The texts of objects and arrays, by the ids of node and value; the node is kept alive."""

    numbers: dict[str, int] = {}
    """The number of each of these texts."""

    defaults: dict[tuple[int, int], bool] = {}
    """Whether a value is the default of its place, by the ids of node and value."""

    uses_defaults: bool = True
    """Whether a member that one side leaves out is compared with its default. It is False inside
    such a default, which may contain itself."""

    def find(self, node: Node, output: list[Any], reference: list[Any]) -> tuple[Pairs, bool]:
        """Return the pairs of two arrays, and whether there were too many items to try every pair.

        The same two arrays meet when the items that contain them are tried, and again when these
        are compared. So their pairs are kept.
        """
        order = node.order
        if order in ("ordered", "anchored"):
            return pair_by_position(output, reference, from_end=order == "anchored"), False
        if equal(output, reference):  # such as the tags of all items, once for every pair of items
            return [(n, n) for n in range(len(output))], False
        known = id(node), id(output), id(reference)
        if known not in self.found:
            its = node if node.uniform else node.item(0)
            least = 0.0 if order == "by_key" else node.min_similarity
            arrays = Arrays(self, node, its, output, reference, least)
            if order == "by_key":
                pairs = pair_by_key(arrays)
            elif order == "aligned":
                pairs = align(arrays)
            else:
                pairs = arrays.pair_in_any_order(range(len(output)), range(len(reference)))
            self.found[known] = sorted(pairs), arrays
        pairs, arrays = self.found[known]
        return pairs, arrays.is_limited

    def text(self, node: Node, value: Any) -> str:
        """Return a text that two values share only if they match in full.

        The value has to live as long as this object. An object or array has the number of its text,
        which would otherwise be copied at every level above it.
        """
        if type(value) not in CONTAINERS or not value or node.whole:
            return node.leaf_text(value)
        key = id(node), id(value)
        known = self.texts.get(key)
        if known is None:
            if node.literal:
                text = canonical(value, sort_arrays=node.order == "any_order")
            elif type(value) is dict:
                members = ((name, node.member(name)) for name in sorted(value))
                parts = [
                    f"{name!r}:{self.text(its, value[name])}"
                    for name, its in members
                    if not (its.ignored or (not node.varies and _is_default(its, value[name])))
                ]
                text = "{" + ",".join(parts)
            else:
                items = ((node.item(position), item) for position, item in enumerate(value))
                parts = [self.text(its, item) for its, item in items if not its.ignored]
                text = "[" + ",".join(parts if node.has_order(value) else sorted(parts))
            known = f"#{self.numbers.setdefault(text, len(self.numbers))}", node
            self.texts[key] = known
        return known[0]

    # --- what a pair of values gains -------------------------------------------------------------

    def gain(self, node: Node, output: Any, reference: Any) -> float:
        """Return the gain of two values, or 0 if they have no common leaf.

        A full comparison would give the same and take five times as long.
        """
        if node.ignored:
            return 0.0
        if node.has_defaults or not node.counts_extra:
            return gain_by_comparison(self, node, output, reference)
        kind = type(output)
        is_inner = kind in CONTAINERS and kind is type(reference) and not node.whole
        if not (is_inner and output and reference):
            return self.gain_of_leaves(node, output, reference)
        total = 0.0
        if kind is dict:
            known, is_uniform = node.members, node.uniform
            common = COMMON + SAME_PLACE * node.pairs_all
            for name in reference:
                if name not in output:
                    continue
                its = node if is_uniform else known.get(name) or node.member(name)
                value, expected = output[name], reference[name]
                kind = type(value)
                if kind in SCALARS and kind is type(expected) and value == expected:
                    total += 0.0 if its.ignored else its.weight + common
                else:
                    total += self.gain(its, value, expected)
            return total
        if node.order != "ordered":
            its = node.item(0)
            if its.exact and not its.pairs_all and are_disjoint(output, reference):
                return 0.0
        pairs, _ = self.find(node, output, reference)
        for here, there in pairs:  # `sum` of a generator would be a frame more in every level
            total += self.gain(node.item(here), output[here], reference[there])
        return total

    def gain_of_leaves(self, node: Node, output: Any, reference: Any) -> float:
        """Return the gain of two values that are not compared part by part."""
        same_place = SAME_PLACE if node.pairs_all else 0.0
        if not (type(output) in SCALARS and type(reference) in SCALARS):
            if same_place:  # at most so many leaves can be at the same places
                same_place *= min(count_leaves(output), count_leaves(reference))
            if not (node.is_leaf(output) and node.is_leaf(reference)):
                is_same = type(output) is type(reference) and not node.weigh(output or reference)
                # An empty object equals one in which everything is ignored.
                return FULL if is_same else same_place
            if not (node.counts(output) or node.counts(reference)):
                return 0.0
        if node.exact:
            return (node.weight + COMMON) * equal(output, reference) + same_place
        if self.depth and node.fuzzy:
            spend_on_texts(self, output, reference)
        kind, score = node.leaf(output, reference)
        if kind in ("match", "open") or score > 0:
            return node.weight * score + COMMON + same_place
        return same_place


def _is_default(node: Node, value: Any) -> bool:
    """Return whether a scalar is the default of its place; other values are not looked into."""
    default = node.default
    if default is MISSING or type(value) not in SCALARS or type(default) not in SCALARS:
        return False
    return node.leaf_text(value) == node.leaf_text(default)


class Arrays(msgspec.Struct):
    """Two arrays whose items are paired."""

    pairing: Pairing
    node: Node
    its: Node
    """The node of the items."""

    output: list[Any]
    reference: list[Any]

    least: float = 0.0
    """The least similarity of a pair; with a key, it is checked after all pairs are found."""

    is_limited: bool = False
    """Whether there were too many items to try every pair."""

    def gain(self, here: int, there: int) -> float:
        """Return the gain of two items, or 0 if they are less similar than `least`."""
        output, reference, its = self.output[here], self.reference[there], self.its
        gain = self.pairing.gain(its, output, reference)
        if self.least and 2 * gain < self.least * (its.weigh(output) + its.weigh(reference)):
            return 0.0
        return gain

    def table(self, here: Positions, there: Positions) -> Table | None:
        """Return the gain of each pair, or None if there are too many items.

        In that case half of the budget is given back, so that arrays inside the items can still be
        tried. All trials of a document together take at most twice the budget. Raises
        BudgetSpentError if the arrays are inside items that are being tried.
        """
        pairing, its, before = self.pairing, self.its, self.pairing.left
        output, reference, tries = self.output, self.reference, len(here) * len(there)
        pairing.depth += 1
        try:
            pairing.left -= tries
            if pairing.left < 0:
                raise BudgetSpentError  # noqa: TRY301 - the caller may have items to pair, too
            if tries > _FEW:
                table = make_table(
                    pairing, its, [output[n] for n in here], [reference[n] for n in there]
                )
            else:
                table = []
                for n in here:  # a comprehension would be a frame more in every level
                    table.append([])
                    for m in there:
                        gain = pairing.gain(its, output[n], reference[m])
                        table[-1].append(gain + COMMON * (output[n] == reference[m]))
        except BudgetSpentError:
            if pairing.depth > 1:
                raise
            pairing.left = before // 2
            return None
        finally:
            pairing.depth -= 1
        if not its.pairs_all and (self.least or tries > 1):
            prefer_full(self, table, here, there)
        return table

    def pair_leaves(self, spare: Positions, wanted: Positions) -> Pairs:
        """Pair the leftover leaves in their order; they do not match."""
        if self.least:
            return []  # their similarity is 0
        if self.its.pairs_all:
            return [*zip(spare, wanted)]
        here = [n for n in spare if self.its.is_leaf(self.output[n])]
        return [*zip(here, [n for n in wanted if self.its.is_leaf(self.reference[n])])]

    def pair_in_any_order(self, here: Positions, there: Positions) -> Pairs:
        """Pair items for the greatest total gain, first the items that match in full."""
        output, reference, its = self.output, self.reference, self.its
        pairs: Pairs = []
        for n in sorted({*here}.intersection(there)):
            if equal(output[n], reference[n]):
                pairs.append((n, n))
        rows, columns = leftovers(pairs, here, there) if pairs else (here, there)
        if len(rows) * len(columns) > _FEW:
            same, rows, columns = self._pair_equal(rows, columns)
            pairs += same
        if its.pairs_all and len(rows) == len(columns) == 1:
            return [*pairs, (rows[0], columns[0])]  # whatever they gain
        table = self.table(rows, columns) if rows and columns else []
        if table is None:
            pairs += pair_by_parts(self, rows, columns)
        elif table:
            # With a tolerance of 0.1, [1.9, 2.0] matches [2.0, 2.1] if the equal 2.0 are split.
            may_split = pairs and (its.fuzzy or self.least > 0)
            if may_split and self._may_gain(pairs, rows, columns, table):
                all_gains = self.table(here, there)
                self.is_limited |= all_gains is None
                if all_gains is not None:
                    table, rows, columns, pairs = all_gains, [*here], [*there], []
            for row, column in best_pairs(table):
                pairs.append((rows[row], columns[column]))
        if len(pairs) < min(len(here), len(there)):
            pairs += self.pair_leaves(*leftovers(pairs, here, there))
        return pairs

    def _pair_equal(
        self, rows: Positions, columns: Positions
    ) -> tuple[Pairs, list[int], list[int]]:
        """Return the pairs of items that match in full, and the items that may match others."""
        output, reference, its, text = self.output, self.reference, self.its, self.pairing.text
        same, rows, columns = pair_texts(
            {n: text(its, output[n]) for n in rows}, {n: text(its, reference[n]) for n in columns}
        )
        if its.exact and not any(type(reference[n]) is AnyOf for n in columns):
            here = [n for n in rows if self._may_match_other(output[n])]
            there = [n for n in columns if self._may_match_other(reference[n])]
            if not (its.pairs_all and here and there):
                rows, columns = here, there
        return same, rows, columns

    def _may_match_other(self, item: Any) -> bool:
        """Return whether an item may match one that is not equal to it, if leaves are exact.

        A scalar does not. If all are compared as JSON, an empty object or array does not either.
        """
        is_literal = self.its.literal and self.its.counts_extra
        return type(item) not in SCALARS and bool(item or not is_literal)

    def _may_gain(self, same: Pairs, spare: Positions, wanted: Positions, table: Table) -> bool:
        """Return whether splitting pairs of equal items may increase the total gain.

        It cannot if every item of the shorter rest already gains as much as with any item of these
        pairs.
        """
        if len(spare) <= len(wanted):
            rivals = self.table(spare, [there for _, there in same])
        else:
            turned = self.table([here for here, _ in same], wanted)
            rivals = turned and [[*column] for column in zip(*turned)]
            table = [[*column] for column in zip(*table)]
        if rivals is None:
            return True
        best = [max(row) for row in table]
        gained = sum(table[row][column] for row, column in best_pairs(table))
        if sum(best) > gained + FULL:  # not every item could have its best partner
            best = [0.0] * len(best)
        return any(max(row) > most for row, most in zip(rivals, best))
