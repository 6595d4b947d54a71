"""What a comparison comes to: figures, counts by field, and the differences in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.leaves import Figures
from llmeval_integrations.matching.node import Kind
from llmeval_integrations.matching.outcome import Outcome

Counts: TypeAlias = dict[Kind, int]


def details(comparison: Comparison, figures: Figures) -> dict[str, Any]:
    """Return the metadata of a comparison: figures, outcomes, and the leaves of each field."""
    matched, output, reference = figures
    fields: dict[str, Counts] = {}
    for node in comparison.matched:
        counts = fields.get(node.path)
        if counts is None:
            fields[node.path] = {"match": 1}
        else:
            counts["match"] += 1
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
    }


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


def summarize(outcomes: Sequence[Outcome], most: int = 3) -> str:
    """Name the first differences, and how many more there are.

    Objects and arrays that one side lacks as a whole are named once, and so are those that stand
    where the other side has something else.
    """
    replaced = set()
    for each in outcomes:
        if each.kind == "wrong_type":
            has_parts = type(each.reference) in CONTAINERS and each.reference
            replaced.add((each.pointer, "missing" if has_parts else "extra"))
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for each in outcomes:
        place = each.pointer if each.within is None else each.within
        if each.within is None or (place, each.kind) not in replaced:
            groups.setdefault((place, each.kind), []).append(each)
    named = [*map(_describe, [*groups.values()][:most])]
    more = len(groups) - most
    return "; ".join([*named, f"and {more} more"] if more > 0 else named)


def _describe(group: Sequence[Outcome]) -> str:
    first = group[0]
    if first.within is not None:
        whole = f"{first.within or 'the whole'} {first.kind}"
        return make_printable(f"{whole} ({len(group)} fields)" if len(group) > 1 else whole)
    return str(first) + ("" if first.exact else " (too long to be compared exactly)")
