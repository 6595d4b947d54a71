"""Choose pairs of calls so that the score is the highest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Final, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.json_values.values import canonical
from llmeval_integrations.matching.alignment import best_path
from llmeval_integrations.matching.assignment import Pairs, best_pairs, pair_texts
from llmeval_integrations.matching.gains import LETTERS
from llmeval_integrations.tool_calls.read import mark_alternatives
from llmeval_integrations.tool_calls.tools import Call

NEAR: Final = 1e-12
"""What decides between pairings of the same score: the one that keeps the order best."""

_FILLED: Final = 1e-9
"""What a default costs that is filled in, if calls have to keep their order."""

Positions: TypeAlias = list[int]
Gain: TypeAlias = tuple[float, float]
"""How much of a pair matches, and how many more leaves it has than its calls alone."""


class CallPairing:
    """Chooses pairs of calls, each of the same tool.

    A document may try MAX_PAIRS pairs, and fewer if long texts are compared by similarity. If there
    are more, calls are paired in their order; in any order, equal calls are paired first.
    """

    def __init__(
        self,
        made: Sequence[Call],
        expected: Sequence[Call],
        gain: Callable[[int, int], Gain],
        *,
        is_exact: bool,
        leaves: float | None,
    ) -> None:
        """`is_exact` means that two calls match in full only if all their arguments match.

        `leaves` are those of all calls without a partner, if the score is one over leaves.
        """
        self._made, self._expected, self._gain = made, expected, gain
        self._is_exact, self._leaves = is_exact, leaves
        self._left: float = MAX_PAIRS
        self.is_limited = False
        """Whether there were too many calls to try every pair."""

    def pair_in_order(self, rows: Positions, columns: Positions) -> Pairs:
        """Pair calls of any tools so that no two pairs cross."""
        if not self._may_try(rows, columns):
            made, expected = self._made, self._expected
            return [(n, m) for n, m in zip(rows, columns) if made[n].name == expected[m].name]
        gains = [[self._gain(row, column) for column in columns] for row in rows]
        worth = [[gain - _FILLED * leaves for gain, leaves in row] for row in gains]
        return [(rows[row], columns[column]) for row, column in best_path(worth)]

    def pair_in_any_order(
        self, settled: Pairs, groups: Sequence[tuple[Positions, Positions]]
    ) -> Pairs:
        """Pair the calls of each group, which are of one tool; `settled` are all other pairs.

        A pair may have more or fewer leaves than its calls alone: one for each default that is
        filled in. So the score over leaves is a quotient of two sums. To maximise it, leaves have a
        price, which is the quotient of the round before (Dinkelbach, Management Science 13 (1967)
        492).
        """
        settled, tables = [*settled], []
        for group in groups:
            same, rows, columns = self._pair_equal(*group)
            settled += same
            if rows:
                gains = [[self._gain(row, column) for column in columns] for row in rows]
                tables.append((rows, columns, gains))
        known = [] if self._leaves is None else [self._gain(*pair) for pair in settled]
        price, pairs = 0.0, settled
        while tables:
            pairs, chosen = [*settled], [*known]
            for rows, columns, gains in tables:
                most = max(leaves for row in gains for _, leaves in row)
                worth = [[gain + price * (most - leaves) for gain, leaves in row] for row in gains]
                for row, column in best_pairs(worth):
                    pairs.append((rows[row], columns[column]))
                    chosen.append(gains[row][column])
            if self._leaves is None:
                break
            matched, leaves = map(fsum, zip(*chosen))
            quotient = matched / (self._leaves + leaves)
            if quotient <= price + NEAR:
                break
            price = quotient
        return pairs

    def _pair_equal(
        self, rows: Positions, columns: Positions
    ) -> tuple[Pairs, Positions, Positions]:
        """Pair equal calls of one tool; return the pairs, and the calls of which all are tried."""
        same, spare, missing = pair_texts(*self._write(rows, columns))
        is_exact = self._is_exact and not self._expected[columns[0]].node.fuzzy
        # With defaults, two calls that equal no other may have more leaves in common with these.
        may_be_better = (not is_exact or self._leaves is not None) and (spare or missing)
        if may_be_better and self._may_try(rows, columns):
            return [], rows, columns
        if self._may_try(spare, missing):
            return same, spare, missing
        return [*same, *zip(spare, missing)], [], []

    def _may_try(self, rows: Positions, columns: Positions) -> bool:
        """Return whether every pair is tried; if there is only one, nothing has to be."""
        tries = len(rows) * len(columns)
        cost: float = tries
        if tries > 1 and any(self._expected[column].node.fuzzy for column in columns):
            made, expected = self._write(rows, columns)
            cost += sum(map(len, made.values())) * sum(map(len, expected.values())) / LETTERS
        if cost > self._left:
            self.is_limited = True
            return False
        self._left -= cost
        return tries > 1

    def _write(self, rows: Positions, columns: Positions) -> tuple[dict[int, str], dict[int, str]]:
        """Write the arguments of calls so that equal ones have the same text."""
        wanted = {column: self._expected[column].arguments for column in columns}
        return (
            {row: canonical(self._made[row].arguments) for row in rows},
            {column: canonical(mark_alternatives(its)) for column, its in wanted.items()},
        )
