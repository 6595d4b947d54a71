"""Two arrays whose items are paired, and the trials that this takes of a document's budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llmeval_integrations.core.limits import MAX_PAIRS
from llmeval_integrations.matching.gains import Gains
from llmeval_integrations.matching.leaves import weigh
from llmeval_integrations.matching.likely import likely_pairs
from llmeval_integrations.matching.node import Node
from llmeval_integrations.matching.texts import Texts

Pairs: TypeAlias = list[tuple[int, int]]
"""Positions in the output, each with one in the reference."""

Gain: TypeAlias = Callable[[Node, Any, Any], float]
"""Returns what two items add to the score; 0 where they have no leaf in common."""

Table: TypeAlias = list[list[float]]
"""What pairs gain: a row for each item of the output."""


class BudgetSpentError(Exception):
    """Too many pairs of items of arrays that are inside of other items."""


class Trials:
    """The pairs of items that a document may try."""

    def __init__(self, gain: Gain) -> None:
        self.gain = gain
        self.texts = Texts()
        self.budget = MAX_PAIRS
        """How many more pairs may be tried."""
        self.depth = 0
        """How many arrays are being tried that contain the one at hand."""

    def spend(self, pairs: int) -> None:
        """Take pairs from the budget; raise BudgetSpentError where it has fewer."""
        self.budget -= pairs
        if self.budget < 0:
            raise BudgetSpentError


class Arrays:
    """Two arrays whose items are paired."""

    def __init__(self, trials: Trials, node: Node, output: list[Any], reference: list[Any]) -> None:
        self.trials = trials
        self.node = node
        self.its = node.item(0)
        self.output = output
        self.reference = reference
        self.least = node.min_similarity
        """The similarity of a pair."""
        self.is_limited = False
        """Whether the items were too many to be tried with each other."""

    def write(self, items: list[Any], positions: Sequence[int]) -> dict[int, str]:
        """Return the texts of the items at these positions."""
        write, its = self.trials.texts.write, self.its
        return {n: write(its, items[n]) for n in positions}

    def gain(self, here: int, there: int) -> float:
        """Return what two items gain; 0 where they are less similar than they have to be."""
        output, reference = self.output[here], self.reference[there]
        gain = self.trials.gain(self.its, output, reference)
        if not self.least:
            return gain
        both = weigh(self.its, output) + weigh(self.its, reference)
        return gain if _is_similar(gain, both, self.least) else 0.0

    def table(self, here: Sequence[int], there: Sequence[int]) -> Table | None:
        """Return what each pair of these items gains; None where that takes too long.

        Half of the budget is given back then: so what is inside of the items can still be tried,
        and all trials of a document together take no more than twice the budget. Raises
        BudgetSpentError where the arrays are inside of items that are being tried.
        """
        trials, before = self.trials, self.trials.budget
        trials.depth += 1
        try:
            trials.spend(len(here) * len(there))
            if len(here) == len(there) == 1:  # a table of gains takes three times as long
                return [[self.gain(here[0], there[0])]]
            gains = Gains(trials, len(here), len(there))
            ours = [self.output[n] for n in here]
            theirs = [self.reference[n] for n in there]
            gains.add(self.its, [*enumerate(ours)], [*enumerate(theirs)])
        except BudgetSpentError:
            if trials.depth > 1:
                raise
            trials.budget = before // 2
            return None
        finally:
            trials.depth -= 1
        return self._drop_unlike(gains.table, ours, theirs) if self.least else gains.table

    def _drop_unlike(self, table: Table, ours: list[Any], theirs: list[Any]) -> Table:
        """Return the table with no gain for items that are less similar than they have to be."""
        here = [weigh(self.its, value) for value in ours]
        there = [weigh(self.its, value) for value in theirs]
        return [
            [
                gain if _is_similar(gain, one + other, self.least) else 0.0
                for gain, other in zip(gains, there)
            ]
            for gains, one in zip(table, here)
        ]

    def pair_likely(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair items that share the most of what few others have, for they are too many."""
        self.is_limited = True
        leaves, its = self.trials.texts.leaves, self.its
        pairs = likely_pairs(
            {n: sorted(leaves(its, self.output[n])) for n in spare},
            {n: sorted(leaves(its, self.reference[n])) for n in wanted},
        )
        return pairs if its.pairs_all else [pair for pair in pairs if self.gain(*pair)]

    def pair_leaves(self, spare: Sequence[int], wanted: Sequence[int]) -> Pairs:
        """Pair the leaves that are left over in their order; they do not match."""
        if self.least:
            return []  # they have nothing in common
        if self.its.pairs_all:
            return [*zip(spare, wanted)]
        here = [n for n in spare if self.its.is_leaf(self.output[n])]
        return [*zip(here, [n for n in wanted if self.its.is_leaf(self.reference[n])])]


def _is_similar(gain: float, both: float, least: float) -> bool:
    """Return whether two items, which have this weight together, are as similar as `least`."""
    return 2 * gain >= least * both * (1 - 1e-9)
