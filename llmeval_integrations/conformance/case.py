"""What an evaluator is tried on, and what it has to say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from llmeval_integrations.core.sample import MISSING

Expected = Literal["yes", "no", "either", "an error", "Pass", "Fail", "no verdict"]
"""The right answer; `an error` where the call is wrong, and not the output."""

Says = Literal["yes", "no", "Pass", "Fail", "nothing", "raised", "unclear", "slow", "died"]
"""What an evaluator can say; the last four are not answers."""

Severity = Literal["high", "medium", "low"]
"""How much harm a finding does; high is a wrong figure that looks right."""

RIGHT: Final[dict[Expected, tuple[Says, ...]]] = {
    "yes": ("yes",),
    "no": ("no",),
    "either": ("yes", "no", "nothing"),
    "an error": ("raised", "nothing"),
    "Pass": ("Pass",),
    "Fail": ("Fail",),
    "no verdict": ("nothing",),
}
"""What counts as the right answer."""


@dataclass(frozen=True)
class Case:
    """One output, its reference, and why a wrong answer matters.

    `only` names the rules under which there is one right answer, and their values.
    """

    name: str
    expected: Expected
    output: Any
    reference: Any = MISSING
    why: str = ""
    severity: Severity = "high"
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def plain_reference(self) -> Any:
        """The reference as other libraries take it: None where there is none."""
        return None if self.reference is MISSING else self.reference


@dataclass(frozen=True)
class Growth:
    """Outputs of any length, whose cost should grow as their length does.

    `make` gives the output and reference of about so many characters.
    """

    name: str
    make: Callable[[int], tuple[Any, Any]]
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def case(self, size: int) -> Case:
        """Return the case of about so many characters."""
        return Case(self.name, "either", *self.make(size))
