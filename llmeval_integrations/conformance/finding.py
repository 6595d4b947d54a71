"""What was found wrong with an evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, overload

from llmeval_integrations.conformance.case import Severity
from llmeval_integrations.core.quoting import shorten

Kind = Literal[
    "wrong",  # an answer
    "raised",  # an exception
    "nothing",  # no score where there should be one
    "unclear",  # a result that is none
    "slow",  # no answer in time
    "died",  # the end of the process
    "unsteady",  # another answer the second time
    "async",  # another answer when awaited
    "changed",  # a reference that was
    "cost",  # one that grows faster than the output
]
"""What is the matter."""


@dataclass(frozen=True)
class Finding:
    """One case in which an evaluator does not do what it claims.

    `got` came instead of what was `expected`; `severity` is `high` where figures are wrong that
    look right. `got`, `output` and `reference` are shortened.
    """

    case: str
    kind: Kind
    expected: str
    got: str
    why: str
    severity: Severity
    output: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """All that was found, the gravest first; true where there is anything.

    Of so many `cases`, families that grow among them, so many were `tried`: all, unless the time
    was up.
    """

    evaluator: str
    claim: str
    findings: tuple[Finding, ...]
    tried: int
    cases: int
    seconds: float

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        count = "no finding" if not self else f"{len(self)} finding{'s' * (len(self) > 1)}"
        tried = f"{self.tried}" if self.tried == self.cases else f"{self.tried} of {self.cases}"
        head = f"{self.evaluator} as {self.claim}: {count} in {tried} cases, {self.seconds:.1f} s"
        return "\n".join([head, *map(_as_text, self.findings)])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


def _as_text(finding: Finding) -> str:
    got = shorten(finding.got, 50)
    return (
        f"{finding.severity:6}  {finding.case}: expected {finding.expected}, got {got}\n"
        f"        {finding.why}"
    )
