"""Pair two lists one to one: by a table of gains, by equal texts, or by shared parts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, compress, count, product
from math import inf
from operator import itemgetter
from typing import Final, TypeAlias

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Table: TypeAlias = Sequence[Sequence[float]]
"""The gains of pairs: a row for each item of the output, a column for each of the reference."""


def best_pairs(weights: Table) -> Pairs:
    """Pair rows with columns so that the sum of the pairs' weights is the greatest.

    `weights[row][column]` is a finite number of at least 0. Pairs of weight 0 are left out. The
    pairs are in the order of rows. If several pairings are the best, the order of rows and columns
    decides. The result is exact: shortest augmenting paths over reduced costs (Jonker and
    Volgenant, Computing 38 (1987) 325). The time grows at most with rows times columns times the
    smaller of the two.
    """
    if len(weights) == 1 and len(weights[0]) == 1:  # the most frequent case
        return [(0, 0)] if weights[0][0] else []
    rows = [*compress(count(), map(any, weights))]
    columns = [*compress(count(), map(any, zip(*weights)))]
    if not rows:
        return []
    part = weights
    if len(rows) < len(weights) or len(columns) < len(weights[0]):
        part = [[weights[row][column] for column in columns] for row in rows]
    is_tall = len(rows) > len(columns)
    pairs: Pairs = []
    for column, row in enumerate(_assign([*zip(*part)] if is_tall else part)):
        here, there = (column, row) if is_tall else (row, column)
        if row >= 0 and part[here][there] > 0:
            pairs.append((rows[here], columns[there]))
    return sorted(pairs)


def _assign(weights: Table) -> list[int]:
    """Give each row a column, of which there are enough; return the row of each, or -1."""
    columns = range(len(weights[0]))
    owner = [-1] * len(columns)
    waiting = []
    for row, worth in enumerate(weights):  # most rows get their best column at once
        best = max(columns, key=worth.__getitem__)
        if owner[best] < 0:
            owner[best] = row
        else:
            waiting.append(row)
    gains, prices = list(map(max, weights)), [0.0] * len(columns)
    for row in waiting:
        _augment(weights, row, gains, prices, owner)
    return owner


def _augment(
    weights: Table, start: int, gains: list[float], prices: list[float], owner: list[int]
) -> None:
    """Give one more row a column, and move other rows to other columns if that costs the least.

    This is Dijkstra's search over reduced costs: a row's gain plus a column's price minus their
    weight. Reduced costs are never negative, and 0 for present pairs. So gains and prices prove
    that no other pairing of the rows so far is better.
    """
    column_of = {row: column for column, row in enumerate(owner)}
    far, came_from = [inf] * len(prices), [start] * len(prices)
    left, done = list(range(len(prices))), []
    row, reached = start, 0.0
    while True:
        worth, base = weights[row], reached + gains[row]
        nearest, place = inf, -1
        for position, column in enumerate(left):
            cost = base + prices[column] - worth[column]
            if cost < far[column]:
                far[column], came_from[column] = cost, row
            if far[column] < nearest:
                nearest, place = far[column], position
        column, reached = left[place], nearest
        left[place] = left[-1]
        left.pop()
        if owner[column] < 0:
            break
        done.append(column)
        row = owner[column]
    gains[start] -= reached
    for passed in done:
        prices[passed] += reached - far[passed]
        gains[owner[passed]] -= reached - far[passed]
    while True:  # on the way back, each row takes the column to which the search left it
        row = came_from[column]
        owner[column] = row
        if row == start:
            return
        column = column_of[row]


def leftovers(
    pairs: Pairs, here: Sequence[int], there: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the positions that are in no pair, in their order; mostly, one side has none."""
    used, met = map(itemgetter(0), pairs), map(itemgetter(1), pairs)
    spare = sorted({*here}.difference(used)) if len(here) > len(pairs) else []
    return spare, sorted({*there}.difference(met)) if len(there) > len(pairs) else []


def pair_texts(
    output: Mapping[int, str], reference: Mapping[int, str]
) -> tuple[Pairs, list[int], list[int]]:
    """Pair positions with equal texts, earlier ones first; return the pairs and both rests."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position in reversed([*output]):
        places[output[position]].append(position)
    pairs, wanted = [], []
    for position, text in reference.items():
        if found := places.get(text):
            pairs.append((found.pop(), position))
        else:
            wanted.append(position)
    return pairs, sorted(chain.from_iterable(places.values())), wanted


_WIDTHS: Final = (4, 2, 1)
"""How many neighbouring leaves make a part that items may share; longer parts are rarer."""

_VOTES: Final = 50
"""The votes for each item. Parts that would need more, as too many items have them, are skipped:
one currency in all prices tells no items apart."""

_MOST_VOTES: Final = 2_000_000
"""The votes for all items together, which bounds the memory."""


def pair_by_shared_parts(ours: Mapping[int, list[str]], theirs: Mapping[int, list[str]]) -> Pairs:
    """Pair items by position; each shared part of their sorted leaves is a vote for a pair.

    Pairs with the most votes come first, then earlier ones. Items without votes are paired in the
    order of their leaves, so that similar beginnings meet. The time is linear.
    """
    left = min(_VOTES * (len(ours) + len(theirs)), _MOST_VOTES)
    votes: Counter[tuple[int, int]] = Counter()
    for width in _WIDTHS:
        known, wanted = _group_by_part(ours, width), _group_by_part(theirs, width)
        shared = [(known[part], places) for part, places in wanted.items() if part in known]
        shared.sort(key=lambda both: len(both[0]) * len(both[1]))  # the rarest parts first
        for here, there in shared:
            if len(here) * len(there) > left:
                break
            left -= len(here) * len(there)
            votes.update(product(here, there))
    spare, others = dict.fromkeys(ours), dict.fromkeys(theirs)
    pairs = []
    for one, other in sorted(votes, key=lambda pair: (-votes[pair], pair)):
        if one in spare and other in others:
            pairs.append((one, other))
            del spare[one], others[other]
    rest = zip(sorted(spare, key=ours.__getitem__), sorted(others, key=theirs.__getitem__))
    return [*pairs, *rest]


def _group_by_part(items: Mapping[int, list[str]], width: int) -> dict[object, list[int]]:
    """Return the items that have each part of `width` leaves; the first leaf follows the last."""
    found: defaultdict[object, list[int]] = defaultdict(list)
    for position, leaves in items.items():
        if width == 1 or width < len(leaves):
            ring = [*leaves, *leaves[: width - 1]]
            for start in range(len(leaves)):
                found[tuple(ring[start : start + width])].append(position)
    return found
