"""The best way to pair two lists one to one. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import inf


def best_pairs(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pair rows with columns so that the weights of the pairs add up to the most.

    `weights[row][column]` is a finite number of at least 0; pairs of weight 0 are left out. Exact:
    shortest augmenting paths over reduced costs (Jonker and Volgenant, Computing 38 (1987) 325),
    in a time that grows at most with rows times columns times the smaller of both. Pairs come in
    the order of rows. Where several pairings are the best, the order of rows and columns decides.
    """
    if len(weights) == 1 and len(weights[0]) == 1:  # as most are
        return [(0, 0)] if weights[0][0] > 0 else []
    pairs: list[tuple[int, int]] = []
    for rows, columns in _split(weights):
        part = [[weights[row][column] for column in columns] for row in rows]
        if len(rows) <= len(columns):
            found = zip(rows, (columns[place] for place in _assign_columns(part)))
        else:
            turned = _assign_columns([*zip(*part)])
            found = zip((rows[place] for place in turned), columns)
        pairs += [(row, column) for row, column in found if weights[row][column] > 0]
    return sorted(pairs)


def _split(weights: Sequence[Sequence[float]]) -> list[tuple[list[int], list[int]]]:
    """Return the rows and columns that hang together; of most items few belong to another."""
    links = [[column for column, weight in enumerate(row) if weight > 0] for row in weights]
    rows_of: defaultdict[int, list[int]] = defaultdict(list)
    for row, columns in enumerate(links):
        for column in columns:
            rows_of[column].append(row)
    known: set[int] = set()
    parts = []
    for start, first in enumerate(links):
        if not first or start in known:
            continue
        rows, reached = [start], dict.fromkeys(first)
        known.add(start)
        for column in (waiting := [*first]):
            for row in rows_of[column]:
                if row not in known:
                    known.add(row)
                    rows.append(row)
                    waiting += [each for each in links[row] if each not in reached]
                    reached.update(dict.fromkeys(links[row]))
        parts.append((sorted(rows), sorted(reached)))
    return parts


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
