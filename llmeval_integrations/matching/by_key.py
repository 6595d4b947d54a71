"""Which items of two arrays belong together where a key of one or more members identifies them."""

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
        self._has_key = node.has_key
        self._members = [(name, self._its.member(name)) for name in node.key]
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
        if not all(its.exact for _, its in self._members):
            pairs += self._pair_near(pairs)
        return [pair for pair in pairs if self._are_similar(*pair)] if self._least else pairs

    def _are_similar(self, here: int, there: int) -> bool:
        output, reference = self._output[here], self._reference[there]
        return self._trials.are_related(self._its, output, reference, self._least)

    def _positions(self, items: list[Any]) -> dict[str, list[int]]:
        """Return the positions of items by the text of their key; "" is for items without one."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for position, item in enumerate(items):
            found[self._write_key(item) if self._has_key(item) else ""].append(position)
        return found

    def _write_key(self, item: dict[str, Any]) -> str:
        write = self._trials.texts.write
        return ",".join(
            f"{name!r}:{write(its, item[name])}" for name, its in self._members if name in item
        )

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
            if position not in paired and self._has_key(item)
        ]

    def _pair_likely(self, spare: list[int], wanted: list[int]) -> Pairs:
        """Pair items whose keys match, without trying each with each other."""
        same, *rest = pair_texts(
            {n: self._fold_key(self._output[n]) for n in spare},
            {n: self._fold_key(self._reference[n]) for n in wanted},
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
        output, reference = self._output[here], self._reference[there]
        least = 1.0
        for name, its in self._members:
            if (name in output) != (name in reference):
                return 0.0
            if name in output:
                kind, score, _ = its.leaf(output[name], reference[name])
                least = min(least, max(score, COMMON) if kind == "match" else 0.0)
        return least

    def _fold_key(self, item: dict[str, Any]) -> str:
        """Write a key without its types, case and spaces at the ends."""
        values = [item[name] for name, _ in self._members if name in item]
        texts = [value if type(value) is str else canonical(value) for value in values]
        return "\n".join(text.strip().casefold() for text in texts)
