"""Which items of two arrays belong together where their order counts, and some may be left out."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import pairwise
from math import inf
from typing import Any

from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.matching.any_order import pair_leaves
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.trials import Pairs, Table, Trials
from llmeval_integrations.matching.weights import weigh


class Aligned:
    """Pairs items so that no two pairs cross and what they gain is the most."""

    def __init__(self, trials: Trials, node: Node, output: list[Any], reference: list[Any]) -> None:
        self._trials = trials
        self._its = node.item(0)
        self._least = node.min_similarity
        self._output = output
        self._reference = reference
        self.is_limited = False
        """Whether the items were too many to be tried with each other."""

    def pair(self) -> Pairs:
        """Pair the items.

        Where they are too many, items that are equal and stand only once on each side are paired
        first, as long as none cross, and the others between two of these.
        """
        output, reference = self._output, self._reference
        start, most = 0, min(len(output), len(reference))
        while start < most and equal(output[start], reference[start]):
            start += 1
        end = 0
        while end < most - start and equal(output[-1 - end], reference[-1 - end]):
            end += 1
        last, other_last = len(output) - end, len(reference) - end
        pairs = [(n, n) for n in range(start)]
        pairs += [(last + n, other_last + n) for n in range(end)]
        middle = range(start, last), range(start, other_last)
        found = self._pair_block(*middle)
        return pairs + (self._pair_between_anchors(*middle) if found is None else found)

    def _pair_between_anchors(self, here: range, there: range) -> Pairs:
        self.is_limited = True
        write = self._trials.texts.write
        ours = {n: write(self._its, self._output[n]) for n in here}
        theirs = {n: write(self._its, self._reference[n]) for n in there}
        pairs = _find_anchors(ours, theirs)
        ends = [(here.start - 1, there.start - 1), *pairs, (here.stop, there.stop)]
        for (row, column), (next_row, next_column) in pairwise(ends):
            block = range(row + 1, next_row), range(column + 1, next_column)
            found = self._pair_block(*block)
            pairs += self._pair_by_position(*block) if found is None else found
        return pairs

    def _pair_by_position(self, here: range, there: range) -> Pairs:
        pairs = list(zip(here, there))
        return [pair for pair in pairs if self._are_related(*pair)] if self._least else pairs

    def _are_related(self, here: int, there: int) -> bool:
        output, reference = self._output[here], self._reference[there]
        return self._trials.are_related(self._its, output, reference, self._least)

    def _pair_block(self, here: range, there: range) -> Pairs | None:
        """Pair the items at these positions; None where they are too many."""
        if not (here and there):
            return []
        its = self._its
        ours = [self._output[n] for n in here]
        theirs = [self._reference[n] for n in there]
        if len(here) == len(there) == 1:
            are_leaves = its.is_leaf(ours[0]) and its.is_leaf(theirs[0])
            is_pair = not self._least and (its.pairs_strangers or are_leaves)
            pair = here[0], there[0]
            return [pair] if is_pair or self._are_related(*pair) else []
        if len(here) == len(there) and self._is_straight(here):
            return list(zip(here, there))
        table = self._trials.table(its, ours, theirs, self._least)
        if table is None:
            return None
        found = [(here[row], there[column]) for row, column in _best_path(table)]
        if self._least:
            return found  # leaves that are left over have nothing in common
        ends = [(here[0] - 1, there[0] - 1), *found, (here[-1] + 1, there[-1] + 1)]
        for (row, column), (next_row, next_column) in pairwise(ends):
            left = [*range(row + 1, next_row)], [*range(column + 1, next_column)]
            found += pair_leaves(its, self._output, self._reference, *left)
        return found

    def _is_straight(self, positions: range) -> bool:
        """Return whether pairing by position is surely the best.

        Any other way leaves out an item of each side. So it is where all pairs together lack no
        more than the smallest item has.
        """
        its, lacking, smallest = self._its, 0.0, inf
        for n in positions:
            output, reference = self._output[n], self._reference[n]
            weight = weigh(its, reference)
            smallest = min(smallest, weight)
            if not equal(output, reference):
                gain, common = self._trials.gain(its, output, reference)
                if not common or (self._least and not self._are_related(n, n)):
                    return False
                lacking += weight - gain
            if lacking > smallest:
                return False
        return True


def _best_path(table: Table) -> Pairs:
    """Return the pairs with the greatest sum of which no two cross, the earlier ones of equals."""
    rows, columns = len(table), len(table[0])
    below = [0.0] * (columns + 1)
    best = [below]  # from the last row to the first: the most that the rest gains
    for gains in reversed(table):
        here = [0.0] * (columns + 1)
        right = 0.0
        for column in range(columns - 1, -1, -1):
            gain = gains[column]
            paired = gain + below[column + 1] if gain else 0.0
            right = here[column] = max(paired, below[column], right)
        best.append(here)
        below = here
    best.reverse()
    pairs: Pairs = []
    row = column = 0
    while row < rows and column < columns:
        gain = table[row][column]
        if gain and best[row][column] == gain + best[row + 1][column + 1]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def _find_anchors(ours: dict[int, str], theirs: dict[int, str]) -> Pairs:
    """Return the longest chain of positions with equal texts that stand once on each side."""
    counts, others = Counter(ours.values()), Counter(theirs.values())
    places = {text: n for n, text in theirs.items() if others[text] == 1}
    ends: list[int] = []  # the smallest column at which a chain of each length ends
    last: list[tuple[int, int]] = []
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    for row, text in ours.items():
        if counts[text] == 1 and text in places:
            pair = row, places[text]
            length = bisect_left(ends, pair[1])
            ends[length : length + 1] = [pair[1]]
            last[length : length + 1] = [pair]
            before[pair] = last[length - 1] if length else None
    chain: Pairs = []
    at = last[-1] if last else None
    while at is not None:
        chain.append(at)
        at = before[at]
    return chain[::-1]
