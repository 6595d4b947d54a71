"""Pair the items of two arrays: in their order, in any order, or by a key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.values import CONTAINERS, SCALARS, canonical, equal
from llmeval_integrations.matching.alignment import align, measure_ends
from llmeval_integrations.matching.assignment import (
    Pairs,
    Table,
    best_pairs,
    leftovers,
    pair_by_shared_parts,
)
from llmeval_integrations.matching.gains import COMMON, WHOLE, BudgetSpentError, Gains, Items
from llmeval_integrations.matching.node import AnyOf, Node, alternatives_of, is_optional


@dataclass
class Pairing(Gains):
    """Pairs the items of arrays, once for every two arrays of a comparison.

    Items that match in full are paired first, the others for the greatest total gain. If sums are
    equal, earlier positions come first. A document has one budget of pairs that are tried. Beyond
    it, items are paired by the parts that they share.
    """

    found: dict[tuple[int, int, int], tuple[Pairs, _Arrays]] = field(default_factory=dict)
    """The pairs of arrays that have been paired, by the ids of node and arrays."""

    texts: dict[tuple[int, int], tuple[str, Node]] = field(default_factory=dict)
    """The texts of objects and arrays, by the ids of node and value; the node is kept alive."""

    numbers: dict[str, int] = field(default_factory=dict)
    """The number of each of these texts."""

    def find(self, node: Node, output: Items, reference: Items) -> tuple[Pairs, bool]:
        """Return the pairs of two arrays, and whether there were too many items to try every pair.

        The same two arrays meet when the items that contain them are tried, and again when these
        are compared. So their pairs are kept.
        """
        order, most = node.order, min(len(output), len(reference))
        if order in ("ordered", "anchored"):
            pairs = [*zip(range(most), range(most))]
            if order == "anchored" and len(output) != len(reference):
                ours, theirs = len(output), len(reference)
                end = measure_ends(output, reference)[1]
                pairs[most - end :] = zip(range(ours - end, ours), range(theirs - end, theirs))
            return pairs, False
        known = id(node), id(output), id(reference)
        if known not in self.found:
            # The arrays are kept alive, as their ids are keys.
            arrays = _Arrays(self, node, node.item(0), output, reference)
            if order == "by_key":
                pairs = arrays.pair_by_key()
            else:
                arrays.least = node.min_similarity
                here, there = range(len(output)), range(len(reference))
                is_aligned = order == "aligned"
                pairs = align(arrays) if is_aligned else arrays.pair_in_any_order(here, there)
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

    def leaf_texts(self, node: Node, value: Any, path: str = "") -> Iterator[str]:
        """Yield the texts of the leaves of a value, each with its place."""
        if node.ignored:
            return
        if node.is_leaf(value):
            yield f"{path}:{self.text(node, value)}"
        elif type(value) is dict:
            for name, part in value.items():
                yield from self.leaf_texts(node.member(name), part, f"{path}/{name}")
        else:
            has_order = node.has_order(value)
            for position, part in enumerate(value):
                step = position if has_order else "*"
                yield from self.leaf_texts(node.item(position), part, f"{path}/{step}")


def _is_default(node: Node, value: Any) -> bool:
    """Return whether a scalar is the default of its place; other values are not looked into."""
    default = node.default
    if default is MISSING or type(value) not in SCALARS or type(default) not in SCALARS:
        return False
    return node.leaf_text(value) == node.leaf_text(default)


@dataclass
class _Arrays:
    """Two arrays whose items are paired."""

    pairing: Pairing
    node: Node
    its: Node
    """The node of the items."""

    output: Items
    reference: Items

    least: float = 0.0
    """The least similarity of a pair; with a key, it is checked after all pairs are found."""

    is_limited: bool = False
    """Whether there were too many items to try every pair."""

    def gain(self, here: int, there: int) -> float:
        """Return the gain of two items, or 0 if they are less similar than `least`."""
        output, reference, its = self.output[here], self.reference[there], self.its
        gain = self.pairing.gain(its, output, reference)
        is_pair = not self.least or self._suffices(gain, its.weigh(output) + its.weigh(reference))
        return gain if is_pair else 0.0

    def table(self, here: Sequence[int], there: Sequence[int]) -> Table | None:
        """Return the gain of each pair, or None if there are too many items."""
        ours, theirs = map(self.output.__getitem__, here), map(self.reference.__getitem__, there)
        values, others, its = [*ours], [*theirs], self.its
        table = self.pairing.table(its, values, others)
        if table is None or (len(here) == len(there) == 1 and not self.least):
            return table
        weights: dict[int, float] = {}  # of the columns that have a gain; most have none
        for value, gains in zip(values, table):
            weight = -1.0
            for column, gain in enumerate(gains):
                if not gain:
                    continue
                if weight < 0:
                    weight = its.weigh(value)
                if column not in weights:
                    weights[column] = its.weigh(others[column])
                if gain >= max(weight, weights[column]):  # all leaves match
                    gains[column] += WHOLE
                elif self.least and not self._suffices(gain, weight + weights[column]):
                    gains[column] = 0.0
        return table

    def _suffices(self, gain: float, both: float) -> bool:
        """Return whether a pair is similar enough; `both` is the weight of its leaves."""
        return 2 * gain >= self.least * both * (1 - 1e-9)  # but for rounding

    def pair_by_parts(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair items by the rare leaves that they share, without trying every pair."""
        self.is_limited = True
        texts, its = self.pairing.leaf_texts, self.its
        pairs = pair_by_shared_parts(
            {n: sorted(texts(its, self.output[n])) for n in spare},
            {n: sorted(texts(its, self.reference[n])) for n in wanted},
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

    # --- in any order ----------------------------------------------------------------------------

    def pair_in_any_order(self, here: Sequence[int], there: Sequence[int]) -> Pairs:
        """Pair items for the greatest total gain, first the items that match in full."""
        its, (same, spare, wanted) = self.its, self._pair_equal(here, there)
        if not (spare and wanted):
            return same
        may_split = bool(same) and (its.fuzzy or self.least > 0)
        is_alone = its.pairs_all and len(spare) == len(wanted) == 1 and not may_split
        ours: Iterable[Any] = map(self.output.__getitem__, spare)
        theirs: Iterable[Any] = map(self.reference.__getitem__, wanted)
        if its.pairs_all and its.counts_extra:  # else an empty object may match one with parts
            ours, theirs = filter(None, ours), filter(None, theirs)
        kinds, others = {*map(type, ours)}, {*map(type, theirs)}
        are_scalars = others <= SCALARS or (kinds <= SCALARS and AnyOf not in others)
        if is_alone or (its.exact and are_scalars):  # nothing else matches
            return same + self.pair_leaves(spare, wanted)
        table = self.table(spare, wanted)
        if table is None:
            pairs = same + self.pair_by_parts(spare, wanted)
        else:
            # With a tolerance of 0.1, [1.9, 2.0] matches [2.0, 2.1] if the equal 2.0 are split.
            if may_split and self._may_gain(same, spare, wanted, table):
                whole = self.table(here, there)
                self.is_limited |= whole is None
                if whole is not None:
                    table, spare, wanted, same = whole, [*here], [*there], []
            pairs = same
            for row, column in best_pairs(table):
                pairs.append((spare[row], wanted[column]))
        if len(pairs) == min(len(here), len(there)):
            return pairs
        return pairs + self.pair_leaves(*leftovers(pairs, here, there))

    def _pair_equal(
        self, here: Sequence[int], there: Sequence[int]
    ) -> tuple[Pairs, list[int], list[int]]:
        """Pair items that match in full; return the pairs and the positions left on both sides."""
        output, reference, text, its = self.output, self.reference, self.pairing.text, self.its
        pairs: Pairs = []
        for n in sorted({*here}.intersection(there)):
            if equal(output[n], reference[n]):
                pairs.append((n, n))
        spare, wanted = leftovers(pairs, here, there)
        if len(spare) + len(wanted) <= 2:
            return pairs, spare, wanted
        places: defaultdict[str, list[int]] = defaultdict(list)
        for n in reversed(spare):
            places[text(its, output[n])].append(n)
        for n in wanted:
            if found := places.get(text(its, reference[n])):
                pairs.append((found.pop(), n))
        return pairs, *leftovers(pairs, here, there)

    def _may_gain(self, same: Pairs, spare: list[int], wanted: list[int], table: Table) -> bool:
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
        if sum(best) > gained + WHOLE:  # not every item could have its best partner
            best = [0.0] * len(best)
        return any(max(row) > most for row, most in zip(rivals, best))

    # --- by a key --------------------------------------------------------------------------------

    def pair_by_key(self) -> Pairs:
        """Pair items whose keys are equal, then items whose keys match by their rule.

        If several items have the same key, the best pairs among them count. If no item has a key,
        the order counts. A pair that is less similar than `min_similarity` is dropped at the end,
        and its items are not paired again.
        """
        here: defaultdict[str, list[int]] = defaultdict(list)  # positions by the text of their key
        there: defaultdict[str, list[int]] = defaultdict(list)
        for groups, items in ((here, self.output), (there, self.reference)):
            for position, item in enumerate(items):
                key = self.its.leaf_text(item) if type(item) is AnyOf else ""
                for name in self.node.key if type(item) is dict else ():
                    if name in item:
                        its = self.its.members.get(name) or self.its.member(name)
                        key += f"{name!r}:{self.pairing.text(its, item[name])},"
                groups[key].append(position)
        pairs: Pairs = []
        for key, wanted in there.items():
            spare = here.get(key, [])
            if here.keys() | there.keys() == {""} or len(spare) == len(wanted) == 1:
                pairs += zip(spare, wanted)
            elif spare:
                pairs += self.pair_in_any_order(spare, wanted)
        if len(pairs) < min(len(self.output), len(self.reference)):
            pairs += self._pair_near(pairs)
        self.least = self.node.min_similarity
        return [pair for pair in pairs if self.gain(*pair)] if self.least else pairs

    def _pair_near(self, pairs: Pairs) -> Pairs:
        """Pair the other items whose keys match by a rule, such as a tolerance, for the best sum.

        If there are too many to try every pair, the score of the keys alone decides.
        """
        has_choices = self.its.has_defaults  # the reference of a call may have an AnyOf for a key
        if not has_choices and all(self.its.member(name).exact for name in self.node.key):
            return []
        has_key = self.node.has_key
        here = [n for n, item in enumerate(self.output) if has_key(item)]
        there = [n for n, item in enumerate(self.reference) if has_key(item)]
        spare, wanted = leftovers(pairs, here, there)
        tries = len(spare) * len(wanted)
        if tries > self.pairing.left:
            if self.pairing.depth:
                raise BudgetSpentError
            likely = self.pair_by_parts(spare, wanted)
            return [pair for pair in likely if self._rate_keys(*pair)]
        scores = [[self._rate_keys(one, other) for other in wanted] for one in spare]
        if not any(map(any, scores)):
            self.pairing.left -= tries
            return []
        gains = self.table(spare, wanted)
        self.is_limited |= gains is None
        table = [
            [COMMON + gain if score else 0.0 for score, gain in zip(row, gained)]
            for row, gained in zip(scores, gains or scores)
        ]
        return [(spare[row], wanted[column]) for row, column in best_pairs(table)]

    def _rate_keys(self, here: int, there: int) -> float:
        """Return how well the keys of two items match, or 0 if they do not."""
        output = self.output[here]
        several = filter(self.node.has_key, alternatives_of(self.reference[there]))
        return max((self._rate_key(output, one) for one in several), default=0.0)

    def _rate_key(self, output: dict[str, Any], reference: dict[str, Any]) -> float:
        least = 1.0
        for name in self.node.key:
            value, expected = output.get(name, MISSING), reference.get(name, MISSING)
            if value is MISSING and (expected is MISSING or is_optional(expected)):
                continue
            if value is MISSING or expected is MISSING:
                return 0.0
            its = self.its.member(name)
            verdicts = [its.leaf(value, one) for one in alternatives_of(expected)]
            scores = [max(score, COMMON) for kind, score, _ in verdicts if kind == "match"]
            least = min(least, max(scores, default=0.0))
        return least
