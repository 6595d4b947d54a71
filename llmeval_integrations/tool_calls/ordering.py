"""Which of the calls that are alike is which, where some have to come before others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Final

from llmeval_integrations.tool_calls.disorder import Disorder, weight
from llmeval_integrations.tool_calls.pairing import Pairs
from llmeval_integrations.tool_calls.precedence import Precedence

MAX_TRIED: Final = 10_000
"""The most calls that are given a place in the search; beyond it the best order so far stands."""

_MOST_CALLS = 200  # the search recurses once for each

Score = Callable[[int, int], float]

Kinds = Mapping[int, Hashable]
"""What each call is like; swapping the partners of two of a kind leaves the sum of scores."""


def disorder(pairs: Pairs, precedence: Precedence, score: Score) -> Disorder:
    """Give the disorder of calls with their partners, in the order in which they were made."""
    found = Disorder(precedence)
    for row, column in sorted(pairs):
        found.add(column, weight(score(row, column)))
    return found


def kept(pairs: Pairs, precedence: Precedence, score: Score) -> int:
    """Give the weight of those that are in order."""
    cost = disorder(pairs, precedence, score).cost
    return sum(weight(score(row, column)) for row, column in pairs) - cost


def rearranged(
    pairs: Pairs, precedence: Precedence, made: Kinds, expected: Kinds, score: Score
) -> tuple[Pairs, bool]:
    """Swap the partners of calls of one kind so that those out of order cost the least.

    Pairs of calls without a kind stay. Says also whether a limit was reached.
    """
    cost = disorder(pairs, precedence, score).cost
    if not cost:
        return pairs, False
    if len(made) > _MOST_CALLS:
        return pairs, True
    search = _Search(pairs, precedence, made, expected, score)
    search.cost = cost
    search.place(0, Disorder(precedence))
    others = [(row, column) for row, column in pairs if row not in made]
    found = [(row, column) for column, row in search.best.items()]
    return sorted(others + found), search.tried >= MAX_TRIED


class _Search:
    """Gives the calls that were made, one after the other, each way to be one of those expected."""

    def __init__(
        self, pairs: Pairs, precedence: Precedence, made: Kinds, expected: Kinds, score: Score
    ) -> None:
        partner = dict(pairs)
        self.best = {partner[row]: row for row in made if row in partner}
        self.cost = 0
        """What the calls that are out of order cost in the best."""
        self.tried = 0
        self._made = made
        self._rows = sorted(made)
        self._score = score
        self._precedence = precedence
        self._at: dict[int, int] = {}
        self._placed = 0
        # How many of a kind are of which kind, or of none, is what the sum of scores asks for.
        self._left = Counter((made[row], _kind(expected, partner.get(row))) for row in made)
        self._free = _by_kind_and_role(expected, precedence)

    def place(self, count: int, disorder: Disorder) -> None:
        """Go on from where this many calls have a place, and keep what is better than the best."""
        if disorder.cost >= self.cost or self.tried >= MAX_TRIED:
            return
        if count == len(self._rows):
            self.best, self.cost = dict(self._at), disorder.cost
            return
        self.tried += 1
        row = self._rows[count]
        for kind, free in sorted(self._ways(row), key=self._promise):
            self._left[self._made[row], kind] -= 1
            if free is None:
                self.place(count + 1, disorder)
            else:
                column = free.pop()
                after = disorder.copy()
                after.add(column, weight(self._score(row, column)))
                self._at[column] = row
                self._placed ^= 1 << column
                self.place(count + 1, after)
                self._placed ^= 1 << column
                del self._at[column]
                free.append(column)
            self._left[self._made[row], kind] += 1

    def _ways(self, row: int) -> Iterator[tuple[Hashable, list[int] | None]]:
        """Give what this call may be: of each kind and role one expected call, or none."""
        for kind in [None, *self._free]:
            if self._left[self._made[row], kind] > 0:
                if kind is None:
                    yield None, None
                else:
                    yield from ((kind, free) for free in self._free[kind] if free)

    def _promise(self, way: tuple[Hashable, list[int] | None]) -> tuple[int, int]:
        """Tell what to try first: what waits for the fewest, then what most others wait for."""
        if way[1] is None:
            return 0, 0
        column = way[1][-1]
        waits_for = self._precedence.before[column] & ~self._placed
        waiting = self._precedence.after[column] & ~self._placed
        return waits_for.bit_count(), -waiting.bit_count()


def _kind(kinds: Kinds, position: int | None) -> Hashable:
    return None if position is None else kinds[position]


def _by_kind_and_role(expected: Kinds, precedence: Precedence) -> dict[Hashable, list[list[int]]]:
    """Group expected calls; of those that come before and after the same ones any will do."""
    groups: defaultdict[Hashable, defaultdict[Hashable, list[int]]]
    groups = defaultdict(lambda: defaultdict(list))
    for column in sorted(expected, reverse=True):
        role = precedence.before[column], precedence.after[column]
        groups[expected[column]][role].append(column)
    return {kind: list(roles.values()) for kind, roles in groups.items()}
