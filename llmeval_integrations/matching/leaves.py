"""The leaves of a comparison: those that match, those that do not, and what they weigh."""

from __future__ import annotations

from math import fsum
from typing import Any, NamedTuple

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS, SCALARS
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.matching.node import Kind, Node
from llmeval_integrations.matching.outcome import Outcome


class Figures(NamedTuple):
    """The weights of the leaves of a comparison."""

    matched: float
    """That of the leaves that match, each times its similarity."""

    output: float
    """That of the leaves of the output."""

    reference: float
    """That of the leaves of the reference."""

    @property
    def score(self) -> float:
        """F1: 2 matched / (output + reference), 1 where no leaf has a weight."""
        both = self.output + self.reference
        return 2 * self.matched / both if both else 1.0


def count_leaves(value: Any) -> int:
    """Count the leaves of a value; an empty object or array is none."""
    if type(value) is dict:
        return sum(map(count_leaves, value.values()))
    return sum(map(count_leaves, value)) if type(value) is list else 1


def weigh(node: Node, value: Any) -> float:
    """Return the weight of all leaves of a value."""
    if node.ignored:
        return 0.0
    if node.is_leaf(value):
        return node.weight
    if type(value) is dict:
        return sum(weigh(node.member(name), part) for name, part in value.items())
    return sum(weigh(node.item(position), part) for position, part in enumerate(value))


class Leaves:
    """The leaves of two values, by what became of them."""

    __slots__ = ("limits", "matched", "omitted", "open", "outcomes", "wholes")

    def __init__(self) -> None:
        self.matched: list[Node] = []
        """The node of each leaf that matches with score 1."""
        self.outcomes: list[Outcome] = []
        """All other leaves, in the order of the documents."""
        self.open: list[tuple[Node, str, Any, Any, float]] = []
        """Leaves that a judge decides: node, pointer, output, reference, similarity."""
        self.wholes: list[tuple[int, int]] = []
        """Slices of `outcomes` that belong to one missing, extra or replaced value."""
        self.limits: list[str] = []
        """The arrays, as pointers, whose items were not all tried with each other."""
        self.omitted: set[str] = set()
        """The paths of members that count as left out."""

    def figures(self) -> Figures:
        """Add up the weights of what matches, and of all leaves of both sides."""
        matched = [node.weight for node in self.matched]
        if not self.outcomes:
            total = fsum(matched)
            return Figures(total, total, total)
        output, reference = matched.copy(), matched.copy()
        for each in self.outcomes:
            weight = each.node.weight
            if each.score:
                matched.append(weight * each.score)
            if each.in_output:
                output.append(weight)
            if each.in_reference:
                reference.append(weight)
        return Figures(fsum(matched), fsum(output), fsum(reference))  # exact in any order

    def costs(self) -> list[float]:
        """Return what each outcome takes from the score, together with the others of its whole.

        A leaf counts on each side that has it.
        """
        costs = [
            each.node.weight * (each.in_output + each.in_reference - 2.0 * each.score)
            for each in self.outcomes
        ]
        for begin, end in self.wholes:
            costs[begin:end] = [fsum(costs[begin:end])] * (end - begin)
        return costs

    def is_related(self) -> bool:
        """Whether the values have a leaf in common, or no leaf that differs."""
        if self.matched or self.open or not self.outcomes:
            return True
        return any(each.kind == "match" or each.score > 0 for each in self.outcomes)

    def add_matches(self, node: Node, value: Any) -> None:
        """List the leaves of a value that is equal to its reference, without comparing them."""
        if node.ignored:
            return
        if type(value) is dict and value and not node.whole:
            known = node.members
            for name, part in value.items():
                its = known.get(name) or node.member(name)
                if type(part) not in SCALARS:
                    self.add_matches(its, part)
                elif not its.ignored:
                    self.matched.append(its)
        elif type(value) is list and value and not node.whole:
            for position, part in enumerate(value):
                self.add_matches(node.item(position), part)
        elif node.counts_empty or node.whole or type(value) not in CONTAINERS:
            self.matched.append(node)

    def add_side(
        self,
        node: Node,
        kind: Kind,
        value: Any,
        place: str,
        *,
        within: str | None = None,
        at_end: bool = False,
    ) -> None:
        """List the leaves of a value that the other side lacks."""
        if node.ignored:
            return
        is_container = type(value) in CONTAINERS
        if is_container and not value and not (node.counts_empty or node.whole):
            return
        if not (is_container and value) or node.whole or not node.splits:
            output, reference = (MISSING, value) if kind == "missing" else (value, MISSING)
            self.outcomes.append(
                Outcome(place, node, kind, 0.0, output, reference, within, at_end=at_end)
            )
            return
        begin, whole = len(self.outcomes), place if within is None else within
        if type(value) is dict:
            for name, part in value.items():
                its = node.member(name)
                self.add_side(its, kind, part, f"{place}/{escape(name)}", within=whole)
        else:
            for position, part in enumerate(value):
                its = node.item(position)
                self.add_side(its, kind, part, f"{place}/{position}", within=whole)
        if within is None and len(self.outcomes) > begin + 1:
            self.wholes.append((begin, len(self.outcomes)))
