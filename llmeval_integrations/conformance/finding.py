"""What is wrong with an evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from llmeval_integrations.conformance.case import RIGHT, Case, Severity
from llmeval_integrations.conformance.worker import Observation
from llmeval_integrations.core.printable import one_line
from llmeval_integrations.core.quoting import quote, shorten

Kind = Literal[
    "wrong", "raised", "nothing", "unclear", "slow", "died", "unsteady", "async", "changed", "cost"
]  # fmt: skip
"""What is the matter; `wrong` is an answer, the others have their reason below."""

RANK: Final = ("high", "medium", "low")
_REASONS: Final[dict[Kind, tuple[Severity, str]]] = {
    "raised": ("medium", "what a model wrote ends the run, or loses the row"),
    "nothing": ("medium", "the row has no score, and the figure stands on fewer"),
    "unclear": ("high", "what is neither yes nor no is averaged all the same"),
    "slow": ("high", "one output holds up all others"),
    "died": ("high", "one output ends the process, and the run with it"),
    "unsteady": ("high", "the figure changes from run to run"),
    "async": ("high", "the figure depends on how the evaluator is called"),
    "changed": ("medium", "the next sample is compared with something else"),
    "cost": ("medium", "one long output holds up all others"),
}
"""How much a fault does that is no wrong answer, and why it matters."""

_SILENCE: Final = {"slow": "no answer in time", "died": "the end of its process"}
_LONGEST: Final = 50


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
    """Find a wrong answer, or one that changes, and a reference that was changed."""
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
    """All that was found, the gravest first; true where there is anything.

    Of so many `cases` so many were `tried`: all, unless the time was up.
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

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)
