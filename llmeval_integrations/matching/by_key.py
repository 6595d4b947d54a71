"""Which items of two arrays belong together where a key identifies them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.matching.any_order import AnyOrder, pair_texts
from llmeval_integrations.matching.assignment import best_pairs
from llmeval_integrations.matching.gains import COMMON
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.trials import Pairs, Trials


class ByKey:
    """Pairs items whose keys are equal, then items whose keys match by their rule.

    Among items with the same key the best are paired. A pair that is less similar than the node's
    `min_similarity` is dropped in the end: its items are not paired with others.
    """

    def __init__(self, trials: Trials, node: Node, output: list[Any], reference: list[Any]) -> None:
        self._trials = trials
        self._its = node.item(0)
        self._key = str(node.key)
        self._keys = self._its.member(self._key)
        self._output = output
        self._reference = reference
        self._items = AnyOrder(trials, node, output, reference, least=0.0)
        self._least = node.min_similarity
        self._is_limited = False

    @property
    def is_limited(self) -> bool:
        """Whether the items were too many to be tried with each other."""
        return self._is_limited or self._items.is_limited

    def pair(self) -> Pairs | None:
        """Pair the items; None where no item has the key."""
        here, there = self._positions(self._output), self._positions(self._reference)
        if not any(here) and not any(there):
            return None
        pairs: Pairs = []
        for key, wanted in there.items():
            spare = here.get(key, [])
            if len(spare) == len(wanted) == 1:
                pairs.append((spare[0], wanted[0]))
            elif spare:
                pairs += self._items.pair(spare, wanted)
        if not self._keys.exact:
            pairs += self._pair_near(pairs)
        return [pair for pair in pairs if self._are_similar(*pair)] if self._least else pairs

    def _are_similar(self, here: int, there: int) -> bool:
        output, reference = self._output[here], self._reference[there]
        return self._trials.are_related(self._its, output, reference, self._least)

    def _positions(self, items: list[Any]) -> dict[str, list[int]]:
        """Return the positions of items by the text of their key; "" is for items without one."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for position, item in enumerate(items):
            has_key = type(item) is dict and self._key in item
            text = self._trials.texts.write(self._keys, item[self._key]) if has_key else ""
            found[text].append(position)
        return found

    def _pair_near(self, pairs: Pairs) -> Pairs:
        """Pair the items that are left and whose keys match, as by a tolerance, for the best sum.

        Items whose keys match no other key are a pair. Where trying the others takes too long, the
        score of the keys alone decides.
        """
        spare = self._list_unpaired(self._output, {here for here, _ in pairs})
        wanted = self._list_unpaired(self._reference, {there for _, there in pairs})
        if len(spare) * len(wanted) > self._trials.budget:
            return self._pair_likely(spare, wanted)
        scores: dict[int, dict[int, float]] = {}
        for here in spare:
            found = {there: self._score(here, there) for there in wanted}
            scores[here] = {there: score for there, score in found.items() if score}
        rivals = Counter(there for found in scores.values() for there in found)
        sure = [
            (here, there)
            for here, found in scores.items()
            for there in found
            if len(found) == rivals[there] == 1
        ]
        for here, _ in sure:
            del scores[here]
        return sure + self._pair_best({here: found for here, found in scores.items() if found})

    def _list_unpaired(self, items: list[Any], paired: set[int]) -> list[int]:
        """Return the positions of the items with a key that are in no pair."""
        return [
            position
            for position, item in enumerate(items)
            if position not in paired and type(item) is dict and self._key in item
        ]

    def _pair_likely(self, spare: list[int], wanted: list[int]) -> Pairs:
        """Pair items whose keys match, without trying each with each other."""
        same, *rest = pair_texts(
            {n: _fold_key(self._output[n][self._key]) for n in spare},
            {n: _fold_key(self._reference[n][self._key]) for n in wanted},
        )
        found = same + self._items.pair_likely(*rest)
        near = [(here, there) for here, there in found if self._score(here, there)]
        self._is_limited |= len(near) < min(len(spare), len(wanted))
        return near

    def _pair_best(self, scores: dict[int, dict[int, float]]) -> Pairs:
        """Pair items whose keys may be the same by what they have in common."""
        spare = list(scores)
        wanted = sorted({there for found in scores.values() for there in found})

        def gain(here: int, there: int) -> float:
            if there not in scores[here]:
                return 0.0
            output, reference = self._output[here], self._reference[there]
            return COMMON + self._trials.gain(self._its, output, reference)[0]

        gains = None
        with self._trials.attempt():
            self._trials.spend(sum(map(len, scores.values())))
            gains = [[gain(here, there) for there in wanted] for here in spare]
        if gains is None:
            self._is_limited = True
            gains = [[scores[here].get(there, 0.0) for there in wanted] for here in spare]
        return [(spare[row], wanted[column]) for row, column in best_pairs(gains)]

    def _score(self, here: int, there: int) -> float:
        """Return how well the keys of two items match; 0 where they do not."""
        output, reference = self._output[here][self._key], self._reference[there][self._key]
        kind, score, _ = self._keys.leaf(output, reference)
        return max(score, COMMON) if kind == "match" else 0.0


def _fold_key(key: Any) -> str:
    """Write a key without its type, case and spaces at the ends."""
    return (key if type(key) is str else canonical(key)).strip().casefold()
