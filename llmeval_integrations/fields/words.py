"""Differences between two documents in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmeval_integrations.fields.outcome import Outcome
from llmeval_integrations.json_tree import Difference
from llmeval_integrations.printable import printable


def summarize(outcomes: Sequence[Outcome], most: int = 3) -> str:
    """Name the first differences, and how many more there are.

    Objects and arrays that one side lacks as a whole are named once, and so are those that stand
    where the other side has something else.
    """
    replaced = {
        (outcome.pointer, "missing" if type(outcome.reference) in (dict, list) else "extra")
        for outcome in outcomes
        if outcome.kind == "wrong_type"
    }
    named: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if (outcome.within, outcome.kind) not in replaced or not outcome.within:
            named.setdefault((outcome.within or outcome.pointer, outcome.kind), []).append(outcome)
    said = [_said(place, group) for (place, _), group in list(named.items())[:most]]
    more = len(named) - most
    return printable("; ".join([*said, f"and {more} more"] if more > 0 else said))


def _said(place: str, group: Sequence[Outcome]) -> str:
    first = group[0]
    if first.within:
        leaves = f" ({len(group)} fields)" if len(group) > 1 else ""
        return f"{place or 'the whole'} {first.kind}{leaves}"
    kind: Any = first.kind  # which is never "match" here
    return str(Difference(place, kind, first.output, first.reference))
