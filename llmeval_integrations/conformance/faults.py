"""The faults of an evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from llmeval_integrations.conformance.case import RIGHT, Case, Severity
from llmeval_integrations.conformance.worker import Observation
from llmeval_integrations.core.escape import one_line
from llmeval_integrations.core.quote import quote, shorten

Kind = Literal[
    "wrong", "raised", "nothing", "unclear", "slow", "died", "unsteady", "async", "changed", "cost"
]  # fmt: skip
"""The kind of fault: `wrong` is a wrong answer, the others are explained below."""

RANK: Final = ("high", "medium", "low")
_REASONS: Final[dict[Kind, tuple[Severity, str]]] = {
    "raised": ("medium", "what a model wrote ends the run, or loses the row"),
    "nothing": ("medium", "the row has no score, and the figure has fewer samples"),
    "unclear": ("high", "a result that is neither yes nor no enters the average"),
    "slow": ("high", "one output holds up all others"),
    "died": ("high", "one output ends the process, and the run with it"),
    "unsteady": ("high", "the figure changes from run to run"),
    "async": ("high", "the figure depends on how the evaluator is called"),
    "changed": ("medium", "the next sample is compared with a changed reference"),
    "cost": ("medium", "one long output holds up all others"),
}
"""The severity of each fault other than a wrong answer, and why it matters."""

_SILENCE: Final = {"slow": "no answer in time", "died": "the end of its process"}
_LONGEST: Final = 50


@dataclass(frozen=True)
class Finding:
    """One case in which an evaluator does not do what it claims.

    The evaluator gave `got` instead of `expected`. The `severity` is `high` if a wrong figure
    looks right. `output` and `reference` are shortened.
    """

    case: str
    kind: Kind
    expected: str
    got: str
    why: str
    severity: Severity
    output: str = ""
    reference: str = ""

    @classmethod
    def of(cls, case: Case, kind: Kind, expected: str, got: str) -> Finding:
        """Make a finding, with its reason and its severity."""
        severity, why = _REASONS.get(kind, (case.severity, case.why))
        if kind in ("raised", "nothing"):
            severity = max(severity, case.severity, key=RANK.index)
        output, reference = (one_line(quote(value)) for value in (case.output, case.reference))
        return cls(case.name, kind, expected, got, why, severity, output, reference)

    def __str__(self) -> str:
        got = shorten(self.got, _LONGEST)
        head = f"{self.severity:6}  {self.case}: expected {self.expected}, got {got}"
        return f"{head}\n        {self.why}"


def find_faults(case: Case, observation: Observation) -> Iterator[Finding]:
    """Yield a wrong answer, or an answer that changes, and a changed reference."""
    first, again, awaited, changed, _ = observation
    if first.says not in RIGHT[case.expected]:
        if first.says in ("raised", "nothing", "unclear", "slow", "died"):
            got = first.text or _SILENCE[first.says]
            yield Finding.of(case, first.says, case.expected, got)
        else:
            yield Finding.of(case, "wrong", case.expected, str(first))
    elif again and not again.agrees_with(first):
        yield Finding.of(case, "unsteady", "the same twice", f"{first}, then {again}")
    elif awaited and not awaited.agrees_with(first):
        yield Finding.of(case, "async", "the same awaited", f"{first}; awaited {awaited}")
    if changed:
        yield Finding.of(case, "changed", "the reference as it was", "it was changed")


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """All findings, the most severe first; false if there are none.

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
