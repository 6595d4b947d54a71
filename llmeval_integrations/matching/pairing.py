"""Which items of two arrays belong together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.equality import CONTAINERS, canonical, equal
from llmeval_integrations.matching.assignment import best_pairs
from llmeval_integrations.matching.gains import COMMON, SHARED, Gains
from llmeval_integrations.matching.likely import likely_pairs
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.texts import Texts

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Gain: TypeAlias = "Callable[[Pairing, Node, Any, Any], tuple[float, int]]"
"""Returns what two items add to the score, and how many leaves they have in common."""


class Found(NamedTuple):
    """The pairs of two arrays."""

    pairs: Pairs
    is_limited: bool
    """Whether the items were too many to be tried with each other."""
    arrays: tuple[list[Any], list[Any]]
    """The arrays, kept so that no others get their ids."""


class _BudgetSpentError(Exception):
    """Too many pairs of items of arrays that are inside of other items."""


class Pairing:
    """Pairs the items of arrays, once for every two arrays of a comparison.

    Items that are equal are paired first, the others so that the sum of the leaves that match is
    the greatest. A document has one budget of pairs that are tried; beyond it items are paired by
    the parts that they share.
    """

    def __init__(self, gain: Gain) -> None:
        self.defaults: dict[tuple[str, int], bool] = {}
        """Whether values, by path and id, are the default of their place."""
        self._gain = gain
        self._texts = Texts()
        self._found: dict[tuple[str, int, int], Found] = {}
        self._budget = MAX_PAIRS
        self._trials = 0  # how many arrays are being tried that contain the one at hand

    def find(self, node: Node, output: list[Any], reference: list[Any]) -> Found:
        """Return the pairs of two arrays whose node is not `ordered`, in the order of the output.

        The same two arrays meet with each item that theirs is tried with, and again once the best
        is chosen; they are paired once.
        """
        known = node.path, id(output), id(reference)
        found = self._found.get(known)
        if found is None:
            pairs, is_limited = self._pair(node, output, reference)
            found = Found(sorted(pairs), is_limited, (output, reference))
            self._found[known] = found
        return found

    def _pair(self, node: Node, output: list[Any], reference: list[Any]) -> tuple[Pairs, bool]:
        if node.order == "aligned":
            return _align(output, reference), False
        if node.order == "by_key":
            return self._by_key(node, output, reference)
        here, there = list(range(len(output))), list(range(len(reference)))
        return self._in_any_order(node, output, reference, here, there)

    def _by_key(self, node: Node, output: list[Any], reference: list[Any]) -> tuple[Pairs, bool]:
        """Pair items whose keys are equal, then items whose keys match by their rule.

        Among items with the same key the best are paired.
        """
        here, there = self._positions(node, output), self._positions(node, reference)
        if not any(here) and not any(there):  # without the key the items have an order
            return _align(output, reference, ends=False), False
        pairs: Pairs = []
        is_limited = False
        for key, wanted in there.items():
            spare = here.get(key, [])
            if len(spare) == len(wanted) == 1:
                pairs.append((spare[0], wanted[0]))
            elif spare:
                best, limited = self._in_any_order(node, output, reference, spare, wanted)
                pairs += best
                is_limited |= limited
        if not node.item(0).member(str(node.key)).exact:
            near, limited = self._by_near_key(node, output, reference, pairs)
            pairs += near
            is_limited |= limited
        return pairs, is_limited

    def _positions(self, node: Node, items: list[Any]) -> dict[str, list[int]]:
        """Return the positions of items by the text of their key; "" is for items without one."""
        key = str(node.key)
        its = node.item(0).member(key)
        found: defaultdict[str, list[int]] = defaultdict(list)
        for position, item in enumerate(items):
            found[self._texts.write(its, item[key]) if _has(item, key) else ""].append(position)
        return found

    def _by_near_key(
        self, node: Node, output: list[Any], reference: list[Any], pairs: Pairs
    ) -> tuple[Pairs, bool]:
        """Pair the items that are left and whose keys match, as by a tolerance, for the best sum.

        Items whose keys match no other key are a pair. Where trying the others takes too long, the
        score of the keys alone decides.
        """
        key = str(node.key)
        used, met = {here for here, _ in pairs}, {there for _, there in pairs}
        spare = [n for n, item in enumerate(output) if n not in used and _has(item, key)]
        wanted = [n for n, item in enumerate(reference) if n not in met and _has(item, key)]
        if not (spare and wanted):
            return [], False
        keys = node.item(0).member(key)
        if len(spare) * len(wanted) > self._budget:
            texts = (
                {n: _loose(output[n][key]) for n in spare},
                {n: _loose(reference[n][key]) for n in wanted},
            )
            same, *rest = _pair_equal(*texts)
            same += self._likely(node.item(0), output, reference, *rest)
            near = [(n, m) for n, m in same if _near(keys, key, output[n], reference[m])]
            return near, len(near) < min(len(spare), len(wanted))
        scores: dict[int, dict[int, float]] = {}
        for here in spare:
            found = {there: _near(keys, key, output[here], reference[there]) for there in wanted}
            scores[here] = {there: score for there, score in found.items() if score}
        rivals = Counter(there for found in scores.values() for there in found)
        sure = [
            (here, there)
            for here, found in scores.items()
            for there in found
            if len(found) == rivals[there] == 1
        ]
        settled = {here for here, _ in sure}
        spare = [here for here in spare if scores[here] and here not in settled]
        if not spare:
            return sure, False
        best, is_limited = self._best_by_key(node, output, reference, {n: scores[n] for n in spare})
        return sure + best, is_limited

    def _best_by_key(
        self,
        node: Node,
        output: list[Any],
        reference: list[Any],
        scores: dict[int, dict[int, float]],
    ) -> tuple[Pairs, bool]:
        """Pair items whose keys may be the same by what they have in common."""
        spare = list(scores)
        wanted = sorted({there for found in scores.values() for there in found})
        its = node.item(0)

        def gain(here: int, there: int) -> float:
            if there not in scores[here]:
                return 0.0
            return COMMON + self._gain(self, its, output[here], reference[there])[0]

        is_limited = False
        try:
            with self._trial(sum(map(len, scores.values()))):
                gains = [[gain(here, there) for there in wanted] for here in spare]
        except _BudgetSpentError:
            if self._trials:
                raise
            is_limited = True
            gains = [[scores[here].get(there, 0.0) for there in wanted] for here in spare]
        return [(spare[row], wanted[column]) for row, column in best_pairs(gains)], is_limited

    def _in_any_order(
        self,
        node: Node,
        output: list[Any],
        reference: list[Any],
        here: list[int],
        there: list[int],
    ) -> tuple[Pairs, bool]:
        """Pair the items at these positions for the greatest sum, equal ones first."""
        its = node.item(0)
        equal_ones, spare, wanted = self._equal(its, output, reference, here, there)
        if not (spare and wanted):
            return equal_ones, False
        has_containers = _has_containers(output, spare) and _has_containers(reference, wanted)
        if its.exact and not has_containers:
            rest = _in_order(spare, wanted) if its.pairs_strangers else []
            return equal_ones + rest, False
        arrays = output, reference
        table = self._table(its, arrays, spare, wanted)
        is_limited = table is None
        if table is None:
            found = self._likely(its, output, reference, spare, wanted)
        else:
            found = [(spare[row], wanted[column]) for row, column in best_pairs(table)]
            if its.fuzzy and self._may_gain(its, arrays, equal_ones, (spare, wanted), table):
                every = self._table(its, arrays, here, there)
                if every is not None:
                    return [(here[row], there[column]) for row, column in best_pairs(every)], False
                is_limited = True
        if its.pairs_strangers:
            used, met = {one for one, _ in found}, {other for _, other in found}
            strangers = [n for n in spare if n not in used], [n for n in wanted if n not in met]
            found += _in_order(*strangers)
        return equal_ones + found, is_limited

    def _equal(
        self,
        its: Node,
        output: list[Any],
        reference: list[Any],
        here: list[int],
        there: list[int],
    ) -> tuple[Pairs, list[int], list[int]]:
        """Pair items that are equal as JSON, then items that match in full by their rules.

        What is left comes in the order of its text, so that the order of the items has no effect.
        """
        pairs, spare, wanted = _pair_equal(
            {n: canonical(output[n]) for n in here}, {n: canonical(reference[n]) for n in there}
        )
        if not (spare and wanted) or (its.literal and its.order != "any_order"):
            return pairs, spare, wanted
        more, spare, wanted = _pair_equal(
            {n: self._texts.write(its, output[n]) for n in spare},
            {n: self._texts.write(its, reference[n]) for n in wanted},
        )
        return pairs + more, spare, wanted

    def _may_gain(
        self,
        its: Node,
        arrays: tuple[list[Any], list[Any]],
        equal_ones: Pairs,
        rest: tuple[list[int], list[int]],
        table: list[list[float]],
    ) -> bool:
        """Return whether taking a pair of equal items apart may gain more than it costs.

        It may not where each item of the shorter rest has the best that there is for it.
        """
        if not equal_ones:
            return False
        spare, wanted = rest
        chosen = sum(table[row][column] for row, column in best_pairs(table))
        firsts = {canonical(arrays[0][here]): (here, there) for here, there in equal_ones}
        if len(spare) <= len(wanted):
            best = [max(row) for row in table]
            rivals = self._table(its, arrays, spare, [there for _, there in firsts.values()])
        else:
            best = [max(column) for column in zip(*table)]
            turned = self._table(its, arrays, [here for here, _ in firsts.values()], wanted)
            rivals = turned and [list(column) for column in zip(*turned)]
        if rivals is None:
            return True
        if sum(best) > chosen + SHARED:
            best = [0.0] * len(best)
        return any(max(row) > most for row, most in zip(rivals, best))

    def _table(
        self,
        its: Node,
        arrays: tuple[list[Any], list[Any]],
        spare: list[int],
        wanted: list[int],
    ) -> list[list[float]] | None:
        """Return what each pair of items gains; None where that takes too long.

        Raises _BudgetSpentError where the array is inside of an item that is being tried.
        """

        def compare(node: Node, one: Any, other: Any) -> tuple[float, int]:
            return self._gain(self, node, one, other)

        gains = Gains(len(spare), len(wanted), compare, self._texts.write, self._spend)
        ours = [(row, arrays[0][n]) for row, n in enumerate(spare)]
        theirs = [(column, arrays[1][n]) for column, n in enumerate(wanted)]
        try:
            with self._trial(len(spare) * len(wanted)):
                gains.add(its, ours, theirs)
        except _BudgetSpentError:
            if self._trials:
                raise
            return None
        return gains.table(strangers=its.pairs_strangers)

    def _likely(
        self,
        its: Node,
        output: list[Any],
        reference: list[Any],
        spare: list[int],
        wanted: list[int],
    ) -> Pairs:
        """Pair items that share the most of what few others have."""
        ours = [(n, output[n]) for n in spare]
        theirs = [(n, reference[n]) for n in wanted]
        return [
            (here, there)
            for here, there in likely_pairs(its, ours, theirs, self._texts)
            if self._gain(self, its, output[here], reference[there])[1] or its.pairs_strangers
        ]

    @contextmanager
    def _trial(self, pairs: int) -> Iterator[None]:
        """Take pairs from the budget, and give half of it back where the outermost trial fails.

        So what is inside of the items can still be tried, and all trials of a document together
        take no more than twice the budget.
        """
        before = self._budget
        self._trials += 1
        try:
            self._spend(pairs)
            yield
        except _BudgetSpentError:
            if self._trials > 1:
                raise
            self._budget = before // 2
            raise
        finally:
            self._trials -= 1

    def _spend(self, pairs: int) -> None:
        self._budget -= pairs
        if self._budget < 0:
            raise _BudgetSpentError


def _align(output: list[Any], reference: list[Any], *, ends: bool = True) -> Pairs:
    """Pair by position; with `ends`, equal items at the end of arrays of other lengths, too."""
    most = min(len(output), len(reference))
    end = 0
    if ends and len(output) != len(reference):
        start = 0
        while start < most and equal(output[start], reference[start]):
            start += 1
        while end < most - start and equal(output[-1 - end], reference[-1 - end]):
            end += 1
    pairs = [(n, n) for n in range(most - end)]
    return pairs + [(len(output) - n, len(reference) - n) for n in range(end, 0, -1)]


def _pair_equal(
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


def _in_order(spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
    return list(zip(sorted(spare), sorted(wanted)))


def _has(item: Any, key: str) -> bool:
    return type(item) is dict and key in item


def _loose(key: Any) -> str:
    """Write a key without its type, case and spaces at the ends."""
    return (key if type(key) is str else canonical(key)).strip().casefold()


def _near(node: Node, key: str, output: Any, reference: Any) -> float:
    """Return how well the keys of two items match; 0 where they do not."""
    kind, score, _ = node.leaf(output[key], reference[key])
    return max(score, COMMON) if kind == "match" else 0.0


def _has_containers(items: list[Any], places: Sequence[int]) -> bool:
    return any(type(items[n]) in CONTAINERS for n in places)
