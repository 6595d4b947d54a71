"""What became of one field of one sample."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.core.sample import MISSING

Kind = Literal["match", "mismatch", "missing", "extra", "wrong_type"]

KINDS: Final[tuple[Kind, ...]] = ("match", "mismatch", "missing", "extra", "wrong_type")


class Outcome(msgspec.Struct, frozen=True, gc=False):  # no value refers back to it
    """What became of one leaf: a text, number, boolean, null, or an empty object or array."""

    pointer: str
    """Where it is in the output, as a JSON Pointer, or would be where it is missing; an item that
    is missing as a whole has its position in the reference."""

    field: str
    """The same with `*` for every position of a list."""

    kind: Kind
    """`match`, `mismatch`; `missing`: in the reference alone; `extra`: in the output alone;
    `wrong_type`: where the other side has another JSON type, or an object or array."""

    score: float
    """From 0 to 1."""

    weight: float
    """What it counts in the score of the sample."""

    output: Any = MISSING
    reference: Any = MISSING

    within: str | None = None
    """The object or array that is missing or extra as a whole, as a JSON Pointer; else None."""

    exact: bool = True
    """Whether the distance of two texts is exact; one of very long texts may be an upper bound."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in a result's metadata."""
        entry: dict[str, Any] = {"pointer": self.pointer, "field": self.field, "kind": self.kind}
        if self.output is not MISSING:
            entry["output"] = self.output
        if self.reference is not MISSING:
            entry["reference"] = self.reference
        if self.within is not None:
            entry["within"] = self.within
        if self.weight != 1.0:
            entry["weight"] = self.weight
        if self.score:
            entry["score"] = self.score
        if not self.exact:
            entry["exact"] = False
        return entry
