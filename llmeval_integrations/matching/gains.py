"""What a pair of values adds to a comparison, and a table of it for many pairs at once.

The gain of a pair is the weight of its leaves that match, each times its similarity, plus tiny
amounts that decide between equal sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from math import fsum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from llmeval_integrations.json_values.values import CONTAINERS, SCALARS, count_leaves
from llmeval_integrations.matching.assignment import Positions
from llmeval_integrations.matching.node import Node

if TYPE_CHECKING:
    from llmeval_integrations.matching.pairing import Arrays, Pairing

SAME_PLACE: Final = 1e-6
"""The extra gain of two leaves at the same place, whether or not they match, with `pairs_all`."""

FULL: Final = 1e-9
"""The extra gain of items that match in full; it decides between equal sums."""

COMMON: Final = 1e-12
"""The extra gain of each leaf that matches; it decides if no leaf has a weight."""

_FULL_FIRST: Final = 1e6
"""The extra gain of items that match in full, if the output may have extra members. Such an item
does not equal its reference, so it is not paired before the others. But this gain is more than all
leaves of a document together, so it is paired with its reference all the same."""

LETTERS: Final = 500_000
"""The pairs of characters that take as long to compare as one pair of items."""

_EQUAL_IN_PYTHON: Final = frozenset((str, int, float, type(None)))
"""The types of which Python's `==` compares as JSON does; `True == 1` in Python."""

_Item: TypeAlias = tuple[int, Any]
"""The row or column of an item, and the item's value at some place."""

_Sums: TypeAlias = list[list[float]]
"""A table to whose gains more are added."""


class BudgetSpentError(Exception):
    """Raised if the budget is spent while arrays inside other items are tried."""


def gain_by_comparison(pairing: Pairing, node: Node, output: Any, reference: Any) -> float:
    """Return the gain of a pair of items by a full comparison, which knows about defaults."""
    full = FULL if node.counts_extra else _FULL_FIRST
    if type(output) in SCALARS and type(reference) in SCALARS:  # a trial takes four times as long
        gain = pairing.gain_of_leaves(node, output, reference)
        return gain + full if gain >= node.weight + COMMON else gain
    trial = pairing.compare(pairing, node, output, reference)
    gains = [leaf.weight + COMMON for leaf in trial.matched]
    gains += [leaf.weight * score + COMMON for leaf, *_, score in trial.open]
    for each in trial.outcomes:
        if each.kind == "match" or each.score > 0:
            gains.append(each.node.weight * each.score + COMMON)
    if node.pairs_all:  # a place of both sides counts twice in `both`, and once in the lists
        both = count_leaves(output) + count_leaves(reference)
        gains.append(SAME_PLACE * (both - len(trial.matched) - len(trial.outcomes)))
    if not (trial.outcomes or trial.open):
        gains.append(full)
    return fsum(gains)


def make_table(pairing: Pairing, node: Node, ours: list[Any], theirs: list[Any]) -> _Sums:
    """Return the gain of each of our items with each of theirs.

    The gain of two objects is the sum of their members' gains, and equal leaves are found by
    their texts. For many items, this takes a tenth of the time of comparing each pair of them.
    """
    table = [[0.0] * len(theirs) for _ in ours]
    _add(pairing, table, node, [*enumerate(ours)], [*enumerate(theirs)])
    return table


def _add(
    pairing: Pairing, table: _Sums, node: Node, ours: list[_Item], theirs: list[_Item]
) -> None:
    """Add the gains of values at a node."""
    kinds = {type(value) if value else None for _, value in (*ours, *theirs)}
    is_plain = not (node.ignored or node.whole or node.has_defaults)
    if is_plain and kinds == {dict} and node.counts_extra:
        members, others = _group_by_member(ours), _group_by_member(theirs)
        for name, parts in others.items():  # always in the same order, as sums are rounded
            if name in members:
                _add(pairing, table, node.member(name), members[name], parts)
    elif node.grades_texts and kinds <= {str}:
        _add_texts(pairing, table, node, ours, theirs)
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
                table[row][column] += pairing.gain(node, value, expected)


def _add_texts(
    pairing: Pairing, table: _Sums, node: Node, ours: list[_Item], theirs: list[_Item]
) -> None:
    """Add the gains of texts, each of ours with all of theirs at once."""
    same_place = SAME_PLACE if node.pairs_all else 0.0
    texts = [text for _, text in theirs]
    spend_letters(pairing, sum(len(text) for _, text in ours) * sum(map(len, texts)))
    for row, text in ours:
        gains = table[row]
        for column, _ in theirs:
            gains[column] += same_place
        for position, score in node.grade_texts(text, texts):
            gains[theirs[position][0]] += node.weight * score + COMMON


def prefer_full(arrays: Arrays, table: _Sums, here: Positions, there: Positions) -> None:
    """Raise the gain of pairs that match in full; remove pairs that are not similar enough."""
    weigh = arrays.its.weigh
    weights: dict[int, float] = {}  # of the columns that have a gain; most have none
    for row, gains in zip(here, table):
        weight = -1.0
        for column, gain in enumerate(gains):
            if not gain:
                continue
            if weight < 0:
                weight = weigh(arrays.output[row])
            if column not in weights:
                weights[column] = weigh(arrays.reference[there[column]])
            if gain >= max(weight, weights[column]):  # all leaves match
                gains[column] += FULL
            elif 2 * gain < arrays.least * (weight + weights[column]):
                gains[column] = 0.0


def spend_on_texts(pairing: Pairing, output: Any, reference: Any) -> None:
    """Count two texts that are compared inside items that are tried; other values cost little."""
    if type(output) is type(reference) is str:
        spend_letters(pairing, len(output) * len(reference))


def spend_letters(pairing: Pairing, pairs: int) -> None:
    """Count pairs of characters; raise BudgetSpentError if the budget is spent."""
    pairing.left -= pairs / LETTERS
    if pairing.left < 0:
        raise BudgetSpentError


def _key(node: Node, value: Any) -> Hashable:
    """Return a key that is equal for leaves that are equal as JSON."""
    return value if type(value) in _EQUAL_IN_PYTHON else (node.leaf_text(value),)


def _group_by_member(items: list[_Item]) -> dict[str, list[_Item]]:
    found: defaultdict[str, list[_Item]] = defaultdict(list)
    for place, value in items:
        for name, part in value.items():
            found[name].append((place, part))
    return found
