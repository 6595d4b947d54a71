"""The faults that an observation shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from llmeval_integrations.conformance.case import RIGHT, Case, Severity
from llmeval_integrations.conformance.finding import Finding, Kind
from llmeval_integrations.conformance.worker import Observation
from llmeval_integrations.core.printable import one_line
from llmeval_integrations.core.quoting import quote

RANK: Final[dict[Severity, int]] = {"high": 0, "medium": 1, "low": 2}

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

_TEXTS: Final = {"slow": "no answer in time", "died": "the end of its process"}


def find_faults(case: Case, observation: Observation) -> Iterator[Finding]:
    """Find a wrong answer, or one that changes, and a reference that was changed."""
    first, again, awaited, changed, _ = observation
    if first.says not in RIGHT[case.expected]:
        if first.says in ("raised", "nothing", "unclear", "slow", "died"):
            got = first.text or _TEXTS[first.says]
            yield make_finding(case, first.says, case.expected, got)
        else:
            yield make_finding(case, "wrong", case.expected, str(first))
    elif again and not again.agrees_with(first):
        yield make_finding(case, "unsteady", "the same twice", f"{first}, then {again}")
    elif awaited and not awaited.agrees_with(first):
        yield make_finding(case, "async", "the same awaited", f"{first}; awaited {awaited}")
    if changed:
        yield make_finding(case, "changed", "the reference as it was", "it was changed")


def make_finding(case: Case, kind: Kind, expected: str, got: str) -> Finding:
    """Make a finding with its reason and its severity."""
    severity, why = _REASONS.get(kind, (case.severity, case.why))
    if kind in ("raised", "nothing"):
        severity = max(severity, case.severity, key=RANK.__getitem__)
    output, reference = (one_line(quote(value)) for value in (case.output, case.reference))
    return Finding(case.name, kind, expected, got, why, severity, output, reference)
