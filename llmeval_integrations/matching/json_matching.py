"""Pairing the items of two arrays one to one."""

from __future__ import annotations

from collections import deque
from typing import Final

MAX_PAIRS: Final = 250_000
"""The most pairs of values that may be tried to find out which items of two arrays fit.

Between 0.3 and 3 s of work, for all the arrays of a document together. Beyond it only items that
are equal as wholes are paired, and the result says so.
"""


def match(candidates: list[list[int]], columns: int) -> dict[int, int]:
    """Pair as many rows as possible, each with one of its candidate columns.

    Augmenting paths (Kuhn's algorithm), breadth first so that nothing recurses.
    Returns row → column.
    """
    row_of: list[int | None] = [None] * columns
    column_of: dict[int, int] = {}
    lost: set[int] = set()  # columns from which no free one can be reached, now or later
    for root in range(len(candidates)):
        came_from: dict[int, int] = {}
        queue = deque([root])
        while queue:
            row = queue.popleft()
            free = None
            for column in candidates[row]:
                if column not in came_from and column not in lost:
                    came_from[column] = row
                    holder = row_of[column]
                    if holder is None:
                        free = column
                        break
                    queue.append(holder)
            if free is not None:
                _augment(free, root, came_from, row_of, column_of)
                break
        else:
            lost.update(came_from)
    return column_of


def _augment(
    column: int,
    root: int,
    came_from: dict[int, int],
    row_of: list[int | None],
    column_of: dict[int, int],
) -> None:
    """Hand columns on along the path that ends in a free one."""
    while True:
        row = came_from[column]
        previous = column_of.get(row)
        row_of[column], column_of[row] = row, column
        if row == root or previous is None:
            return
        column = previous
