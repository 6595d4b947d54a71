"""What an evaluator is tried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from llmeval_integrations.core.sample import MISSING

Expected = Literal["yes", "no", "either", "an error", "Pass", "Fail", "no verdict"]
"""What the right answer is.

`either` is any answer, as long as there is one; `an error` is an exception, or a result without a
score: what is wrong there is the call, not the output.
"""

Says = Literal["yes", "no", "Pass", "Fail", "nothing", "raised", "unclear", "slow", "died"]
"""What an evaluator can be found to say; the last four are not answers."""

Severity = Literal["high", "medium", "low"]
"""How much harm a finding does, beginning with figures that are wrong and look right."""

FITTING: Final[dict[Expected, frozenset[Says]]] = {
    "yes": frozenset(["yes"]),
    "no": frozenset(["no"]),
    "either": frozenset(["yes", "no", "nothing"]),
    "an error": frozenset(["raised", "nothing"]),
    "Pass": frozenset(["Pass"]),
    "Fail": frozenset(["Fail"]),
    "no verdict": frozenset(["nothing"]),
}
"""What counts as the right answer."""


@dataclass(frozen=True)
class Case:
    """One output, and what has to be said of it."""

    name: str
    """What the case tries, in a few words."""

    expected: Expected
    """The right answer."""

    output: Any
    """What the model wrote."""

    reference: Any = MISSING
    """What it is compared with."""

    why: str = ""
    """Why a wrong answer matters."""

    severity: Severity = "high"
    """How much harm a wrong answer does."""

    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """The options of `check_evaluator` under which there is one right answer, and their values."""


@dataclass(frozen=True)
class Growth:
    """A family of outputs, whose cost should grow as their length does."""

    name: str
    """What grows."""

    make: Callable[[int], tuple[Any, Any]]
    """Gives the output and reference of about so many characters."""

    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """As a case's."""
