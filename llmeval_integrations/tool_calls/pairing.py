"""Choose pairs of calls so that the score is the highest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Final, NamedTuple, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.matching.alignment import best_path
from llmeval_integrations.matching.assignment import Pairs, best_pairs, pair_texts
from llmeval_integrations.matching.gains import LETTERS
from llmeval_integrations.tool_calls.tools import Call

NEAR: Final = 1e-12
"""What decides between pairings of the same score: the one that keeps the order best."""

Positions: TypeAlias = list[int]
Gain: TypeAlias = tuple[float, float]
"""How much of a pair matches, and how many more leaves it has than its calls alone."""


class _Trial(NamedTuple):
    """Calls of which every pair is tried."""

    rows: Positions
    columns: Positions
    gains: list[list[Gain]]
    is_ordered: bool = False
    """Whether no two pairs may cross."""

    def pair(self, price: float) -> list[tuple[tuple[int, int], Gain]]:
        """Return the best pairs and their gains, if each leaf that they add has this price."""
        if self.is_ordered:  # here a pair may cost another, but it is better than none
            worth = [
                [g and max(g - price * leaves, NEAR) for g, leaves in row] for row in self.gains
            ]
            chosen = best_path(worth)
        else:
            most = max(leaves for row in self.gains for _, leaves in row)
            worth = [[gain + price * (most - leaves) for gain, leaves in row] for row in self.gains]
            chosen = best_pairs(worth)
        rows, columns, gains = self.rows, self.columns, self.gains
        return [((rows[row], columns[column]), gains[row][column]) for row, column in chosen]


@dataclass
class CallPairing:
    """Chooses pairs of calls, each of the same tool.

    A document may try MAX_PAIRS pairs, and fewer if long texts are compared by similarity. If there
    are more, calls are paired in their order; in any order, equal calls are paired first.
    """

    made: Sequence[Call]
    expected: Sequence[Call]

    gain: Callable[[int, int], Gain]
    """Returns the gain of a call and an expected one, by their positions."""

    is_exact: bool
    """Whether two calls match in full only if all their arguments match."""

    leaves: float | None
    """The leaves of all calls if none had a partner; None if the score is one over calls."""

    is_limited: bool = False
    """Whether there were too many calls to try every pair."""

    _left: float = field(default=MAX_PAIRS)

    def pair_in_order(self, rows: Positions, columns: Positions) -> Pairs:
        """Pair calls of any tools so that no two pairs cross."""
        if not self._may_try(rows, columns):
            made, expected = self.made, self.expected
            return [(n, m) for n, m in zip(rows, columns) if made[n].name == expected[m].name]
        gains = [[self.gain(row, column) for column in columns] for row in rows]
        return self._maximize([_Trial(rows, columns, gains, is_ordered=True)], [])

    def pair_in_any_order(
        self, settled: Pairs, groups: Sequence[tuple[Positions, Positions]]
    ) -> Pairs:
        """Pair the calls of each group, which are of one tool; `settled` are all other pairs."""
        settled, trials = [*settled], []
        for group in groups:
            same, rows, columns = self._pair_equal(*group)
            settled += same
            if rows:
                gains = [[self.gain(row, column) for column in columns] for row in rows]
                trials.append(_Trial(rows, columns, gains))
        return settled + self._maximize(trials, settled)

    def _maximize(self, trials: Sequence[_Trial], settled: Pairs) -> Pairs:
        """Pair the calls of all trials so that the score is the highest.

        A score over leaves is a quotient of two sums. A pair may have more leaves than its calls
        alone: one for each default that is filled in. So leaves have a price, which is the quotient
        of the round before (Dinkelbach, Management Science 13 (1967) 492).
        """
        price = 0.0
        known = [] if self.leaves is None else [self.gain(*pair) for pair in settled]
        while True:
            chosen = [each for trial in trials for each in trial.pair(price)]
            pairs = [pair for pair, _ in chosen]
            if self.leaves is None:
                return pairs
            gains = [*known, *(gain for _, gain in chosen)]
            leaves = self.leaves + fsum(more for _, more in gains)
            quotient = fsum(gain for gain, _ in gains) / leaves
            if quotient <= price + NEAR:
                return pairs
            price = quotient

    def _pair_equal(
        self, rows: Positions, columns: Positions
    ) -> tuple[Pairs, Positions, Positions]:
        """Pair equal calls of one tool; return the pairs, and the calls of which all are tried."""
        made, expected = self.made, self.expected
        texts = {row: made[row].text for row in rows}
        same, spare, missing = pair_texts(texts, {n: expected[n].text for n in columns})
        is_exact = self.is_exact and not expected[columns[0]].node.fuzzy
        # With defaults, two calls that equal no other may have more leaves in common with these.
        may_be_better = (not is_exact or self.leaves is not None) and (spare or missing)
        if may_be_better and self._may_try(rows, columns):
            return [], rows, columns
        if self._may_try(spare, missing):
            return same, spare, missing
        return [*same, *zip(spare, missing)], [], []

    def _may_try(self, rows: Positions, columns: Positions) -> bool:
        """Return whether every pair is tried; if there is only one, nothing has to be."""
        made, expected = self.made, self.expected
        cost: float = len(rows) * len(columns)
        if cost <= 1:
            return False
        if any(expected[column].node.fuzzy for column in columns):
            ours = sum(len(made[row].text) for row in rows)
            cost += ours * sum(len(expected[column].text) for column in columns) / LETTERS
        if cost > self._left:
            self.is_limited = True
            return False
        self._left -= cost
        return True
