"""The nodes that compare documents as JSON, without rules."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.json_values.equality import TYPES, equal
from llmeval_integrations.matching.node import MATCH, MISMATCH, WRONG_TYPE, Node, Verdict

_FULL_MATCH: Final = 1e6
"""More than all leaves of a document gain together."""


class Plain(Node):
    """Compares every value as JSON; what one side lacks is one outcome, whatever is in it."""

    uniform = True
    literal = True
    splits = False
    pairs_strangers = True
    shared_gain = 1e-6  # of items that match in nothing, those that are alike are paired

    def __init__(self, *, ordered: bool = True, ignore_extra: bool = False) -> None:
        self.order = "anchored" if ordered else "any_order"
        self.counts_extra = not ignore_extra
        # An item with further members is not equal to its reference, and still has to find it.
        self.whole_gain = _FULL_MATCH if ignore_extra else 0.0

    def member(self, name: str) -> Plain:  # noqa: ARG002
        return self

    def item(self, position: int) -> Plain:  # noqa: ARG002
        return self

    def leaf(self, output: Any, reference: Any) -> Verdict:
        if equal(output, reference):
            return MATCH
        same_type = TYPES[type(output)] == TYPES[type(reference)]
        return MISMATCH if same_type else WRONG_TYPE
