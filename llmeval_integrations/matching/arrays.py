"""Two arrays whose items are paired: the gains of pairs, and the budget of pairs that are tried.

The gain of a pair is the weight of its leaves that match, each times its similarity, plus tiny
amounts that decide between equal sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.shared_parts import pair_by_shared_parts
from llmeval_integrations.matching.texts import Texts

Items: TypeAlias = list[Any]
"""An array of JSON values."""

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Table: TypeAlias = list[list[float]]
"""The gains of pairs: a row for each item of the output, a column for each of the reference."""

Item: TypeAlias = tuple[int, Any]
"""The row or column of an item, and the item's value at some place."""

SHARED: Final = 1e-6
"""The gain of two leaves at the same place that do not match, if `pairs_all`."""

WHOLE: Final = 1e-9
"""The extra gain of items that match in full; it decides between equal sums."""

COMMON: Final = 1e-12
"""The extra gain of each common leaf; it decides if no leaf has a weight."""

_LETTERS: Final = 500_000
"""The pairs of characters that take as long to compare as one pair of items."""

_PLAIN: Final = frozenset((str, int, float, type(None)))
"""The types of which Python's `==` compares as JSON does; `True == 1` in Python."""


class BudgetSpentError(Exception):
    """Raised if the budget is spent while arrays inside other items are tried."""


class Budget:
    """The pairs of items that a document may still try."""

    def __init__(self) -> None:
        self.left: float = MAX_PAIRS
        self.depth = 0
        """How many arrays that contain the current one are being tried."""

    def spend(self, pairs: float) -> None:
        """Take pairs from the budget; raise BudgetSpentError if it has fewer."""
        self.left -= pairs
        if self.left < 0:
            raise BudgetSpentError

    def spend_letters(self, letters: int) -> None:
        """Take as many pairs from the budget as these pairs of characters are worth."""
        self.spend(letters / _LETTERS)


class Arrays:
    """Two arrays whose items are paired."""

    def __init__(
        self,
        node: Node,
        output: Items,
        reference: Items,
        *,
        gain_of: Callable[[Node, Any, Any], float],
        texts: Texts,
        budget: Budget,
    ) -> None:
        """`gain_of` returns the gain of two values at a node."""
        self.node = node
        self.its = node.item(0)
        self.output = output
        self.reference = reference
        self.least = 0.0 if node.order == "by_key" else node.min_similarity
        """The least similarity of a pair; with a key, it is checked after all pairs are found."""
        self.is_limited = False
        """Whether there were too many items to try every pair."""
        self.texts = texts
        self.budget = budget
        self._gain_of = gain_of

    def gain(self, here: int, there: int) -> float:
        """Return the gain of two items, or 0 if they are less similar than `least`."""
        return self._table([here], [there])[0][0]

    def is_similar(self, here: int, there: int, least: float) -> bool:
        """Return whether two items are as similar as this."""
        both = self.its.weigh(self.output[here]) + self.its.weigh(self.reference[there])
        return _suffices(self.gain(here, there), both, least)

    def table(self, here: Sequence[int], there: Sequence[int]) -> Table | None:
        """Return the gain of each pair of these items, or None if there are too many.

        In that case half of the budget is given back, so that arrays inside the items can still be
        tried. All trials of a document together take at most twice the budget. Raises
        BudgetSpentError if the arrays are inside items that are being tried.
        """
        budget, before = self.budget, self.budget.left
        budget.depth += 1
        try:
            budget.spend(len(here) * len(there))
            return self._table(here, there)
        except BudgetSpentError:
            if budget.depth > 1:
                raise
            budget.left = before // 2
            return None
        finally:
            budget.depth -= 1

    def _table(self, here: Sequence[int], there: Sequence[int]) -> Table:
        its = self.its
        if len(here) == len(there) == 1 and not self.least:
            return [[self._gain_of(its, self.output[here[0]], self.reference[there[0]])]]
        ours, theirs = [self.output[n] for n in here], [self.reference[n] for n in there]
        table = [[0.0] * len(theirs) for _ in ours]
        self._add(table, its, [*enumerate(ours)], [*enumerate(theirs)])
        weights: dict[int, float] = {}  # of the columns that have a gain; most have none
        for value, gains in zip(ours, table):
            columns = [column for column, gain in enumerate(gains) if gain]
            weight = its.weigh(value) if columns else 0.0
            for column in columns:
                if column not in weights:
                    weights[column] = its.weigh(theirs[column])
                gain, other = gains[column], weights[column]
                if gain >= max(weight, other):  # all leaves match
                    gains[column] += WHOLE
                elif not _suffices(gain, weight + other, self.least):
                    gains[column] = 0.0
        return table

    def _add(self, table: Table, node: Node, ours: list[Item], theirs: list[Item]) -> None:
        """Add the gains of values at a node: each of ours with each of theirs.

        The gain of two objects is the sum of their members' gains, and equal leaves are found by
        their texts. This takes a tenth of the time of comparing each pair of items.
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
                columns[_write_key(node, value)].append(column)
            for row, value in ours:
                for column in columns.get(_write_key(node, value), ()):
                    table[row][column] += node.weight + COMMON
        else:
            for row, value in ours:
                for column, expected in theirs:
                    table[row][column] += self._gain_of(node, value, expected)

    def _add_texts(self, table: Table, node: Node, ours: list[Item], theirs: list[Item]) -> None:
        """Add the gains of texts, each of ours with all of theirs at once."""
        shared = SHARED if node.pairs_all else 0.0
        texts = [text for _, text in theirs]
        self.budget.spend_letters(sum(len(text) for _, text in ours) * sum(map(len, texts)))
        for row, text in ours:
            gains = table[row]
            for column, _ in theirs:
                gains[column] += shared
            for position, score in node.grade_texts(text, texts):
                gains[theirs[position][0]] += node.weight * score + COMMON

    def pair_by_parts(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair items by the rare leaves that they share, without trying every pair."""
        self.is_limited = True
        leaves, its = self.texts.leaves, self.its
        pairs = pair_by_shared_parts(
            {n: sorted(leaves(its, self.output[n])) for n in spare},
            {n: sorted(leaves(its, self.reference[n])) for n in wanted},
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


def _suffices(gain: float, both: float, least: float) -> bool:
    """Return whether a pair's similarity is at least `least`; `both` is the weight of its leaves.

    The factor allows for rounding.
    """
    return 2 * gain >= least * both * (1 - 1e-9)


def are_disjoint(output: Items, reference: Items) -> bool:
    """Return whether all items are scalars, and no item of one array equals one of the other."""
    return (
        SCALARS.issuperset(map(type, output))
        and SCALARS.issuperset(map(type, reference))
        and set(output).isdisjoint(reference)
    )


def _write_key(node: Node, value: Any) -> Hashable:
    """Return a key that is equal for leaves that are equal as JSON."""
    return value if type(value) in _PLAIN else (node.leaf_text(value),)


def _group_by_member(items: list[Item]) -> dict[str, list[Item]]:
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for place, value in items:
        for name, part in value.items():
            found[name].append((place, part))
    return found
