"""Pair the items of two arrays: in their order, in any order, or by a key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf
from operator import itemgetter

from llmeval_integrations.json_values.equality import SCALARS, equal
from llmeval_integrations.matching.assignment import (
    Pairs,
    best_pairs,
    best_path,
    longest_chain,
    pair_by_shared_parts,
    pair_texts,
)
from llmeval_integrations.matching.gains import (
    COMMON,
    WHOLE,
    Gains,
    Items,
    Table,
    are_disjoint,
    suffices,
)
from llmeval_integrations.matching.node import Node


class Pairing(Gains):
    """Pairs the items of arrays, once for every two arrays of a comparison.

    Items that match in full are paired first, the others for the greatest total gain. If sums are
    equal, earlier positions come first. A document has one budget of pairs that are tried. Beyond
    it, items are paired by the parts that they share.
    """

    def find(self, node: Node, output: Items, reference: Items) -> tuple[Pairs, bool]:
        """Return the pairs of two arrays, and whether there were too many items to try every pair.

        The same two arrays meet when the items that contain them are tried, and again when these
        are compared. So their pairs are kept.
        """
        order, most = node.order, min(len(output), len(reference))
        if order in ("ordered", "anchored"):
            pairs = [*zip(range(most), range(most))]
            if order == "anchored" and len(output) != len(reference):
                end = measure_ends(output, reference)[1]
                last = [(len(output) - n, len(reference) - n) for n in range(end, 0, -1)]
                pairs[most - end :] = last
            return pairs, False
        known = id(node), id(output), id(reference)
        if known not in self.found:
            arrays = _Arrays(self, node, output, reference)  # kept alive, as their ids are keys
            if order == "aligned":
                pairs = arrays.align()
            elif order == "any_order":
                pairs = arrays.pair_in_any_order(range(len(output)), range(len(reference)))
            else:
                pairs = arrays.pair_by_key()
            self.found[known] = sorted(pairs), arrays
        pairs, arrays = self.found[known]
        return pairs, arrays.is_limited


def leftovers(
    pairs: Pairs, here: Iterable[int], there: Iterable[int]
) -> tuple[list[int], list[int]]:
    """Return the positions that are in no pair, in their order."""
    used, met = map(itemgetter(0), pairs), map(itemgetter(1), pairs)
    return sorted({*here}.difference(used)), sorted({*there}.difference(met))


def measure_ends(output: Items, reference: Items) -> tuple[int, int]:
    """Return how many items are equal at the beginning and at the end of two arrays."""
    most = min(len(output), len(reference))
    start = end = 0
    while start < most and equal(output[start], reference[start]):
        start += 1
    while end < most - start and equal(output[-1 - end], reference[-1 - end]):
        end += 1
    return start, end


class _Arrays:
    """Two arrays whose items are paired."""

    def __init__(self, gains: Gains, node: Node, output: Items, reference: Items) -> None:
        self._gains, self._node, self._its = gains, node, node.item(0)
        self._output, self._reference = output, reference
        self._least = 0.0 if node.order == "by_key" else node.min_similarity
        """The least similarity of a pair; with a key, it is checked after all pairs are found."""
        self.is_limited = False
        """Whether there were too many items to try every pair."""

    def _gain(self, here: int, there: int) -> float:
        """Return the gain of two items, or 0 if they are less similar than `least`."""
        output, reference, its = self._output[here], self._reference[there], self._its
        gain = self._gains.gain(its, output, reference)
        if not self._least:
            return gain
        both = its.weigh(output) + its.weigh(reference)
        return gain if suffices(gain, both, self._least) else 0.0

    def _table(self, here: Sequence[int], there: Sequence[int]) -> Table | None:
        ours, theirs = [self._output[n] for n in here], [self._reference[n] for n in there]
        return self._gains.table(self._its, ours, theirs, self._least)

    def _pair_by_parts(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair items by the rare leaves that they share, without trying every pair."""
        self.is_limited = True
        texts, its = self._gains.leaf_texts, self._its
        pairs = pair_by_shared_parts(
            {n: sorted(texts(its, self._output[n])) for n in spare},
            {n: sorted(texts(its, self._reference[n])) for n in wanted},
        )
        return pairs if its.pairs_all else [pair for pair in pairs if self._gain(*pair)]

    def _pair_leaves(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair the leftover leaves in their order; they do not match."""
        if self._least:
            return []  # their similarity is 0
        if self._its.pairs_all:
            return [*zip(spare, wanted)]
        here = [n for n in spare if self._its.is_leaf(self._output[n])]
        return [*zip(here, [n for n in wanted if self._its.is_leaf(self._reference[n])])]

    # --- in their order --------------------------------------------------------------------------

    def align(self) -> Pairs:
        """Pair items so that no two pairs cross and their total gain is the greatest.

        If there are too many items, likely pairs that do not cross come first, as anchors. The
        items between two anchors are then paired among themselves.
        """
        output, reference, its = self._output, self._reference, self._its
        if its.exact and not its.pairs_all and are_disjoint(output, reference):
            return self._pair_leaves(range(len(output)), range(len(reference)))
        start, end = measure_ends(output, reference)
        here, there = range(start, len(output) - end), range(start, len(reference) - end)
        pairs = [(n, n) for n in range(start)]
        pairs += zip(range(here.stop, len(output)), range(there.stop, len(reference)))
        block = self._align_block(here, there)
        if block is not None:
            return pairs + block
        anchors = longest_chain(sorted(self._pair_by_parts(here, there)))
        pairs += anchors
        for rows, columns in _gaps(anchors, here, there):
            block = self._align_block(rows, columns)
            if block is None:
                block = [*zip(rows, columns)]
                block = [pair for pair in block if not self._least or self._gain(*pair)]
            pairs += block
        return pairs

    def _align_block(self, here: range, there: range) -> Pairs | None:
        """Pair the items at these positions; return None if there are too many."""
        if not (here and there):
            return []
        if len(here) == len(there) == 1:
            is_pair = self._gain(here[0], there[0]) > 0
            return [(here[0], there[0])] if is_pair else self._pair_leaves(here, there)
        if len(here) == len(there) and self._fit_by_position(here):
            return [*zip(here, there)]
        table = self._table(here, there)
        if table is None:
            return None
        pairs = [(here[row], there[column]) for row, column in best_path(table)]
        for rows, columns in _gaps(pairs, here, there):
            pairs += self._pair_leaves(rows, columns)
        return pairs

    def _fit_by_position(self, positions: range) -> bool:
        """Return whether pairing by position is surely the best; for most long arrays it is.

        The arrays are of one length, so any other pairing leaves out at least one item of each.
        Pairing by position is the best if all its pairs together lose no more than the smallest
        item weighs.
        """
        lacking, smallest = 0.0, inf
        for n in positions:
            weight = self._its.weigh(self._reference[n])
            smallest = min(smallest, weight)
            if not equal(self._output[n], self._reference[n]):
                gain = self._gain(n, n)
                lacking += weight - gain
                if not gain or lacking > smallest:
                    return False
        return lacking <= smallest

    # --- in any order ----------------------------------------------------------------------------

    def pair_in_any_order(self, here: Sequence[int], there: Sequence[int]) -> Pairs:
        """Pair items for the greatest total gain, first the items that match in full."""
        output, reference, its = self._output, self._reference, self._its
        same, spare, wanted = self._pair_equal(here, there)
        if not (spare and wanted):
            return same
        may_split = bool(same) and (its.fuzzy or self._least > 0)
        is_alone = its.pairs_all and len(spare) == len(wanted) == 1 and not may_split
        # An empty object may match an object with ignored or extra members. A trial finds that.
        may_match = not (its.pairs_all and its.counts_extra)
        ours = {type(output[n]) for n in spare if output[n] or may_match}
        theirs = {type(reference[n]) for n in wanted if reference[n] or may_match}
        if is_alone or (its.exact and (ours <= SCALARS or theirs <= SCALARS)):
            return same + self._pair_leaves(spare, wanted)
        table = self._table(spare, wanted)
        if table is None:
            pairs = same + self._pair_by_parts(spare, wanted)
        else:
            pairs = same + [(spare[row], wanted[column]) for row, column in best_pairs(table)]
            # With a tolerance of 0.1, [1.9, 2.0] matches [2.0, 2.1] if the equal 2.0 are split.
            if may_split and self._may_gain(same, spare, wanted, table):
                whole = self._table(here, there)
                if whole is None:
                    self.is_limited = True
                else:
                    pairs = [(here[row], there[column]) for row, column in best_pairs(whole)]
        return pairs + self._pair_leaves(*leftovers(pairs, here, there))

    def _pair_equal(
        self, here: Sequence[int], there: Sequence[int]
    ) -> tuple[Pairs, list[int], list[int]]:
        """Pair items that match in full; return the pairs and the positions left on both sides."""
        output, reference = self._output, self._reference
        both = sorted(n for n in {*here} & {*there} if equal(output[n], reference[n]))
        same = [*zip(both, both)]
        spare, wanted = leftovers(same, here, there)
        if len(spare) + len(wanted) > 2:
            text, its = self._gains.text, self._its
            more, spare, wanted = pair_texts(
                {n: text(its, output[n]) for n in spare},
                {n: text(its, reference[n]) for n in wanted},
            )
            same += more
        return same, spare, wanted

    def _may_gain(self, same: Pairs, spare: list[int], wanted: list[int], table: Table) -> bool:
        """Return whether splitting pairs of equal items may increase the total gain.

        It cannot if every item of the shorter rest already gains as much as with any item of these
        pairs.
        """
        if len(spare) <= len(wanted):
            rivals = self._table(spare, [there for _, there in same])
        else:
            turned = self._table([here for here, _ in same], wanted)
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

        If several items have the same key, the best pairs among them count. A pair that is less
        similar than `min_similarity` is dropped at the end, and its items are not paired again.
        """
        here, there = self._group_by_key(self._output), self._group_by_key(self._reference)
        if here.keys() | there.keys() <= {""}:  # no item has the key, so that the order counts
            return [*zip(range(len(self._output)), range(len(self._reference)))]
        pairs: Pairs = []
        for key, wanted in there.items():
            spare = here.get(key, [])
            if len(spare) == len(wanted) == 1:
                pairs.append((spare[0], wanted[0]))
            elif spare:
                pairs += self.pair_in_any_order(spare, wanted)
        if len(pairs) < min(len(self._output), len(self._reference)):
            pairs += self._pair_near(pairs)
        self._least = self._node.min_similarity
        return [pair for pair in pairs if self._gain(*pair)] if self._least else pairs

    def _group_by_key(self, items: Items) -> dict[str, list[int]]:
        """Return the positions of items by the text of their key; "" is for items without one."""
        text, member = self._gains.text, self._its.member
        found: defaultdict[str, list[int]] = defaultdict(list)
        for position, item in enumerate(items):
            key = ""
            if type(item) is dict:
                for name in self._node.key:
                    if name in item:
                        key += f"{name!r}:{text(member(name), item[name])},"
            found[key].append(position)
        return found

    def _pair_near(self, pairs: Pairs) -> Pairs:
        """Pair the other items whose keys match by a rule, such as a tolerance, for the best sum.

        If there are too many to try every pair, the score of the keys alone decides.
        """
        if all(self._its.member(name).exact for name in self._node.key):
            return []
        has_key = self._node.has_key
        here = [n for n, item in enumerate(self._output) if has_key(item)]
        there = [n for n, item in enumerate(self._reference) if has_key(item)]
        spare, wanted = leftovers(pairs, here, there)
        if not (spare and wanted):
            return []
        if len(spare) * len(wanted) > self._gains.left:
            likely = self._pair_by_parts(spare, wanted)
            return [pair for pair in likely if self._rate_keys(*pair)]
        scores = [[self._rate_keys(one, other) for other in wanted] for one in spare]
        gains = self._table(spare, wanted) if any(map(any, scores)) else scores
        if gains is None:
            self.is_limited = True
            gains = scores
        table = [
            [COMMON + gain if score else 0.0 for score, gain in zip(row, gained)]
            for row, gained in zip(scores, gains)
        ]
        return [(spare[row], wanted[column]) for row, column in best_pairs(table)]

    def _rate_keys(self, here: int, there: int) -> float:
        """Return how well the keys of two items match, or 0 if they do not."""
        output, reference = self._output[here], self._reference[there]
        least = 1.0
        for name in self._node.key:
            if (name in output) != (name in reference):
                return 0.0
            if name in output:
                kind, score, _ = self._its.member(name).leaf(output[name], reference[name])
                least = min(least, max(score, COMMON) if kind == "match" else 0.0)
        return least


def _gaps(pairs: Pairs, here: range, there: range) -> list[tuple[range, range]]:
    """Return the positions before, between and after pairs."""
    ends = [(here.start - 1, there.start - 1), *pairs, (here.stop, there.stop)]
    return [
        (range(row + 1, next_row), range(column + 1, next_column))
        for (row, column), (next_row, next_column) in pairwise(ends)
    ]
