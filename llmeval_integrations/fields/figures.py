"""What a comparison comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from llmeval_integrations.fields.comparison import Comparison
from llmeval_integrations.fields.field import Field
from llmeval_integrations.fields.outcome import KINDS, Kind

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

_SOME: Final = 1_000
"""So many fields tell whether most come once alone."""


def figures(comparison: Comparison) -> dict[str, Any]:
    """Return the figures of one sample by name, from 0 to 1, None where there is nothing to take.

    With the values of the output O and of the reference R, paired where they have the same path:
    `precision` is matches / O, `recall` matches / R, `f1` their harmonic mean; `path_precision`,
    `path_recall` and `path_f1` are the same of pairs, whatever their values; `value_accuracy` is
    matches / pairs, `type_accuracy` the share of pairs that are not `wrong_type`: both have the
    same JSON type, or `coerce` or `compare` says whether they match all the same. A value is a
    text, number, boolean or null; empty objects and arrays are none, and no weight counts.
    """
    if comparison.matching and not comparison.outcomes and not comparison.apart:
        return dict(_PERFECT)  # as most are
    kinds: dict[Kind, int] = dict.fromkeys(KINDS, 0)
    kinds["match"] = len(comparison.matching)
    for outcome in comparison.outcomes:
        kinds[outcome.kind] += 1
    for _, kind, rest in comparison.apart:
        kinds[kind] -= 1
        if rest:
            kinds[rest] += 1
    return shares(kinds)


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
    counts = _once_each(comparison.matching)
    if counts is None:
        numbers = Counter(comparison.matching)
        counts = {field.path: {"match": number} for field, number in numbers.items()}
        if len(counts) < len(numbers):  # items at several positions have fields of their own
            counts = {path: {"match": 0} for path in counts}
            for field, number in numbers.items():
                counts[field.path]["match"] += number
    for outcome in comparison.outcomes:
        of_field = counts.get(outcome.field)
        if of_field is None:
            counts[outcome.field] = {outcome.kind: 1}
        else:
            of_field[outcome.kind] = of_field.get(outcome.kind, 0) + 1
    return counts


def _once_each(fields: list[Field]) -> dict[str, dict[Kind, int]] | None:
    """Count fields of which none comes twice; None where one does.

    Counting those of a large object one by one would cost more than comparing them did.
    """
    if len(fields) <= _SOME or len(set(fields[:_SOME])) < _SOME:
        return None
    counts: dict[str, dict[Kind, int]] = {field.path: {"match": 1} for field in fields}
    return counts if len(counts) == len(fields) else None


def values_by_field(
    comparison: Comparison, counts: dict[str, dict[Kind, int]]
) -> dict[str, dict[Kind, int]]:
    """Return what `by_field` does of values alone, for those fields that have other leaves too."""
    values = {path: dict(counts[path]) for path, _, _ in comparison.apart}
    for path, kind, rest in comparison.apart:
        values[path][kind] -= 1
        if rest:
            values[path][rest] = values[path].get(rest, 0) + 1
    return values
