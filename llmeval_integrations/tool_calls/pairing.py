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

_FILLED: Final = 1e-9
"""What a default costs that is filled in, if calls have to keep their order."""

Positions: TypeAlias = list[int]
Gain: TypeAlias = tuple[float, float]
"""How much of a pair matches, and how many more leaves it has than its calls alone."""


class _Trial(NamedTuple):
    """Calls of one tool, of which every pair is tried."""

    rows: Positions
    columns: Positions
    gains: list[list[Gain]]

    def pair(self, price: float) -> list[tuple[tuple[int, int], Gain]]:
        """Return the best pairs and their gains, if each leaf that they add has this price."""
        most = max(leaves for row in self.gains for _, leaves in row)
        worth = [[gain + price * (most - leaves) for gain, leaves in row] for row in self.gains]
        return [
            ((self.rows[row], self.columns[column]), self.gains[row][column])
            for row, column in best_pairs(worth)
        ]


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
    """The leaves of all calls without a partner, if the score is one over leaves."""

    is_limited: bool = False
    """Whether there were too many calls to try every pair."""

    _left: float = field(default=MAX_PAIRS)

    def pair_in_order(self, rows: Positions, columns: Positions) -> Pairs:
        """Pair calls of any tools so that no two pairs cross."""
        if not self._may_try(rows, columns):
            made, expected = self.made, self.expected
            return [(n, m) for n, m in zip(rows, columns) if made[n].name == expected[m].name]
        gains = [[self.gain(row, column) for column in columns] for row in rows]
        worth = [[gain - _FILLED * leaves for gain, leaves in row] for row in gains]
        return [(rows[row], columns[column]) for row, column in best_path(worth)]

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
        if self.leaves is None:
            chosen = [pair for trial in trials for pair, _ in trial.pair(0.0)]
        else:
            chosen = _maximize_quotient(trials, [self.gain(*pair) for pair in settled], self.leaves)
        return settled + chosen

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


def _maximize_quotient(trials: Sequence[_Trial], known: Sequence[Gain], leaves: float) -> Pairs:
    """Pair calls so that a score over leaves, a quotient of two sums, is the highest.

    A pair may have more leaves than its calls alone: one for each default that is filled in. So
    leaves have a price, which is the quotient of the round before (Dinkelbach, Management Science
    13 (1967) 492). `known` are the gains of settled pairs, and `leaves` are those of all calls.
    """
    price = 0.0
    while True:
        chosen = [each for trial in trials for each in trial.pair(price)]
        gains = [*known, *(gain for _, gain in chosen)]
        quotient = fsum(gain for gain, _ in gains) / (leaves + fsum(more for _, more in gains))
        if quotient <= price + NEAR:
            return [pair for pair, _ in chosen]
        price = quotient
