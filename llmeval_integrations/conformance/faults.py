"""The faults of an evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from llmeval_integrations.conformance.case import RIGHT, Case
from llmeval_integrations.conformance.worker import Observation
from llmeval_integrations.core.quote import one_line, quote, shorten

Kind = Literal[
    "wrong", "raised", "nothing", "unclear", "slow", "died", "unsteady", "async", "cost"
]  # fmt: skip
"""The kind of fault: `wrong` is a wrong answer, the others are explained below."""

_REASONS: Final[dict[Kind, str]] = {
    "raised": "what a model wrote ends the run, or loses the row",
    "nothing": "the row has no score, and the figure has fewer samples",
    "unclear": "a result that is neither yes nor no enters the average",
    "slow": "one output holds up all others",
    "died": "one output ends the process, and the run with it",
    "unsteady": "the figure changes from run to run",
    "async": "the figure depends on how the evaluator is called",
    "cost": "one long output holds up all others",
}
"""Why a fault matters; a wrong answer matters for the reason of its case."""

_LONGEST: Final = 50


@dataclass(frozen=True)
class Finding:
    """One case in which an evaluator does not do what it claims.

    The evaluator gave `got` instead of `expected`. `output` and `reference` are shortened.
    """

    case: str
    kind: Kind
    expected: str
    got: str
    why: str
    output: str = ""
    reference: str = ""

    @classmethod
    def of(cls, case: Case, kind: Kind, expected: str, got: str) -> Finding:
        """Make a finding, with its reason."""
        output, reference = (one_line(quote(value)) for value in (case.output, case.reference))
        why = _REASONS.get(kind, case.why)
        return cls(case.name, kind, expected, got, why, output, reference)

    def __str__(self) -> str:
        got = shorten(self.got, _LONGEST)
        return f"{self.case}: expected {self.expected}, got {got}\n    {self.why}"


def find_faults(case: Case, observation: Observation) -> Iterator[Finding]:
    """Yield a wrong answer, or an answer that changes."""
    first, again, awaited, _ = observation
    if first.says not in RIGHT[case.expected]:
        if first.says in ("raised", "nothing", "unclear", "slow", "died"):
            yield Finding.of(case, first.says, case.expected, first.text)
        else:
            yield Finding.of(case, "wrong", case.expected, str(first))
    elif again and not again.agrees_with(first):
        yield Finding.of(case, "unsteady", "the same twice", f"{first}, then {again}")
    elif awaited and not awaited.agrees_with(first):
        yield Finding.of(case, "async", "the same awaited", f"{first}; awaited {awaited}")


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """All findings, wrong answers first; false if there are none.

    `tried` is the number of `cases` that were tried before the time was up.
    """

    evaluator: str
    claim: str
    findings: tuple[Finding, ...]
    tried: int
    cases: int
    seconds: float

    def __getitem__(self, index: int | slice) -> Any:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        count = "no finding" if not self else f"{len(self)} finding{'s' * (len(self) > 1)}"
        tried = f"{self.tried}" if self.tried == self.cases else f"{self.tried} of {self.cases}"
        head = f"{self.evaluator} as {self.claim}: {count} in {tried} cases, {self.seconds:.1f} s"
        return "\n".join([head, *map(str, self.findings)])
