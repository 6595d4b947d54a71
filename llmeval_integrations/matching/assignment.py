"""Pair two lists one to one: by a table of gains, or by equal texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, compress, count
from math import inf
from operator import itemgetter
from typing import TypeAlias

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Positions: TypeAlias = Sequence[int]
"""Positions in one of two arrays."""

Table: TypeAlias = Sequence[Sequence[float]]
"""The gains of pairs: a row for each item of the output, a column for each of the reference."""


def best_pairs(table: Table) -> Pairs:
    """Pair rows with columns so that the sum of the pairs' gains is the greatest.

    `table[row][column]` is a finite number of at least 0. Pairs that gain 0 are left out. The
    pairs are in the order of rows. If several pairings are the best, the order of rows and columns
    decides. The result is exact: shortest augmenting paths over reduced costs (Jonker and
    Volgenant, Computing 38 (1987) 325). The time grows at most with rows times columns times the
    smaller of the two.
    """
    if len(table) == 1 and len(table[0]) == 1:  # the most frequent case
        return [(0, 0)] if table[0][0] else []
    rows = [*compress(count(), map(any, table))]
    columns = [*compress(count(), map(any, zip(*table)))]
    if not rows:
        return []
    part = table
    if len(rows) < len(table) or len(columns) < len(table[0]):
        part = [[table[row][column] for column in columns] for row in rows]
    is_tall = len(rows) > len(columns)
    if is_tall:  # every row needs a column
        part, rows, columns = [*zip(*part)], columns, rows
    owner = [-1] * len(columns)
    waiting = []
    for row, gains in enumerate(part):  # most rows get their best column at once
        best = gains.index(max(gains))
        if owner[best] < 0:
            owner[best] = row
        else:
            waiting.append(row)
    profits, prices = list(map(max, part)), [0.0] * len(columns)
    for row in waiting:
        _augment(part, row, profits, prices, owner)
    pairs: Pairs = []
    for column, row in enumerate(owner):
        if row >= 0 and part[row][column] > 0:
            pair = rows[row], columns[column]
            pairs.append(pair[::-1] if is_tall else pair)
    return sorted(pairs)


def _augment(
    table: Table, start: int, profits: list[float], prices: list[float], owner: list[int]
) -> None:
    """Give one more row a column, and move other rows to other columns if that costs the least.

    This is Dijkstra's search over reduced costs: a row's profit plus a column's price minus their
    gain. Reduced costs are never negative, and 0 for present pairs. So profits and prices prove
    that no other pairing of the rows so far is better.
    """
    column_of = {row: column for column, row in enumerate(owner)}
    far, came_from = [inf] * len(prices), [start] * len(prices)
    left, done = list(range(len(prices))), []
    row, reached = start, 0.0
    while True:
        gains, base = table[row], reached + profits[row]
        nearest, place = inf, -1
        for position, column in enumerate(left):
            cost = base + prices[column] - gains[column]
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
    profits[start] -= reached
    for passed in done:
        prices[passed] += reached - far[passed]
        profits[owner[passed]] -= reached - far[passed]
    while True:  # on the way back, each row takes the column to which the search left it
        row = came_from[column]
        owner[column] = row
        if row == start:
            return
        column = column_of[row]


def leftovers(pairs: Pairs, here: Positions, there: Positions) -> tuple[list[int], list[int]]:
    """Return the positions that are in no pair, in order; the pairs are of these positions."""
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
