"""Plain comparison of two documents, and its outcomes as an RFC 6902 patch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from llmeval_integrations.json_values.equality import TYPES, equal
from llmeval_integrations.matching.node import MATCH, MISMATCH, WRONG_TYPE, Node, Verdict
from llmeval_integrations.matching.outcome import Outcome


class Plain(Node):
    """Compares every value as JSON; a value that one side lacks is one outcome, however large."""

    uniform = True
    literal = True
    splits = False
    pairs_all = True

    def __init__(self, *, ordered: bool = True, ignore_extra: bool = False) -> None:
        self.order = "anchored" if ordered else "any_order"
        self.counts_extra = not ignore_extra
        self.lists_matches = ignore_extra  # the pairing of items needs them then

    def leaf(self, output: Any, reference: Any) -> Verdict:
        if equal(output, reference):
            return MATCH
        same_type = TYPES[type(output)] == TYPES[type(reference)]
        return MISMATCH if same_type else WRONG_TYPE


def sort_for_patch(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Order outcomes so that they can be applied one after another.

    Extra items of an array are removed from last to first, as removing one moves all after it.
    """

    def find_array(outcome: Outcome) -> str | None:
        array, _, step = outcome.pointer.rpartition("/")
        return array if outcome.kind == "extra" and step.isdigit() else None

    found: list[Outcome] = []
    for array, run in groupby(outcomes, find_array):
        several = [*run]
        found += several if array is None else several[::-1]
    return found


def patch(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Write outcomes from `sort_for_patch` as an RFC 6902 patch that makes the output match."""
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
