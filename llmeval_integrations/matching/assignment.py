"""Find the best way to pair two lists one to one."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

Table = Sequence[Sequence[float]]


def best_pairs(weights: Table) -> list[tuple[int, int]]:
    """Pair rows with columns so that the sum of the pairs' weights is the greatest.

    `weights[row][column]` is a finite number of at least 0. Pairs of weight 0 are left out. The
    pairs are in the order of rows. If several pairings are the best, the order of rows and columns
    decides. The result is exact: shortest augmenting paths over reduced costs (Jonker and
    Volgenant, Computing 38 (1987) 325). The time grows at most with rows times columns times the
    smaller of the two.
    """
    if len(weights) == 1 and len(weights[0]) == 1:  # the most frequent case
        return [(0, 0)] if weights[0][0] else []
    rows = [row for row, each in enumerate(weights) if any(each)]
    columns = [column for column, each in enumerate(zip(*weights)) if any(each)]
    part = [[weights[row][column] for column in columns] for row in rows]
    if len(rows) <= len(columns):
        found = [(rows[row], columns[column]) for row, column in enumerate(_assign(part))]
    else:
        turned = _assign([*zip(*part)])
        found = sorted((rows[row], columns[column]) for column, row in enumerate(turned))
    return [(row, column) for row, column in found if weights[row][column] > 0]


def _assign(weights: Table) -> list[int]:
    """Return each row's column; there are at least as many columns as rows."""
    columns = range(len(weights[0])) if weights else range(0)
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
    column_of = {row: column for column, row in enumerate(owner)}
    return [column_of[row] for row in range(len(weights))]


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
