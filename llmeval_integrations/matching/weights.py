"""How many leaves values have, and what they weigh."""

from __future__ import annotations

from typing import Any, NamedTuple

from llmeval_integrations.matching.node import Node


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
