"""What each pair of items of two arrays adds to the score.

The gain of two objects is the sum of the gains of their members. So a table for all pairs is filled
member by member: equal values are found by their text, and only the others are compared. That is
five times as fast as comparing each item with each other one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.node import Node

if TYPE_CHECKING:
    from llmeval_integrations.matching.trials import Trials

SHARED: Final = 1e-6
"""The gain of two leaves at the same place that do not match, where all items are paired."""

WHOLE: Final = 1e-9
"""The gain of items that match in full, which decides between equal sums."""

WHOLE_FIRST: Final = 1e6
"""The same where the output may have further members: an item that has some is not equal to its
reference, and still has to find it. It is more than all leaves of a document gain together."""

COMMON: Final = 1e-12
"""The gain of a leaf that they have in common, which decides where no leaf has a weight."""

_LETTERS: Final = 500_000
"""As many pairs of characters take as long to compare as a pair of items does."""

_LEAVES: Final = 4
"""As many pairs of leaves take as long to compare by a rule as a pair of items does."""

Item: TypeAlias = tuple[int, Any]
"""The row or column of an item, and its value there."""


class Gains:
    """The gains of all pairs of items: a row for each item of the output.

    A pair without a leaf in common gains 0. Where all items are paired, what every pair gains is
    left out.
    """

    def __init__(self, trials: Trials, rows: int, columns: int) -> None:
        self.table = [[0.0] * columns for _ in range(rows)]
        self._trials = trials
        self._size = rows, columns

    def add(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        """Add the gains of values at a node: each of ours with each of theirs."""
        if node.ignored or not (ours and theirs):
            return
        if node.fills or not node.counts_extra:  # where one member may stand for another
            self._add_pairs(node, ours, theirs)
            return
        expected = _group_by_kind(node, theirs)
        for kind, one in _group_by_kind(node, ours).items():
            for other_kind, other in expected.items():
                if kind != other_kind or kind == "empty":
                    self._add_pairs(node, one, other)
                elif kind == "object":
                    members = _group_by_member(other)
                    for name, items in _group_by_member(one).items():
                        if name in members:
                            self.add(node.member(name), items, members[name])
                elif kind == "array":
                    self._add_arrays(node, one, other)
                else:
                    self._add_leaves(node, one, other)

    def _add_leaves(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        write = repr if node.graded else node.leaf_text
        places: dict[str, list[int]] = {}
        values: dict[str, Any] = {}
        for column, value in theirs:
            text = write(value)
            places.setdefault(text, []).append(column)
            values[text] = value
        if node.pairs_all and (len(ours), len(theirs)) != self._size:
            for row, _ in ours:
                self._add(row, [column for column, _ in theirs], SHARED * node.weight)
        if not node.exact:
            letters = _count_letters(ours) * _count_letters(theirs) if node.fuzzy else 0
            self._trials.spend(letters // _LETTERS + len(ours) * len(places) // _LEAVES)
        columns, others = [*places.values()], [*values.values()]
        found: dict[str, list[tuple[int, float]]] = {}
        for row, value in ours:
            text, gains = write(value), self.table[row]
            same = places.get(text, [])
            for column in same:
                gains[column] += node.weight + COMMON
            if node.exact:
                continue
            if text not in found:
                found[text] = node.rate(value, others)
            for position, score in found[text]:
                for column in columns[position] if columns[position] is not same else ():
                    gains[column] += node.weight * score + COMMON

    def _add(self, row: int, columns: Sequence[int], gain: float) -> None:
        gains = self.table[row]
        for column in columns:
            gains[column] += gain

    def _add_arrays(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        its = node.item(0)
        if node.order == "ordered":
            expected = _group_by_position(theirs)
            for position, items in enumerate(_group_by_position(ours)[: len(expected)]):
                self.add(node.item(position), items, expected[position])
        elif node.order == "any_order" and _are_bags(its, ours, theirs):
            self._add_bags(its, ours, theirs)
        else:
            self._add_pairs(node, ours, theirs)

    def _add_bags(self, its: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        """Add the gains of arrays of leaves in any order: what is equal is found by its text."""
        places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for column, array in theirs:
            for text, count in Counter(map(its.leaf_text, array)).items():
                places[text].append((column, count))
        for row, array in ours:
            gains = self.table[row]
            for text, count in Counter(map(its.leaf_text, array)).items():
                for column, other in places.get(text, ()):
                    gains[column] += min(count, other) * (its.weight + COMMON)
            if its.pairs_all:
                for column, other_array in theirs:
                    gains[column] += min(len(array), len(other_array)) * SHARED * its.weight

    def _add_pairs(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        """Add the gains of values that are compared one by one, each different one once."""
        expected = self._group_by_text(node, theirs)
        for rows, value in self._group_by_text(node, ours):
            for columns, wanted in expected:
                gain = self._trials.gain(node, value, wanted)
                for row in rows if gain else ():
                    self._add(row, columns, gain)

    def _group_by_text(self, node: Node, items: Sequence[Item]) -> list[tuple[list[int], Any]]:
        """Return the different values of items, each with its rows or columns."""
        found: dict[str, tuple[list[int], Any]] = {}
        for place, value in items:
            text = repr(value) if node.graded else self._trials.texts.write(node, value)
            found.setdefault(text, ([], value))[0].append(place)
        return [*found.values()]


def _group_by_kind(node: Node, items: Sequence[Item]) -> dict[str, list[Item]]:
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        kind = type(item[1])
        if node.whole or kind not in CONTAINERS:
            found["leaf"].append(item)
        elif not item[1]:
            found["empty"].append(item)
        else:
            found["object" if kind is dict else "array"].append(item)
    return found


def _group_by_member(items: Sequence[Item]) -> dict[str, list[Item]]:
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for place, value in items:
        for name, part in value.items():
            found[name].append((place, part))
    return found


def _group_by_position(items: Sequence[Item]) -> list[list[Item]]:
    """Return the items of arrays by their position, up to the end of the longest array."""
    found: list[list[Item]] = [[] for _ in range(max(len(array) for _, array in items))]
    for place, array in items:
        for position, part in enumerate(array):
            found[position].append((place, part))
    return found


def _are_bags(its: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> bool:
    """Return whether the items of these arrays are leaves that match where they are equal."""
    if its.ignored or not its.exact:
        return False
    parts = (part for _, array in (*ours, *theirs) for part in array)
    return its.whole or not any(type(part) in CONTAINERS for part in parts)


def _count_letters(items: Sequence[Item]) -> int:
    return sum(len(value) for _, value in items if type(value) is str)
