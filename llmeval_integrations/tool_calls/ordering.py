"""Which call is which, where some have to come before others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from math import inf
from typing import Final

from llmeval_integrations.tool_calls.disorder import Disorder, weight
from llmeval_integrations.tool_calls.pairing import Pairs
from llmeval_integrations.tool_calls.precedence import Precedence

MAX_TRIED: Final = 10_000
"""The most calls that are given a place in the search; beyond it the best order so far stands."""

_MOST_CALLS = 200  # the search recurses once for each
_RIGHT = 1_000  # more than so many calls weigh as calls, and so many times less than a share

Score = Callable[[int, int], float]

Tools = Sequence[tuple[list[int], list[int]]]
"""Of each tool the calls that were made, and those expected."""


def disorder(pairs: Pairs, precedence: Precedence, score: Score) -> Disorder:
    """Return the disorder of calls with their partners, in the order in which they were made."""
    found = Disorder(precedence)
    for row, column in sorted(pairs):
        found.add(column, weight(score(row, column)))
    return found


def rearranged(
    starts: Sequence[Pairs], precedence: Precedence, tools: Tools, score: Score
) -> tuple[Pairs, bool]:
    """Pair the calls of these tools so that the scores of those in order add up to the most.

    Begins with the best of some pairings, the first of which has the highest sum of all scores.
    Says also whether a limit was reached.
    """
    search = _Search(starts[0], precedence, tools, score)
    for pairs in starts:
        search.take_if_better(pairs)
    if sum(len(rows) for rows, _ in tools) > _MOST_CALLS:
        return search.best, True
    search.place(0, Disorder(precedence), 0)
    return search.best, search.tried >= MAX_TRIED


class _Search:
    """Gives the calls that were made, one after the other, each way to be one of those expected.

    Each call that was made has a gain, each expected one a price (the dual solution of the
    assignment problem): together at least the weight of their pair, and just that in the pairing
    with the highest sum. So no pairing weighs more than all gains and prices. What a way costs is
    by how much it stays below that, and what is out of order.
    """

    def __init__(self, pairs: Pairs, precedence: Precedence, tools: Tools, score: Score) -> None:
        self.best: Pairs = []
        self.cost: float = inf
        """What the best costs."""
        self.tried = 0
        self._score = score
        self._precedence = precedence
        self._rows = sorted(row for rows, _ in tools for row in rows)
        self._weights: dict[int, dict[int, int]] = {}
        self._gains: dict[int, int] = {}
        self._prices: dict[int, int] = {}
        self._tool = {row: number for number, (rows, _) in enumerate(tools) for row in rows}
        # To pair one more call never lowers what is in order: no more are left out than have to be.
        self._to_leave_out = [max(0, len(rows) - len(columns)) for rows, columns in tools]
        self._free = []
        for rows, columns in tools:
            self._value(rows, columns, dict(pairs))
            self._free.append(self._alike(rows, columns))
        self._at: dict[int, int] = {}
        self._placed = 0

    def take_if_better(self, pairs: Pairs) -> None:
        """Keep a pairing that costs less than the best."""
        weights = sum(self._weights[row][column] for row, column in pairs)
        lost = sum(self._gains.values()) + sum(self._prices.values()) - weights
        cost = disorder(pairs, self._precedence, self._score).cost + lost
        if cost < self.cost:
            self.best, self.cost = pairs, cost

    def _value(self, rows: list[int], columns: list[int], partner: dict[int, int]) -> None:
        """Find the gain of each call that was made, and the price of each that was expected.

        Prices rise until no call would rather have another partner than its own (Bellman-Ford).
        """
        weights = {row: {n: self._weight(row, n) for n in columns} for row in rows}
        prices = dict.fromkeys(columns, 0)
        for _ in rows:
            before = prices.copy()
            for row in rows:
                own = partner.get(row)
                gain = 0 if own is None else weights[row][own] - prices[own]
                for column, worth in weights[row].items():
                    prices[column] = max(prices[column], worth - gain)
            if prices == before:
                break
        for row in rows:
            gains = [worth - prices[column] for column, worth in weights[row].items()]
            self._gains[row] = max([0, *gains])
        self._prices |= prices
        self._weights |= weights

    def _weight(self, row: int, column: int) -> int:
        """Return what a pair weighs; of pairings with the same score more is to be wholly right."""
        score = self._score(row, column)
        return weight(score) + (_RIGHT if score == 1 else 0)

    def _alike(self, rows: list[int], columns: list[int]) -> list[list[int]]:
        """Group expected calls; of those with the same weights, before and after, any will do."""
        groups: defaultdict[Hashable, list[int]] = defaultdict(list)
        for column in sorted(columns, reverse=True):
            role = self._precedence.before[column], self._precedence.after[column]
            groups[role, tuple(self._weights[row][column] for row in rows)].append(column)
        return list(groups.values())

    def place(self, count: int, disorder: Disorder, lost: int) -> None:
        """Go on from where this many calls have a place, and keep what is better than the best."""
        if disorder.cost + lost >= self.cost or self.tried >= MAX_TRIED:
            return
        if count == len(self._rows):
            self.take_if_better([(row, column) for column, row in self._at.items()])
            return
        self.tried += 1
        row = self._rows[count]
        for loss, _, _, free in sorted(self._ways(row), key=_first_three):
            if disorder.cost + lost + loss >= self.cost:
                break
            if free is None:
                self._to_leave_out[self._tool[row]] -= 1
                self.place(count + 1, disorder, lost + loss)
                self._to_leave_out[self._tool[row]] += 1
                continue
            column = free.pop()
            after = disorder.copy()
            after.add(column, weight(self._score(row, column)))
            self._at[column] = row
            self._placed ^= 1 << column
            self.place(count + 1, after, lost + loss)
            self._placed ^= 1 << column
            del self._at[column]
            free.append(column)

    def _ways(self, row: int) -> Iterator[_Way]:
        """Yield what this call may be: of those alike one expected call, or none.

        What to try first: what costs least, what waits for the fewest, and then what most others
        wait for.
        """
        tool = self._tool[row]
        if self._to_leave_out[tool]:
            yield self._gains[row], 0, 0, None
        for free in self._free[tool]:
            if free:
                column = free[-1]
                loss = self._gains[row] + self._prices[column] - self._weights[row][column]
                waits_for = self._precedence.before[column] & ~self._placed
                waiting = self._precedence.after[column] & ~self._placed
                yield loss, waits_for.bit_count(), -waiting.bit_count(), free


_Way = tuple[int, int, int, "list[int] | None"]


def _first_three(way: _Way) -> tuple[int, int, int]:
    return way[:3]
