"""What a comparison comes to: figures, and counts by field."""

from __future__ import annotations

from math import fsum
from typing import Any, Final

from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Kind


def details(comparison: Comparison) -> dict[str, Any]:
    """Return the metadata of a comparison: figures, outcomes, and the leaves of each field."""
    matched, output, reference = comparison.figures()
    fields: dict[str, dict[Kind, int]] = {}
    for node in comparison.matched:
        if node.path in fields:
            fields[node.path]["match"] += 1
        else:
            fields[node.path] = {"match": 1}
    for outcome in comparison.outcomes:
        counts = fields.setdefault(outcome.node.path, {})
        counts[outcome.kind] = counts.get(outcome.kind, 0) + 1
    for path in sorted(comparison.omitted):
        fields.setdefault(path, {})  # a field that has no leaf here
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


def costs(comparison: Comparison) -> list[float]:
    """Return what each outcome takes from the score, together with the others of its whole.

    A leaf counts on each side that has it.
    """
    found = [
        each.node.weight * (each.in_output + each.in_reference - 2.0 * each.score)
        for each in comparison.outcomes
    ]
    for begin, end in comparison.wholes:
        found[begin:end] = [fsum(found[begin:end])] * (end - begin)
    return found


def shares(matched: float, output: float, reference: float) -> dict[str, float | None]:
    """Return precision, recall and their harmonic mean F1, from 0 to 1.

    Of the leaves of output and reference, and what of them matches, all by weight: `precision` is
    matched / output, `recall` matched / reference, each None where there is no leaf; `f1` is
    2 matched / (output + reference), 1 where there is no leaf at all.
    """
    both = output + reference
    return {
        "precision": matched / output if output else None,
        "recall": matched / reference if reference else None,
        "f1": 2 * matched / both if both else 1.0,
    }


FIGURES: Final = ("matched", "output_leaves", "reference_leaves", *shares(0, 0, 0))
"""The names of the figures."""
