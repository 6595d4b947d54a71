"""What each pair of items of two arrays adds to the score.

The gain of two objects is the sum of the gains of their members. So a table for all pairs is filled
member by member: equal values are found by their text, and only the others are compared. That is
five times as fast as comparing each item with each other one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.node import AnyOf, Node

WHOLE: Final = 1e-9
"""The gain of items that match in full, which decides between equal sums."""

COMMON: Final = 1e-12
"""The gain of a leaf that they have in common, which decides where no leaf has a weight."""

LETTERS: Final = 500_000
"""As many pairs of characters take as long to compare as a pair of items does."""

LEAVES: Final = 4
"""As many pairs of leaves take as long to compare by a rule as a pair of items does."""

Item: TypeAlias = tuple[int, Any]
"""The row or column of an item, and its value there."""

Compare: TypeAlias = Callable[[Node, Any, Any], tuple[float, int]]
"""Compares two values; returns their gain and how many leaves they have in common."""

Write: TypeAlias = Callable[[Node, Any], str]
"""Writes a value so that two values with the same text match in full; see `Texts`."""

Spend: TypeAlias = Callable[[int], None]
"""Takes so many pairs from the budget of a document; raises where it is spent."""


class Gains:
    """The gains of all pairs of items: a row for each item of the output."""

    def __init__(
        self, rows: int, columns: int, compare: Compare, write: Write, spend: Spend
    ) -> None:
        self._size = rows, columns
        self._compare = compare
        self._write = write
        self._spend = spend
        self._gain = [[0.0] * columns for _ in range(rows)]
        self._common = [[0] * columns for _ in range(rows)]
        self._everywhere = 0.0  # what all pairs gain, kept apart as it is quicker

    def table(self, *, strangers: bool) -> list[list[float]]:
        """Return the gains; 0 for items that have no leaf in common, unless `strangers` counts."""
        base = self._everywhere
        return [
            [gain + base if common or strangers else 0.0 for gain, common in zip(gains, commons)]
            for gains, commons in zip(self._gain, self._common)
        ]

    def add(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        """Add the gains of values at a node: each of ours with each of theirs."""
        if node.ignored or not (ours and theirs):
            return
        if not node.counts_extra or node.whole_gain:
            self._add_pairs(node, ours, theirs)
            return
        kinds = _group_by_kind(node, ours), _group_by_kind(node, theirs)
        for kind, one in kinds[0].items():
            for other_kind, other in kinds[1].items():
                if kind != other_kind or kind == "other":
                    self._add_pairs(node, one, other)
                elif kind == "leaf":
                    self._add_leaves(node, one, other)
                elif kind == "object":
                    self._add_objects(node, one, other)
                elif kind == "array":
                    self._add_arrays(node, one, other)
                else:
                    self._add_pairs(node, one, other)

    def _add_objects(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        expected = _group_by_member(theirs)
        for name, items in _group_by_member(ours).items():
            if name in expected:
                self.add(node.member(name), items, expected[name])

    def _add_leaves(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        places: dict[str, list[int]] = {}
        values: dict[str, Any] = {}
        write = repr if node.graded else node.leaf_text
        for column, value in theirs:
            text = write(value)
            places.setdefault(text, []).append(column)
            values[text] = value
        self._add_shared(node, ours, theirs)
        if node.fuzzy:
            letters = sum(_count_characters(value) for _, value in ours) * sum(
                _count_characters(value) for _, value in theirs
            )
            self._spend(letters // LETTERS)
        if not node.exact:
            self._spend(len(ours) * len(places) // LEAVES)
        found: dict[str, list[tuple[list[int], float, int]]] = {}
        for row, value in ours:
            text = write(value)
            known = found.get(text)
            if known is None:
                known = found[text] = self._find_matches(node, text, value, places, values)
            gains, commons = self._gain[row], self._common[row]
            for columns, gain, common in known:
                for column in columns:
                    gains[column] += gain
                    commons[column] += common

    def _find_matches(
        self,
        node: Node,
        text: str,
        value: Any,
        places: dict[str, list[int]],
        values: dict[str, Any],
    ) -> list[tuple[list[int], float, int]]:
        """Return the columns with which a leaf has something in common, and what that gains."""
        if node.exact:
            return [(places[text], node.weight + COMMON, 1)] if text in places else []
        found = []
        for other, columns in places.items():
            if other == text:
                found.append((columns, node.weight + COMMON, 1))
                continue
            kind, score, _ = node.leaf(value, values[other])
            common = int(kind in ("match", "open") or score > 0)
            if common:
                found.append((columns, node.weight * score + COMMON, common))
        return found

    def _add_shared(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        """Add the gain of a leaf that both items have, whether or not it matches."""
        gain = node.shared_gain * node.weight
        if not gain:
            return
        if (len(ours), len(theirs)) == self._size:
            self._everywhere += gain
            return
        for row, _ in ours:
            gains = self._gain[row]
            for column, _ in theirs:
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
        worth, shared = its.weight + COMMON, its.shared_gain * its.weight
        for row, array in ours:
            gains, commons = self._gain[row], self._common[row]
            for text, count in Counter(map(its.leaf_text, array)).items():
                for column, other in places.get(text, ()):
                    both = min(count, other)
                    gains[column] += both * worth
                    commons[column] += both
            for column, other in theirs if shared else ():
                gains[column] += shared * min(len(array), len(other))

    def _add_pairs(self, node: Node, ours: Sequence[Item], theirs: Sequence[Item]) -> None:
        """Compare each value with each other one, equal values once."""
        expected = self._group_by_text(node, theirs)
        for places, value in self._group_by_text(node, ours):
            for others, wanted in expected:
                gain, common = self._compare(node, value, wanted)
                for row in places:
                    gains, commons = self._gain[row], self._common[row]
                    for column in others:
                        gains[column] += gain
                        commons[column] += common

    def _group_by_text(self, node: Node, items: Sequence[Item]) -> list[tuple[list[int], Any]]:
        """Return the different values of items, each with its rows or columns."""
        found: dict[str, tuple[list[int], Any]] = {}
        for place, value in items:
            text = repr(value) if node.graded else self._write(node, value)
            found.setdefault(text, ([], value))[0].append(place)
        return list(found.values())


def _group_by_kind(node: Node, items: Sequence[Item]) -> dict[str, list[Item]]:
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        kind = type(item[1])
        if kind is AnyOf:
            found["other"].append(item)
        elif node.whole or kind not in CONTAINERS:
            found["leaf"].append(item)
        elif not item[1]:
            found["empty object" if kind is dict else "empty array"].append(item)
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
    return its.whole or not any(type(part) in CONTAINERS or type(part) is AnyOf for part in parts)


def _count_characters(value: Any) -> int:
    return len(value) if type(value) is str else 0
