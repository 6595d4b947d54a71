"""What a pair of values adds to a comparison, so that items of arrays are paired for the most.

The gain of a pair is the weight of its leaves that match, each times its similarity, plus tiny
amounts that decide between equal sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.values import CONTAINERS, SCALARS, count_leaves, equal
from llmeval_integrations.matching.assignment import Pairs
from llmeval_integrations.matching.node import Node

Items: TypeAlias = list[Any]
"""An array of JSON values."""

Item: TypeAlias = tuple[int, Any]
"""The row or column of an item, and the item's value at some place."""

Sums: TypeAlias = list[list[float]]
"""A table to whose gains more are added."""

SHARED: Final = 1e-6
"""The gain of two leaves at the same place that do not match, if `pairs_all`."""

WHOLE: Final = 1e-9
"""The extra gain of items that match in full; it decides between equal sums."""

COMMON: Final = 1e-12
"""The extra gain of each common leaf; it decides if no leaf has a weight."""

_FEW: Final = 9
"""Up to so many pairs of items, it is faster to compare each pair of them."""

LETTERS: Final = 500_000
"""The pairs of characters that take as long to compare as one pair of items."""

_PLAIN: Final = frozenset((str, int, float, type(None)))
"""The types of which Python's `==` compares as JSON does; `True == 1` in Python."""


class BudgetSpentError(Exception):
    """Raised if the budget is spent while arrays inside other items are tried."""


@dataclass
class Gains:
    """Rates pairs of values of two documents, within the budget of pairs that these may try."""

    full_gain: Callable[[Any, Node, Any, Any], float]
    """Returns the gain by a full comparison, for nodes with defaults."""

    left: float = MAX_PAIRS
    """How many more pairs of items may be tried."""

    defaults: dict[tuple[int, int], bool] = field(default_factory=dict)
    """Whether a value is the default of its place, by the ids of node and value."""

    uses_defaults: bool = True
    """Whether a member that one side leaves out is compared with its default. It is False inside
    such a default, which may contain itself."""

    depth: int = 0
    """How many arrays that contain the current one are being tried."""

    def find(self, node: Node, output: Items, reference: Items) -> tuple[Pairs, bool]:
        """Return the pairs of two arrays, and whether there were too many items to try all."""
        raise NotImplementedError

    def gain(self, node: Node, output: Any, reference: Any) -> float:
        """Return the gain of two values, or 0 if they have no common leaf.

        A full comparison would give the same and take five times as long.
        """
        if node.ignored:
            return 0.0
        if node.has_defaults or not node.counts_extra:
            return self.full_gain(self, node, output, reference)
        kind = type(output)
        if (
            kind not in CONTAINERS
            or node.whole
            or kind is not type(reference)
            or not (output and reference)
        ):
            return self.gain_of_leaves(node, output, reference)
        if kind is dict:
            total, known = 0.0, node.members
            common = COMMON + SHARED * node.pairs_all
            for name in reference:
                if name not in output:
                    continue
                its = known.get(name) or node.member(name)
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
        return sum(self.gain(node.item(n), output[n], reference[m]) for n, m in pairs)

    def gain_of_leaves(self, node: Node, output: Any, reference: Any) -> float:
        """Return the gain of two values of which at most one has parts."""
        shared = SHARED if node.pairs_all else 0.0
        if not (type(output) in SCALARS and type(reference) in SCALARS):
            if shared:  # at most so many leaves can be at the same places
                shared *= min(count_leaves(output), count_leaves(reference))
            if not (node.is_leaf(output) and node.is_leaf(reference)):
                is_same = type(output) is type(reference) and not node.weigh(output or reference)
                # An empty object equals one in which everything is ignored.
                return WHOLE if is_same else shared
            if not (node.counts(output) or node.counts(reference)):
                return 0.0
        if node.exact:
            return node.weight + COMMON + shared if equal(output, reference) else shared
        if self.depth and node.fuzzy:
            self.spend_on_texts(output, reference)
        kind, score, _ = node.leaf(output, reference)
        if kind in ("match", "open") or score > 0:
            return node.weight * score + COMMON + shared
        return shared

    # --- tables ----------------------------------------------------------------------------------

    def _spend(self, pairs: float) -> None:
        self.left -= pairs
        if self.left < 0:
            raise BudgetSpentError

    def spend_on_texts(self, output: Any, reference: Any) -> None:
        """Count two texts that are compared inside items that are tried; other values cost little.

        Raises BudgetSpentError.
        """
        if type(output) is type(reference) is str:
            self._spend(len(output) * len(reference) / LETTERS)

    def table(self, node: Node, ours: Items, theirs: Items) -> Sums | None:
        """Return the gain of each pair, or None if there are too many items.

        In that case half of the budget is given back, so that arrays inside the items can still be
        tried. All trials of a document together take at most twice the budget. Raises
        BudgetSpentError if the arrays are inside items that are being tried.
        """
        before = self.left
        self.depth += 1
        try:
            self._spend(len(ours) * len(theirs))
            table = [[0.0] * len(theirs) for _ in ours]
            if len(ours) * len(theirs) > _FEW:
                self._add(table, node, [*enumerate(ours)], [*enumerate(theirs)])
            else:
                for gains, output in zip(table, ours):
                    for column, reference in enumerate(theirs):
                        gains[column] = self.gain(node, output, reference)
        except BudgetSpentError:
            if self.depth > 1:
                raise
            self.left = before // 2
            return None
        finally:
            self.depth -= 1
        return table

    def _add(self, table: Sums, node: Node, ours: list[Item], theirs: list[Item]) -> None:
        """Add the gains of values at a node: each of ours with each of theirs.

        The gain of two objects is the sum of their members' gains, and equal leaves are found by
        their texts. For many items, this takes a tenth of the time of comparing each pair of them.
        """
        kinds = {type(value) if value else None for _, value in (*ours, *theirs)}
        is_plain = not (node.ignored or node.whole or node.has_defaults)
        if is_plain and kinds == {dict} and node.counts_extra:
            members, others = _group_by_member(ours), _group_by_member(theirs)
            for name, parts in others.items():  # always in the same order, as sums are rounded
                if name in members:
                    self._add(table, node.member(name), members[name], parts)
        elif node.grades_texts and kinds <= {str}:
            self._add_texts(table, node, ours, theirs)
        elif is_plain and node.exact and not node.pairs_all and not kinds & CONTAINERS:
            columns: defaultdict[Hashable, list[int]] = defaultdict(list)
            for column, value in theirs:
                columns[_key(node, value)].append(column)
            for row, value in ours:
                for column in columns.get(_key(node, value), ()):
                    table[row][column] += node.weight + COMMON
        else:
            for row, value in ours:
                for column, expected in theirs:
                    table[row][column] += self.gain(node, value, expected)

    def _add_texts(self, table: Sums, node: Node, ours: list[Item], theirs: list[Item]) -> None:
        """Add the gains of texts, each of ours with all of theirs at once."""
        shared = SHARED if node.pairs_all else 0.0
        texts = [text for _, text in theirs]
        self._spend(sum(len(text) for _, text in ours) * sum(map(len, texts)) / LETTERS)
        for row, text in ours:
            gains = table[row]
            for column, _ in theirs:
                gains[column] += shared
            for position, score in node.grade_texts(text, texts):
                gains[theirs[position][0]] += node.weight * score + COMMON


def are_disjoint(output: Items, reference: Items) -> bool:
    """Return whether all items are scalars, and no item of one array equals one of the other."""
    return (
        SCALARS.issuperset(map(type, output))
        and SCALARS.issuperset(map(type, reference))
        and set(output).isdisjoint(reference)
    )


def _key(node: Node, value: Any) -> Hashable:
    """Return a key that is equal for leaves that are equal as JSON."""
    return value if type(value) in _PLAIN else (node.leaf_text(value),)


def _group_by_member(items: list[Item]) -> dict[str, list[Item]]:
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for place, value in items:
        for name, part in value.items():
            found[name].append((place, part))
    return found
