"""What pairs of items gain, within the budget of a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.matching.gains import Gains
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.texts import Texts

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Gain: TypeAlias = Callable[[Node, Any, Any], tuple[float, int]]
"""Returns what two items add to the score, and how many leaves they have in common."""


class BudgetSpentError(Exception):
    """Too many pairs of items of arrays that are inside of other items."""


class Trials:
    """Compares pairs of items, and counts them."""

    def __init__(self, gain: Gain) -> None:
        self.gain = gain
        self.texts = Texts()
        self.budget = MAX_PAIRS
        """How many more pairs may be tried."""
        self._depth = 0  # how many arrays are being tried that contain the one at hand

    def table(
        self, its: Node, ours: Sequence[Any], theirs: Sequence[Any]
    ) -> list[list[float]] | None:
        """Return what each pair of items gains; None where that takes too long.

        Raises BudgetSpentError where the array is inside of an item that is being tried.
        """
        gains = Gains(len(ours), len(theirs), self.gain, self.texts.write, self._spend)

        def fill() -> list[list[float]]:
            gains.add(its, [*enumerate(ours)], [*enumerate(theirs)])
            return gains.table(strangers=its.pairs_strangers)

        return self.attempt(len(ours) * len(theirs), fill)

    def attempt(
        self, pairs: int, fill: Callable[[], list[list[float]]]
    ) -> list[list[float]] | None:
        """Take pairs from the budget and fill a table; None where the budget does not suffice.

        Half of the budget is given back where the outermost attempt fails: so what is inside of
        the items can still be tried, and all attempts of a document together take no more than
        twice the budget. Raises BudgetSpentError in an inner attempt.
        """
        before = self.budget
        self._depth += 1
        try:
            self._spend(pairs)
            return fill()
        except BudgetSpentError:
            if self._depth > 1:
                raise
            self.budget = before // 2
            return None
        finally:
            self._depth -= 1

    def _spend(self, pairs: int) -> None:
        self.budget -= pairs
        if self.budget < 0:
            raise BudgetSpentError
