"""Which of the calls that were made is which of those expected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.matching.assignment import best_pairs

# Among pairings of the same score the one with more calls wholly right is told, and among these
# the one that keeps the order. Both are too small to outweigh an argument.
_RIGHT: Final = 1e-6
_NEAR: Final = 1e-9

Pairs: TypeAlias = list[tuple[int, int]]
Score: TypeAlias = Callable[[int, int], float]
Texts: TypeAlias = Callable[[], tuple[list[str], list[str]]]
"""Gives the texts of the calls made and of those expected; equal calls have the same text."""


def pair_by_name(
    made: Sequence[str], expected: Sequence[str], score: Score, texts: Texts
) -> tuple[Pairs, bool]:
    """Pair calls of the same tool one to one so that the sum of their scores is the highest.

    Order does not count. Returns also whether there were more than MAX_PAIRS: then equal calls of
    a tool are paired, the others in the order of their texts.
    """
    here, there = _positions(made), _positions(expected)
    pairs: Pairs = []
    left = MAX_PAIRS
    for name in here.keys() & there.keys():
        rows, columns = here[name], there[name]
        if len(rows) == len(columns) == 1:
            pairs.append((rows[0], columns[0]))
            continue
        left -= len(rows) * len(columns)
        if left < 0:
            pairs += _pair_by_text(rows, columns, *texts())
            continue
        weights = [[_weight(score(row, column), row, column) for column in columns] for row in rows]
        pairs += [(rows[row], columns[column]) for row, column in best_pairs(weights)]
    return sorted(pairs), left < 0


def pair_in_order(made: Sequence[str], expected: Sequence[str], score: Score) -> tuple[Pairs, bool]:
    """Pair calls of the same tool, none crossing another, so that the sum is the highest.

    Beyond MAX_PAIRS the calls at the same position are paired.
    """
    rows, columns = len(made), len(expected)
    if rows * columns > MAX_PAIRS:
        return [(n, n) for n in range(min(rows, columns)) if made[n] == expected[n]], True
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    taken: dict[tuple[int, int], float] = {}
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            best[row][column] = max(best[row + 1][column], best[row][column + 1])
            if made[row] == expected[column]:
                value = _weight(score(row, column), row, column) + best[row + 1][column + 1]
                if value > best[row][column]:
                    best[row][column] = taken[row, column] = value
    pairs: Pairs = []
    row = column = 0
    while row < rows and column < columns:
        if (row, column) in taken:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs, False


def _weight(score: float, row: int, column: int) -> float:
    return score + _RIGHT * (score == 1) + _NEAR / (1 + abs(row - column))


def _positions(items: Sequence[str]) -> defaultdict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        found[item].append(position)
    return found


def _pair_by_text(
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
