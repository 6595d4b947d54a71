"""The outcomes of a comparison: one for each leaf, with its words for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec

from llmeval_integrations.core.escape import make_printable
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.matching.node import Kind, Node
from llmeval_integrations.text.excerpt import cut_around_difference

_LONGEST: Final = 60
"""Characters of a value in a reason."""


class Outcome(msgspec.Struct, frozen=True, gc=False):  # no value refers back to it
    """One leaf that does not fully match: wrong, missing, extra, or a match with a lower score."""

    pointer: str
    """The JSON Pointer of the leaf in the output; a missing item has its position in the
    reference."""

    node: Node
    kind: Kind
    score: float
    output: Any = MISSING
    reference: Any = MISSING

    within: str | None = None
    """The JSON Pointer of the missing or extra object or array that contains the leaf."""

    exact: bool = True
    """Whether the score is exact; see Verdict."""

    alone: Literal["output", "reference"] | None = None
    """The only side with this leaf, if the other side has an object or array with leaves here."""

    at_end: bool = False
    """Whether a missing item belongs to the end of its array."""

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as an entry of a result's metadata."""
        entry: dict[str, Any] = {"pointer": self.pointer, "field": self.node.path}
        entry["kind"] = self.kind
        if self.output is not MISSING:
            entry["output"] = self.output
        if self.reference is not MISSING:
            entry["reference"] = self.reference
        if self.within is not None:
            entry["within"] = self.within
        if self.alone is not None:
            entry["alone"] = self.alone
        if self.node.weight != 1.0:
            entry["weight"] = self.node.weight
        if self.score:
            entry["score"] = self.score
        if not self.exact:
            entry["exact"] = False
        return entry

    def __str__(self) -> str:
        remark = self.node.remark(self.output, self.reference)
        return describe(self.pointer, self.kind, self.output, self.reference, remark)


def describe(pointer: str, kind: str, output: Any, reference: Any, remark: str) -> str:
    """Describe one wrong place in a line."""
    where = pointer or "the whole"
    if kind in ("missing", "extra"):
        return make_printable(f"{where} {kind}")
    one, other = canonical(output), canonical(reference)
    if len(one) > _LONGEST or len(other) > _LONGEST:
        one, other = cut_around_difference(one, other, _LONGEST)
    more = f" ({remark})" if remark else ""
    return make_printable(f"{where} {one}, expected {other}{more}")


class Figures(NamedTuple):
    """Sums of the weights of leaves in a comparison."""

    matched: float
    """The sum for leaves that match, each weight times its similarity."""

    output: float
    """The sum for all leaves of the output."""

    reference: float
    """The sum for all leaves of the reference."""

    @property
    def score(self) -> float:
        """F1: 2 matched / (output + reference), or 1 if no leaf has a weight."""
        both = self.output + self.reference
        return 2 * self.matched / both if both else 1.0

    def shares(self) -> dict[str, float | None]:
        """Return precision, recall and their harmonic mean F1, from 0 to 1.

        `precision` is matched / output, and `recall` is matched / reference; None without a leaf.
        """
        matched, output, reference = self
        return {
            "precision": matched / output if output else None,
            "recall": matched / reference if reference else None,
            "f1": self.score,
        }

    def as_dict(self) -> dict[str, float | None]:
        """Return the figures as they are in results and summaries."""
        matched, output, reference = self
        sums = {"matched": matched, "output_leaves": output, "reference_leaves": reference}
        return {**sums, **self.shares()}


FIGURES: Final = tuple(Figures(0.0, 0.0, 0.0).as_dict())
"""The names of the figures in results and summaries."""


def summarize(outcomes: Sequence[Outcome], limits: Sequence[str] = (), most: int = 3) -> str:
    """Describe the first differences in one line, and say how many more there are.

    An object or array is named once if one side lacks it completely, or has another type there.
    """
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for each in outcomes:
        place = each.pointer if each.within is None else each.within
        groups.setdefault((place, each.kind), []).append(each)
    for each in outcomes:
        if each.kind == "wrong_type":
            groups.pop((each.pointer, "missing"), None)
            groups.pop((each.pointer, "extra"), None)
    named = []
    for (place, kind), group in [*groups.items()][:most]:
        first, several = group[0], f" ({len(group)} fields)" if len(group) > 1 else ""
        if first.within is not None:
            named.append(make_printable(f"{place or 'the whole'} {kind}{several}"))
        else:
            named.append(f"{first}{'' if first.exact else ' (too long to be compared exactly)'}")
    if len(groups) > most:
        named.append(f"and {len(groups) - most} more")
    return "; ".join(named) + (" (too many pairs of items; not all were tried)" if limits else "")
