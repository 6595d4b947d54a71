"""Which of the calls that were made is which of those expected. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from llmeval_integrations.matching.assignment import best_pairs

MAX_COMPARED: Final = 10_000
"""The most calls of one tool that are compared, those made times those expected.

Beyond it calls that are equal are paired first, and the rest one by one as they come.
"""

# Among pairings of the same score the one with more calls wholly right is told, and among these
# the one that keeps the order. Both are too small to outweigh an argument.
_RIGHT, _NEAR = 1e-6, 1e-9

Pairs = list[tuple[int, int]]
Texts = Callable[[], tuple[list[str], list[str]]]
"""Gives the texts of the calls made and of those expected; equal calls have the same text."""


def pair_by_name(
    made: Sequence[str],
    expected: Sequence[str],
    score: Callable[[int, int], float],
    texts: Texts,
) -> tuple[Pairs, bool]:
    """Pair calls of the same tool one to one so that the sum of their scores is the highest.

    Order does not count. Says also whether MAX_COMPARED was reached.
    """
    here, there = _positions(made), _positions(expected)
    pairs: Pairs = []
    reached = False
    for name in here.keys() & there.keys():
        rows, columns = here[name], there[name]
        if len(rows) == len(columns) == 1:
            pairs.append((rows[0], columns[0]))
            continue
        if len(rows) * len(columns) > MAX_COMPARED:
            reached = True
            pairs += _paired_by_text(rows, columns, *texts())
            continue
        weights = [[_weight(score(row, column), row, column) for column in columns] for row in rows]
        pairs += [(rows[row], columns[column]) for row, column in best_pairs(weights)]
    return sorted(pairs), reached


def pair_in_order(
    made: Sequence[str], expected: Sequence[str], score: Callable[[int, int], float]
) -> tuple[Pairs, bool]:
    """Pair calls of the same tool, none crossing another, so that the sum is the highest.

    Beyond MAX_COMPARED the calls at the same position are paired.
    """
    if len(made) * len(expected) > MAX_COMPARED:
        same = [n for n, (one, other) in enumerate(zip(made, expected)) if one == other]
        return [(n, n) for n in same], True
    rows, columns = len(made), len(expected)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    taken: dict[tuple[int, int], float] = {}
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            best[row][column] = max(best[row + 1][column], best[row][column + 1])
            if made[row] == expected[column]:
                value = _weight(score(row, column), row, column) + best[row + 1][column + 1]
                if value > best[row][column]:
                    best[row][column] = taken[row, column] = value
    return _path(best, taken), False


def _path(best: list[list[float]], taken: dict[tuple[int, int], float]) -> Pairs:
    """Follow the way that gave the highest sum."""
    pairs: Pairs = []
    row = column = 0
    while row < len(best) - 1 and column < len(best[0]) - 1:
        if (row, column) in taken:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def _weight(score: float, row: int, column: int) -> float:
    return score + _RIGHT * (score == 1) + _NEAR / (1 + abs(row - column))


def _positions(items: Sequence[str]) -> defaultdict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        found[item].append(position)
    return found


def _paired_by_text(
    rows: list[int], columns: list[int], made: list[str], expected: list[str]
) -> Pairs:
    """Pair what is equal, then the rest in the order of its text."""
    there = _positions([expected[column] for column in columns])
    pairs: Pairs = []
    left = []
    for row in rows:
        equals = there.get(made[row])
        if equals:
            pairs.append((row, columns[equals.pop()]))
        else:
            left.append(row)
    wanted = [columns[position] for rest in there.values() for position in rest]
    left.sort(key=made.__getitem__)
    wanted.sort(key=expected.__getitem__)
    return pairs + list(zip(left, wanted))
