"""The cases that an evaluator is tried on, with the right answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from llmeval_integrations.core.sample import MISSING

Expected = Literal["yes", "no", "either", "an error"]
"""The right answer; it is `an error` if the call is wrong rather than the output."""

Says = Literal["yes", "no", "nothing", "raised", "unclear", "slow", "died"]
"""The possible answers of an evaluator; the last four are failures to answer."""

RIGHT: Final[dict[Expected, tuple[Says, ...]]] = {
    "yes": ("yes",),
    "no": ("no",),
    "either": ("yes", "no", "nothing"),
    "an error": ("raised", "nothing"),
}
"""The answers that count as right."""


@dataclass(frozen=True)
class Case:
    """One output, its reference, and why a wrong answer matters."""

    name: str
    expected: Expected
    output: Any
    reference: Any = MISSING
    why: str = ""

    @property
    def plain_reference(self) -> Any:
        """The reference as other libraries expect it: None if there is none."""
        return None if self.reference is MISSING else self.reference


@dataclass(frozen=True)
class Growth:
    """Outputs of any length, whose cost should grow linearly with the length.

    `make` returns an output and a reference of about the given number of characters.
    """

    name: str
    make: Callable[[int], tuple[Any, Any]]

    def case(self, size: int) -> Case:
        """Return the case of about `size` characters."""
        return Case(self.name, "either", *self.make(size))
