"""The best way to pair two lists one to one. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def best_pairs(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pair rows with columns so that the weights of the pairs add up to the most.

    `weights[row][column]` is a finite number of at least 0; pairs of weight 0 are left out. Exact:
    shortest augmenting paths over reduced costs (Jonker and Volgenant, Computing 38 (1987) 325),
    in a time that grows at most with rows times columns times the smaller of both. Pairs come in
    the order of rows. Where several pairings are the best, the order of rows and columns decides.
    """
    if not weights or not weights[0]:
        return []
    if len(weights) <= len(weights[0]):
        pairs = enumerate(_assign_columns(weights))
    else:
        turned = _assign_columns(list(zip(*weights)))
        pairs = enumerate(_transpose(turned, len(weights)))
    return [(row, column) for row, column in pairs if column >= 0 and weights[row][column] > 0]


def _transpose(rows: Sequence[int], count: int) -> list[int]:
    columns = [-1] * count
    for column, row in enumerate(rows):
        columns[row] = column
    return columns


def _assign_columns(weights: Sequence[Sequence[float]]) -> list[int]:
    """Return each row's column; there are at least as many columns as rows."""
    pairing = _Pairing(weights)
    for row in range(len(weights)):
        if pairing.column_of[row] < 0:
            pairing.augment(row)
    return pairing.column_of


class _Pairing:
    """Rows with their columns, and prices that prove that no other pairing of them is better."""

    def __init__(self, weights: Sequence[Sequence[float]]) -> None:
        columns = range(len(weights[0]))
        self.weights = weights
        self.gains = list(map(max, weights))
        self.prices = [0.0] * len(columns)
        self.owner = [-1] * len(columns)
        self.column_of = [-1] * len(weights)
        for row, worth in enumerate(weights):  # most rows get what they like best at once
            best = max(columns, key=worth.__getitem__)
            if self.owner[best] < 0:
                self.owner[best], self.column_of[row] = row, best

    def augment(self, start: int) -> None:
        """Give one more row its column, others changing theirs where that costs the least.

        Dijkstra's search over the reduced costs, a row's gain plus a column's price less their
        weight, which are never negative, and 0 for the pairs that there are.
        """
        prices, owner = self.prices, self.owner
        far = [inf] * len(prices)
        came_from = [start] * len(prices)
        left = list(range(len(prices)))
        done: list[int] = []
        row, reached = start, 0.0
        while True:
            worth, base = self.weights[row], reached + self.gains[row]
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
        self.gains[start] -= reached
        for passed in done:
            prices[passed] += reached - far[passed]
            self.gains[owner[passed]] -= reached - far[passed]
        self._shift_columns(start, column, came_from)

    def _shift_columns(self, start: int, column: int, came_from: Sequence[int]) -> None:
        """Along the way back each row takes the column by which it was left."""
        row = -1
        while row != start:
            row = came_from[column]
            self.owner[column], self.column_of[row], column = row, column, self.column_of[row]
