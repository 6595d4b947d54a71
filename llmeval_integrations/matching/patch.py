"""Outcomes of a plain comparison as an RFC 6902 patch, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from llmeval_integrations.core.printable import make_printable
from llmeval_integrations.json_values.equality import CONTAINERS, canonical, write_scalar
from llmeval_integrations.matching.node import Outcome
from llmeval_integrations.text.excerpt import cut_around_difference

_SHOWN: Final = 60


def sort_for_patch(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Order outcomes so that they can be applied one after another.

    The items that an array has too many come last one first, as removing one moves those behind.
    """
    return [each for run in groupby(outcomes, _array_of_extra) for each in _reverse(*run)]


def _array_of_extra(outcome: Outcome) -> str | None:
    array, _, step = outcome.pointer.rpartition("/")
    return array if outcome.kind == "extra" and step.isdigit() else None


def _reverse(array: str | None, run: Iterable[Outcome]) -> Iterator[Outcome]:
    return iter(run) if array is None else reversed(list(run))


def patch(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Write outcomes, sorted for it, as the RFC 6902 patch that makes the output match."""
    operations: list[dict[str, Any]] = []
    for outcome in outcomes:
        path = outcome.pointer
        if outcome.kind == "extra":
            operations.append({"op": "remove", "path": path})
        elif outcome.kind == "missing":
            if outcome.at_end:
                path = path[: path.rindex("/")] + "/-"
            operations.append({"op": "add", "path": path, "value": outcome.reference})
        else:
            operations.append({"op": "replace", "path": path, "value": outcome.reference})
    return operations


def describe(outcome: Outcome) -> str:
    """Word one outcome: where it is, what stands there and what was expected."""
    where = outcome.pointer or "the whole"
    if outcome.kind in ("missing", "extra"):
        return make_printable(f"{where} {outcome.kind}")
    output, reference = cut_around_difference(
        _text(outcome.output), _text(outcome.reference), _SHOWN
    )
    remark = outcome.node.remark(outcome.output, outcome.reference)
    more = f" ({remark})" if remark else ""
    return make_printable(f"{where} {output}, expected {reference}{more}")


def summarize(outcomes: Sequence[Outcome], most: int = 3) -> str:
    """Word the first outcomes in one line, and how many more there are."""
    named = "; ".join(map(describe, outcomes[:most]))
    more = len(outcomes) - most
    return f"{named}; and {more} more" if more > 0 else named


def _text(value: Any) -> str:
    return canonical(value) if type(value) in CONTAINERS else write_scalar(value)
