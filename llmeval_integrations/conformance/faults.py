"""The faults that an observation shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from llmeval_integrations.conformance.case import FITTING, Case, Severity
from llmeval_integrations.conformance.finding import Finding, Kind
from llmeval_integrations.conformance.trial import Observation
from llmeval_integrations.core.printable import one_line
from llmeval_integrations.core.quoting import quote

RANK: Final[dict[Severity, int]] = {"high": 0, "medium": 1, "low": 2}
_SEVERITY: Final[dict[Kind, Severity]] = {
    "raised": "medium",
    "nothing": "medium",
    "cost": "medium",
    "changed": "medium",
}
_WHY: Final[dict[Kind, str]] = {
    "raised": "what a model wrote ends the run, or loses the row",
    "nothing": "the row has no score, and the figure stands on fewer",
    "unclear": "what is neither yes nor no is averaged all the same",
    "slow": "one output holds up all others",
    "died": "one output ends the process, and the run with it",
    "unsteady": "the figure changes from run to run",
    "async": "the figure depends on how the evaluator is called",
    "changed": "the next sample is compared with something else",
    "cost": "one long output holds up all others",
}
"""Why a fault matters that is no wrong answer."""

_TEXTS: Final[dict[Kind, str]] = {
    "slow": "no answer in time",
    "died": "the end of its process",
}


def find_faults(case: Case, observation: Observation) -> Iterator[Finding]:
    """Find a wrong answer, or one that changes, and a reference that was changed."""
    first, again, awaited = observation.first, observation.again, observation.awaited
    if first.says not in FITTING[case.expected]:
        if first.says in ("raised", "nothing", "unclear", "slow", "died"):
            kind: Kind = first.says
            got = first.text or _TEXTS[kind]
        else:
            kind, got = "wrong", f"{first.says}: {first.text}"
        yield make_finding(case, kind, case.expected, got)
    elif again and not again.agrees_with(first):
        yield make_finding(case, "unsteady", "the same twice", f"{first.text}, then {again.text}")
    elif awaited and not awaited.agrees_with(first):
        differ = first.says != awaited.says
        texts = [answer.says if differ else answer.text for answer in (first, awaited)]
        got = f"{texts[0]}; awaited: {texts[1]}"
        yield make_finding(case, "async", "the same awaited", got)
    if observation.changed:
        yield make_finding(case, "changed", "the reference as it was", "it was changed")


def make_finding(case: Case, kind: Kind, expected: str, got: str) -> Finding:
    """Make a finding with its reason and its severity."""
    severity: Severity = case.severity if kind == "wrong" else _SEVERITY.get(kind, "high")
    if kind in ("raised", "nothing"):
        severity = max(severity, case.severity, key=RANK.__getitem__)
    why = case.why if kind == "wrong" else _WHY[kind]
    texts = [one_line(quote(value)) for value in (case.output, case.reference)]
    return Finding(case.name, kind, expected, got, why, severity, *texts)
