"""The figures of a comparison, and its counts by field."""

from __future__ import annotations

from math import fsum
from typing import Any, Final

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Kind


class FieldComparison(Comparison):
    """A comparison of two documents by their fields."""

    def __init__(self) -> None:
        super().__init__()
        self.output: Any = MISSING
        """The output without the members that count as left out."""
        self.omitted: set[str] = set()
        """The paths of these members, and of those of the reference."""
        self.ignored: list[str] = []
        """The paths of `ignore` settings for places that the documents have."""


def details(comparison: FieldComparison) -> dict[str, Any]:
    """Return the metadata of a comparison: figures, outcomes, and counts of leaves by field."""
    matched, output, reference = comparison.figures()
    fields: dict[str, dict[Kind, int]] = {}
    add_field_counts(fields, comparison)
    for path in sorted(comparison.omitted):
        fields.setdefault(path, {})  # the field exists, but has no leaf in this sample
    return {
        "matched": matched,
        "output_leaves": output,
        "reference_leaves": reference,
        **shares(matched, output, reference),
        "perfect": all(each.kind == "match" for each in comparison.outcomes),
        "outcomes": [outcome.as_dict() for outcome in comparison.outcomes],
        "fields": fields,
        **({"ignored": comparison.ignored} if comparison.ignored else {}),
    }


def add_field_counts(fields: dict[str, dict[Kind, int]], comparison: Comparison) -> None:
    """Add the leaves of a comparison to those of each field, by kind."""
    for node in comparison.matched:
        if node.path in fields:
            counts = fields[node.path]
            counts["match"] = counts.get("match", 0) + 1
        else:
            fields[node.path] = {"match": 1}
    for outcome in comparison.outcomes:
        counts = fields.setdefault(outcome.node.path, {})
        counts[outcome.kind] = counts.get(outcome.kind, 0) + 1


def costs(comparison: Comparison) -> list[float]:
    """Return how much each outcome takes from the score: its share of O + R - 2 M.

    Outcomes that belong to one missing, extra or replaced value all have the sum of their costs.
    """
    found = [
        each.node.weight * (each.in_output + each.in_reference - 2.0 * each.score)
        for each in comparison.outcomes
    ]
    for begin, end in comparison.wholes:
        found[begin:end] = [fsum(found[begin:end])] * (end - begin)
    return found


def shares(matched: float, output: float, reference: float) -> dict[str, float | None]:
    """Return precision, recall and their harmonic mean F1, from 0 to 1, from weights of leaves.

    `precision` is matched / output, and `recall` is matched / reference. Each is None if there is
    no leaf. `f1` is 2 matched / (output + reference), or 1 if there is no leaf at all.
    """
    both = output + reference
    return {
        "precision": matched / output if output else None,
        "recall": matched / reference if reference else None,
        "f1": 2 * matched / both if both else 1.0,
    }


FIGURES: Final = ("matched", "output_leaves", "reference_leaves", *shares(0, 0, 0))
"""The names of the figures."""
