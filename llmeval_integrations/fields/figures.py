"""What a comparison comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import KINDS, Kind, Outcome

SHARES: Final = (
    "precision",
    "recall",
    "f1",
    "path_precision",
    "path_recall",
    "path_f1",
    "value_accuracy",
    "type_accuracy",
)
"""The names of the figures."""

_PERFECT: Final = dict.fromkeys(SHARES, 1.0)


def figures(comparison: Comparison) -> dict[str, Any]:
    """Return the figures of one sample by name, from 0 to 1, None where there is nothing to take.

    With the values of the output O and of the reference R, paired where they have the same path:
    `precision` is matches / O, `recall` matches / R, `f1` their harmonic mean; `path_precision`,
    `path_recall` and `path_f1` are the same of pairs, whatever their values; `value_accuracy` is
    matches / pairs, `type_accuracy` the share of pairs that are not `wrong_type`: both have the
    same JSON type, or `coerce` or `compare` says whether they match all the same. A value is a
    text, number, boolean or null; empty objects and arrays are none, and no weight counts.
    """
    if comparison.matched and not comparison.outcomes and not comparison.empty:
        return dict(_PERFECT)  # as most are
    kinds: dict[Kind, int] = dict.fromkeys(KINDS, 0)
    kinds["match"] = len(comparison.matched) - len(comparison.empty)
    for outcome in comparison.outcomes:
        kind = kind_of_value(outcome)
        if kind:
            kinds[kind] += 1
    return shares(kinds)


def kind_of_value(outcome: Outcome) -> Kind | None:
    """Return the kind of an outcome where objects and arrays are no values; None where none is.

    A value that has an object or array on the other side is missing or extra.
    """
    if outcome.node.whole:
        return outcome.kind
    is_here, is_there = _is_value(outcome.output), _is_value(outcome.reference)
    if not (is_here or is_there):
        return None
    if outcome.kind == "wrong_type" and is_here != is_there:
        return "extra" if is_here else "missing"
    return outcome.kind


def _is_value(value: Any) -> bool:
    return value is not MISSING and type(value) not in CONTAINERS


def shares(kinds: Mapping[Kind, int]) -> dict[str, float | None]:
    """Return the figures by the number of values of each kind.

    One is `missing` or `extra` too where the other side has an object or array in its place.
    """
    match, same_type = kinds["match"], kinds["match"] + kinds["mismatch"]
    pairs = same_type + kinds["wrong_type"]
    output, reference = pairs + kinds["extra"], pairs + kinds["missing"]
    found = (
        _share(match, output),
        _share(match, reference),
        _share(2 * match, output + reference),
        _share(pairs, output),
        _share(pairs, reference),
        _share(2 * pairs, output + reference),
        _share(match, pairs),
        _share(same_type, pairs),
    )
    return dict(zip(SHARES, found))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def by_field(comparison: Comparison) -> dict[str, dict[Kind, int]]:
    """Return for each field how many leaves there are of each kind that there is."""
    counts: dict[str, dict[Kind, int]] = {}
    for node, number in Counter(comparison.matched).items():
        of_field = counts.setdefault(
            node.path, {"match": 0}
        )  # positions may have nodes of their own
        of_field["match"] += number
    for outcome in comparison.outcomes:
        of_field = counts.setdefault(outcome.node.path, {})
        of_field[outcome.kind] = of_field.get(outcome.kind, 0) + 1
    return counts


def values_by_field(
    comparison: Comparison, counts: dict[str, dict[Kind, int]]
) -> dict[str, dict[Kind, int]]:
    """Return what `by_field` does of values alone, for those fields that have other leaves too."""
    found: dict[str, dict[Kind, int]] = {}
    for node in comparison.empty:
        found.setdefault(node.path, dict(counts[node.path]))["match"] -= 1
    for outcome in comparison.outcomes:
        kind = kind_of_value(outcome)
        if kind != outcome.kind:
            values = found.setdefault(outcome.node.path, dict(counts[outcome.node.path]))
            values[outcome.kind] -= 1
            if kind:
                values[kind] = values.get(kind, 0) + 1
    return found
