"""What a comparison comes to: figures, counts by field, and the differences in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import CONTAINERS
from llmeval_integrations.matching.comparison import Comparison
from llmeval_integrations.matching.node import Kind, Outcome
from llmeval_integrations.matching.patch import describe

Counts: TypeAlias = dict[Kind, int]


def details(comparison: Comparison) -> dict[str, Any]:
    """Return the metadata of a comparison: figures, outcomes, and counts by field.

    `fields` has the leaves of each field by kind. `values` has the same of the values alone, for
    the fields that have other leaves, too. A value is a text, number, boolean or null.
    """
    fields: dict[str, Counts] = {}
    for node, number in Counter(comparison.matched).items():
        counts = fields.setdefault(node.path, {"match": 0})  # several nodes may have one path
        counts["match"] += number
    if comparison.matched and not (comparison.outcomes or comparison.empty):  # as most are
        return {**_PERFECT, "perfect": True, "outcomes": [], "fields": fields}
    values: Counter[Kind] = Counter()
    values["match"] = len(comparison.matched) - len(comparison.empty)
    perfect = True
    beside: dict[str, Counter[Kind]] = {}  # how many more, or fewer, values there are than leaves
    for node in comparison.empty:
        beside.setdefault(node.path, Counter())["match"] -= 1
    for outcome in comparison.outcomes:
        path, kind = outcome.node.path, outcome.kind
        perfect = perfect and kind == "match"
        counts = fields.setdefault(path, {})
        counts[kind] = counts.get(kind, 0) + 1
        kind_of_value = _kind_of_value(outcome)
        if kind_of_value:
            values[kind_of_value] += 1
        if kind_of_value != kind:
            more = beside.setdefault(path, Counter())
            more[kind] -= 1
            if kind_of_value:
                more[kind_of_value] += 1
    found: dict[str, Any] = shares(values)
    found["perfect"] = perfect
    found["outcomes"] = [outcome.as_dict() for outcome in comparison.outcomes]
    found["fields"] = fields
    for path, more in beside.items():
        more.update(fields[path])  # which adds
        found.setdefault("values", {})[path] = dict(more)
    return found


def _kind_of_value(outcome: Outcome) -> Kind | None:
    """Return the kind of an outcome where objects and arrays are no values; None where none is.

    A value that has an object or array on the other side is missing or extra.
    """
    kind, output, reference = outcome.kind, outcome.output, outcome.reference
    if outcome.node.whole:
        return kind
    is_here = output is not MISSING and type(output) not in CONTAINERS
    is_there = reference is not MISSING and type(reference) not in CONTAINERS
    if kind == "wrong_type" and is_here != is_there:
        return "extra" if is_here else "missing"
    return kind if is_here or is_there else None


def shares(kinds: Counter[Kind]) -> dict[str, float | None]:
    """Return the figures, from 0 to 1, by the number of values of each kind.

    With the values of the output O and of the reference R, paired where they have the same path:
    `precision` is matches / O, `recall` matches / R, `f1` their harmonic mean; `path_precision`,
    `path_recall` and `path_f1` are the same of pairs, whatever their values; `value_accuracy` is
    matches / pairs, `type_accuracy` the share of pairs that are not `wrong_type`: both have the
    same JSON type, or `coerce` or `compare` says whether they match all the same. None where there
    is nothing to take a share of. No weight counts.
    """
    match, same_type = kinds["match"], kinds["match"] + kinds["mismatch"]
    pairs = same_type + kinds["wrong_type"]
    output, reference = pairs + kinds["extra"], pairs + kinds["missing"]
    both = output + reference
    return {
        "precision": match / output if output else None,
        "recall": match / reference if reference else None,
        "f1": 2 * match / both if both else None,
        "path_precision": pairs / output if output else None,
        "path_recall": pairs / reference if reference else None,
        "path_f1": 2 * pairs / both if both else None,
        "value_accuracy": match / pairs if pairs else None,
        "type_accuracy": same_type / pairs if pairs else None,
    }


SHARES: Final = tuple(shares(Counter()))
"""The names of the figures."""

_PERFECT: Final = dict.fromkeys(SHARES, 1.0)


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
    return describe(first) + ("" if first.exact else " (too long to be compared exactly)")
