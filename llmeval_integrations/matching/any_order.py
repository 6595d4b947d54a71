"""Which items of two arrays belong together where their order does not count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from llmeval_integrations.json_values.equality import CONTAINERS, canonical
from llmeval_integrations.matching.assignment import best_pairs
from llmeval_integrations.matching.gains import WHOLE
from llmeval_integrations.matching.likely import likely_pairs
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.trials import Pairs, Trials


class AnyOrder:
    """Pairs items for the greatest sum of what they gain, equal ones first."""

    def __init__(
        self,
        trials: Trials,
        node: Node,
        output: list[Any],
        reference: list[Any],
        least: float | None = None,
    ) -> None:
        """`least` is the similarity of a pair, unless it is that of the node."""
        self._trials = trials
        self._its = node.item(0)
        self._least = node.min_similarity if least is None else least
        self._splits_equal = self._its.fuzzy or self._least > 0
        """Whether two pairs may gain more than a pair of equal items and what is then left over."""
        self._output = output
        self._reference = reference
        self.is_limited = False
        """Whether the items were too many to be tried with each other."""

    def pair(self, here: Sequence[int], there: Sequence[int]) -> Pairs:
        """Pair the items at these positions of output and reference."""
        its = self._its
        same, spare, wanted = self._pair_same(here, there)
        if not (spare and wanted):
            return same
        if its.exact and not self._has_containers(spare, wanted):
            found: Pairs = []
        elif len(spare) == len(wanted) == 1 and not (self._splits_equal and same):
            pair = spare[0], wanted[0]
            found = [] if its.pairs_strangers else self._select_related([pair])
        else:
            table = self._table(spare, wanted)
            if table is None:
                self.is_limited = True
                found = self.pair_likely(spare, wanted)
            else:
                found = [(spare[row], wanted[column]) for row, column in best_pairs(table)]
                if self._splits_equal and self._may_gain(same, spare, wanted, table):
                    every = self._table(here, there)
                    if every is not None:
                        return [(here[row], there[column]) for row, column in best_pairs(every)]
                    self.is_limited = True
        used, met = {one for one, _ in found}, {other for _, other in found}
        spare = [n for n in spare if n not in used]
        wanted = [n for n in wanted if n not in met]
        if self._least:
            return same + found  # leaves that are left over have nothing in common
        if its.pairs_strangers:
            return same + found + list(zip(sorted(spare), sorted(wanted)))
        return same + found + pair_leaves(its, self._output, self._reference, spare, wanted)

    def pair_likely(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair items that share the most of what few others have."""
        ours = [(n, self._output[n]) for n in spare]
        theirs = [(n, self._reference[n]) for n in wanted]
        pairs = likely_pairs(self._its, ours, theirs, self._trials.texts)
        return pairs if self._its.pairs_strangers else self._select_related(pairs)

    def _select_related(self, pairs: Pairs) -> Pairs:
        """Return those of the pairs that have a leaf in common, and are similar enough."""
        output, reference, are_related = self._output, self._reference, self._trials.are_related
        return [
            (here, there)
            for here, there in pairs
            if are_related(self._its, output[here], reference[there], self._least)
        ]

    def _pair_same(
        self, here: Sequence[int], there: Sequence[int]
    ) -> tuple[Pairs, list[int], list[int]]:
        """Pair items that are equal as JSON, then items that match in full by their rules.

        What is left comes in the order of its text, so that the order of the items has no effect.
        """
        its, write = self._its, self._trials.texts.write
        pairs, spare, wanted = pair_texts(
            {n: canonical(self._output[n]) for n in here},
            {n: canonical(self._reference[n]) for n in there},
        )
        if not (spare and wanted) or (its.literal and its.order != "any_order"):
            return pairs, spare, wanted
        more, spare, wanted = pair_texts(
            {n: write(its, self._output[n]) for n in spare},
            {n: write(its, self._reference[n]) for n in wanted},
        )
        return pairs + more, spare, wanted

    def _may_gain(
        self, same: Pairs, spare: list[int], wanted: list[int], table: list[list[float]]
    ) -> bool:
        """Return whether taking a pair of equal items apart may gain more than it costs.

        It may not where each item of the shorter rest has the best that there is for it.
        """
        if not same:
            return False
        chosen = sum(table[row][column] for row, column in best_pairs(table))
        different = {canonical(self._output[here]): (here, there) for here, there in same}
        if len(spare) <= len(wanted):
            best = [max(row) for row in table]
            rivals = self._table(spare, [there for _, there in different.values()])
        else:
            best = [max(column) for column in zip(*table)]
            turned = self._table([here for here, _ in different.values()], wanted)
            rivals = turned and [list(column) for column in zip(*turned)]
        if rivals is None:
            return True
        if sum(best) > chosen + WHOLE:
            best = [0.0] * len(best)
        return any(max(row) > most for row, most in zip(rivals, best))

    def _table(self, here: Sequence[int], there: Sequence[int]) -> list[list[float]] | None:
        ours = [self._output[n] for n in here]
        theirs = [self._reference[n] for n in there]
        return self._trials.table(self._its, ours, theirs, self._least)

    def _has_containers(self, here: Sequence[int], there: Sequence[int]) -> bool:
        """Return whether both sides have an object or array at these positions."""
        return any(type(self._output[n]) in CONTAINERS for n in here) and any(
            type(self._reference[n]) in CONTAINERS for n in there
        )


def pair_leaves(
    its: Node, output: list[Any], reference: list[Any], spare: list[int], wanted: list[int]
) -> Pairs:
    """Pair the leaves that are left over, which do not match, in this order."""
    here = [n for n in spare if its.is_leaf(output[n])]
    return list(zip(here, [n for n in wanted if its.is_leaf(reference[n])]))


def pair_texts(
    output: dict[int, str], reference: dict[int, str]
) -> tuple[Pairs, list[int], list[int]]:
    """Pair positions with equal texts; return the pairs and both rests, in the order of texts."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position in reversed(output):
        places[output[position]].append(position)
    pairs, wanted = [], []
    for position, text in reference.items():
        found = places.get(text)
        if found:
            pairs.append((found.pop(), position))
        else:
            wanted.append(position)
    spare = [position for left in places.values() for position in reversed(left)]
    spare.sort(key=output.__getitem__)
    return pairs, spare, sorted(wanted, key=reference.__getitem__)
