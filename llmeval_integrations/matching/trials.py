"""What pairs of items gain, within the budget of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.matching.gains import Gains
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.texts import Texts
from llmeval_integrations.matching.weights import weigh

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Gain: TypeAlias = Callable[[Node, Any, Any], tuple[float, int]]
"""Returns what two items add to the score, and how many leaves they have in common."""


Table: TypeAlias = list[list[float]]
"""What pairs gain: a row for each item of the output."""


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

    def are_related(self, its: Node, output: Any, reference: Any, least: float) -> bool:
        """Return whether two items have a leaf in common, and are as similar as `least`."""
        gain, common = self.gain(its, output, reference)
        both = weigh(its, output) + weigh(its, reference) if least else 0.0
        return common > 0 and _reaches(gain, both, least)

    def table(
        self, its: Node, ours: Sequence[Any], theirs: Sequence[Any], least: float = 0.0
    ) -> Table | None:
        """Return what each pair of items gains; None where that takes too long.

        Items that are less similar than `least` gain nothing.
        Raises BudgetSpentError where the array is inside of an item that is being tried.
        """
        pairs = len(ours) * len(theirs)
        with self.attempt():
            self.spend(pairs)
            if pairs == 1:  # a table of gains takes three times as long
                gain, common = self.gain(its, ours[0], theirs[0])
                table = [[gain if common or its.pairs_strangers else 0.0]]
            else:
                gains = Gains(len(ours), len(theirs), self.gain, self.texts.write, self.spend)
                gains.add(its, [*enumerate(ours)], [*enumerate(theirs)])
                table = gains.table(strangers=its.pairs_strangers)
            return _drop_unlike(table, its, ours, theirs, least) if least else table
        return None

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Leave the block where it spends more than the budget has.

        Half of the budget is given back where the outermost attempt fails: so what is inside of
        the items can still be tried, and all attempts of a document together take no more than
        twice the budget. Raises BudgetSpentError in an inner attempt.
        """
        before = self.budget
        self._depth += 1
        try:
            yield
        except BudgetSpentError:
            if self._depth > 1:
                raise
            self.budget = before // 2
        finally:
            self._depth -= 1

    def spend(self, pairs: int) -> None:
        """Take pairs from the budget; raise BudgetSpentError where it has fewer."""
        self.budget -= pairs
        if self.budget < 0:
            raise BudgetSpentError


def _drop_unlike(
    table: Table, its: Node, ours: Sequence[Any], theirs: Sequence[Any], least: float
) -> Table:
    """Return the table with no gain for items that are less similar than `least`."""
    here = [weigh(its, value) for value in ours]
    there = [weigh(its, value) for value in theirs]
    return [
        [gain if _reaches(gain, one + other, least) else 0.0 for gain, other in zip(gains, there)]
        for gains, one in zip(table, here)
    ]


def _reaches(gain: float, both: float, least: float) -> bool:
    """Return whether two items, which have this weight together, are as similar as `least`."""
    return 2 * gain >= least * both * (1 - 1e-9)
