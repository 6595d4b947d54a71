"""Which of the calls that are alike is which, where some have to come before others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Final

from llmeval_integrations.tool_calls.pairing import Pairs

MAX_TRIED: Final = 10_000
"""The most calls that are given a place in the search; beyond it the best order so far stands."""

_MOST_CALLS = 200  # the search recurses once for each

Rules = Sequence[tuple[list[int], list[int]]]
"""Expected calls, and those that have to come after them all."""

Kinds = Mapping[int, Hashable]
"""What each call is like; swapping the partners of two of a kind leaves the sum of scores."""


def late_ones(pairs: Pairs, rules: Rules) -> set[int]:
    """Give the expected calls whose partner came before one that it should have followed."""
    made_at = {column: row for row, column in pairs}
    late: set[int] = set()
    for firsts, thens in rules:
        last = max((made_at[n] for n in firsts if n in made_at), default=-1)
        late.update(n for n in thens if made_at.get(n, last) < last)
    return late


def rearranged(
    pairs: Pairs, rules: Rules, made: Kinds, expected: Kinds, score: Callable[[int, int], float]
) -> tuple[Pairs, bool]:
    """Swap the partners of calls of one kind so that those out of order cost the least.

    Pairs of calls without a kind stay. Says also whether a limit was reached.
    """
    late = late_ones(pairs, rules)
    if not late:
        return pairs, False
    if len(made) > _MOST_CALLS:
        return pairs, True
    search = _Search(pairs, rules, made, expected, score)
    search.lost = sum(score(row, column) for row, column in pairs if column in late)
    search.place(0, 0.0, frozenset())
    others = [(row, column) for row, column in pairs if row not in made]
    found = [(row, column) for column, row in search.best.items()]
    return sorted(others + found), search.tried >= MAX_TRIED


class _Search:
    """Gives the calls that were made, one after the other, each way to be one of those expected."""

    def __init__(
        self,
        pairs: Pairs,
        rules: Rules,
        made: Kinds,
        expected: Kinds,
        score: Callable[[int, int], float],
    ) -> None:
        partner = dict(pairs)
        self.best = {partner[row]: row for row in made if row in partner}
        self.lost = 0.0
        """What the calls that are out of order cost in the best."""
        self.tried = 0
        self._made = made
        self._rows = sorted(made)
        self._score = score
        self._at: dict[int, int] = {}
        # How many of a kind are of which kind, or of none, is what the sum of scores asks for.
        self._left = Counter((made[row], _kind(expected, partner.get(row))) for row in made)
        self._free = _by_kind_and_role(expected, rules)
        self._after: defaultdict[int, set[int]] = defaultdict(set)
        self._before: defaultdict[int, set[int]] = defaultdict(set)
        for firsts, thens in rules:
            for first in firsts:
                self._after[first].update(thens)
            for then in thens:
                self._before[then].update(firsts)

    def place(self, count: int, lost: float, late: frozenset[int]) -> None:
        """Go on from where this many calls have a place, and keep what is better than the best."""
        if lost > self.lost - 1e-9 or self.tried >= MAX_TRIED:
            return
        if count == len(self._rows):
            self.best, self.lost = dict(self._at), lost
            return
        self.tried += 1
        row = self._rows[count]
        for kind, free in sorted(self._ways(row), key=self._promise):
            self._left[self._made[row], kind] -= 1
            if free is None:
                self.place(count + 1, lost, late)
            else:
                column = free.pop()
                newly = (self._after[column] & self._at.keys()) - late - {column}
                more = sum(self._score(self._at[one], one) for one in newly)
                self._at[column] = row
                self.place(count + 1, lost + more, late | newly)
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
        waits_for = self._before[column] - self._at.keys()
        return len(waits_for), -len(self._after[column] - self._at.keys())


def _kind(kinds: Kinds, position: int | None) -> Hashable:
    return None if position is None else kinds[position]


def _by_kind_and_role(expected: Kinds, rules: Rules) -> dict[Hashable, list[list[int]]]:
    """Group expected calls; of those that are also in the same rules any will do."""
    groups: defaultdict[Hashable, defaultdict[Hashable, list[int]]]
    groups = defaultdict(lambda: defaultdict(list))
    for column in sorted(expected, reverse=True):
        role = tuple((column in firsts, column in thens) for firsts, thens in rules)
        groups[expected[column]][role].append(column)
    return {kind: list(roles.values()) for kind, roles in groups.items()}
