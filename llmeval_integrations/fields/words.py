"""Differences between two documents in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmeval_integrations.core.printable import printable
from llmeval_integrations.matching.node import Outcome
from llmeval_integrations.matching.patch import describe


def summarize(outcomes: Sequence[Outcome], most: int = 3) -> str:
    """Name the first differences, and how many more there are.

    Objects and arrays that one side lacks as a whole are named once, and so are those that stand
    where the other side has something else.
    """
    replaced = {
        (outcome.pointer, "missing" if _has_parts(outcome.reference) else "extra")
        for outcome in outcomes
        if outcome.kind == "wrong_type"
    }
    named: dict[tuple[str, str], list[Outcome]] = {}
    more, others = 0, set()
    for outcome in outcomes:
        within, kind = outcome.within, outcome.kind
        if within is None and len(named) == most:
            more += 1  # no other outcome has its place and kind
        elif within is None or (within, kind) not in replaced:
            key = outcome.pointer if within is None else within, kind
            if key in named or len(named) < most:
                named.setdefault(key, []).append(outcome)
            else:
                others.add(key)
    said = [_said(place, group) for (place, _), group in named.items()]
    more += len(others)
    return printable("; ".join([*said, f"and {more} more"] if more > 0 else said))


def _said(place: str, group: Sequence[Outcome]) -> str:
    first = group[0]
    if first.within is not None:
        leaves = f" ({len(group)} fields)" if len(group) > 1 else ""
        return f"{place or 'the whole'} {first.kind}{leaves}"
    said = describe(first)
    return said if first.exact else f"{said} (too long to be compared exactly)"


def _has_parts(value: Any) -> bool:
    return type(value) in (dict, list) and bool(value)
