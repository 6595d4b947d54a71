"""Trying an evaluator on hard cases for what it claims to check."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.conformance.faults import RANK, find_faults, make_finding
from llmeval_integrations.conformance.finding import Finding, Findings
from llmeval_integrations.conformance.growth import find_explosion, make_case
from llmeval_integrations.conformance.rules import ListOrder, Rules, list_claims
from llmeval_integrations.conformance.subject import Subject, recognize
from llmeval_integrations.conformance.trial import Observation
from llmeval_integrations.conformance.worker import (
    DIED,
    SLOW,
    ProcessWorker,
    ThreadWorker,
    start_worker,
)
from llmeval_integrations.core.errors import InvalidOptionError, UnknownNameError
from llmeval_integrations.core.quoting import quote

_LOST: Final = 3
_FIRST_CALL: Final = 5


def check_evaluator(
    evaluator: Any,
    claims: str | None = None,
    *,
    list_order: ListOrder = "strict",
    extra_keys: bool = False,
    limit: float = 2.0,
    seconds: float = 30.0,
    isolate: bool = True,
) -> Findings:
    """Try an evaluator on hard cases for what it claims to check, and say where it goes wrong.

    `evaluator` is one of ours, a LangChain `StringEvaluator`, a LlamaIndex `BaseEvaluator`, or a
    function of output and reference, by position or by these names, or as openevals' functions,
    that gives a boolean, a number from 0 to 1, a mapping or an
    object with `score`, or a `Result`; it may be awaited. They are told by their shape.

    `claims` is what it claims: `json_validity`, `json_equality`, `json_match`, `json_schema`, whose
    reference is the schema, or `verdict_reading`, of a function from a judge's reply to "Pass",
    "Fail" or None. One of ours that is called like its claim need not say it.

    The rules are JSON's. A lenient evaluator, which completes what was cut or takes NaN, has
    findings that say so; a fence around the JSON is neither asked for nor held against anyone.
    Where rules differ for good reasons, say which hold: `list_order` is whether the order of array
    items counts (everywhere, nowhere, or but in the outermost array), and `extra_keys` whether the
    output may have keys that the reference lacks.

    Each case is tried twice, and awaited too where that is possible: on Linux in a process of its
    own, elsewhere, or without `isolate`, in a thread. A case has `limit` seconds, the very first
    five times as many, and all of them `seconds`; after three cases without an answer the rest is
    left out, which is a finding. What keeps the interpreter to itself, as a regular expression may,
    can be given up in a process only.

    Raises UnknownNameError for the claim, InvalidOptionError for what is not an evaluator, for an
    option, and for a rule on which nothing of the claim depends.
    """
    rules = Rules(list_order, extra_keys, limit, seconds, isolate)
    claim = _claim_of(evaluator, claims)
    cases, growths = rules.bank(claim)
    check = _Check(recognize(evaluator, claim), rules)
    total = len(cases) + len(growths)
    try:
        for case in cases:
            check.try_case(case)
        for growth in growths:
            check.try_growth(growth)
    except _TimeIsUpError:
        check.found.append(_make_incomplete_finding(check, total))
    finally:
        check.close()
    found = sorted(check.found, key=lambda finding: RANK[finding.severity])
    name = check.subject.name
    return Findings(name, claim, tuple(found), check.tried, total, check.elapsed())


def _claim_of(evaluator: Any, claims: str | None) -> str:
    """Return the claim that was named, else the one that the evaluator is called like."""
    claim = getattr(evaluator, "name", None) if claims is None else claims
    if claim in list_claims():
        return str(claim)
    known = ", ".join(list_claims())
    if claims is None:
        raise InvalidOptionError(
            f"say what {quote(evaluator)} claims (claims=, --claims): one of {known}"
        )
    raise UnknownNameError(f"no claim is called {quote(claims)}; there are {known}")


class _TimeIsUpError(Exception):
    """The rest of the cases is left out."""


@dataclass
class _Check:
    """One evaluator being tried."""

    subject: Subject
    rules: Rules
    found: list[Finding] = field(default_factory=list)
    tried: int = 0
    asked: bool = False
    lost: int = 0
    start: float = field(default_factory=time.monotonic)
    worker: ProcessWorker | ThreadWorker | None = None

    def try_case(self, case: Case) -> None:
        """Try one case."""
        self.found += find_faults(case, self._ask(case))
        self.tried += 1

    def try_growth(self, growth: Growth) -> None:
        """Try one family."""
        if got := find_explosion(growth, lambda case: self._ask(case, once=True)):
            self.found.append(make_finding(make_case(growth, 60), "cost", "linear time", got))
        self.tried += 1

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.start

    def close(self) -> None:
        """Give up the worker."""
        if self.worker is not None:
            self.worker.close()
        self.worker = None

    def _ask(self, case: Case, *, once: bool = False) -> Observation:
        """Ask the worker, or a new one; raise _TimeIsUpError where no time is left."""
        left = self.rules.seconds - self.elapsed()
        if left <= 0 or self.lost >= _LOST:
            raise _TimeIsUpError
        limit = self.rules.limit
        if self.worker is None:
            self.worker = start_worker(self.subject, isolate=self.rules.isolate)
        if not self.asked:
            limit *= _FIRST_CALL  # it may import what it needs
        self.asked = True
        seen = self.worker.ask(case, min(limit, left), once=once)
        if seen not in (SLOW, DIED):
            return seen
        self.close()
        if seen is SLOW and left < limit:
            raise _TimeIsUpError
        self.lost += seen is SLOW
        return seen


def _make_incomplete_finding(check: _Check, total: int) -> Finding:
    got = f"{check.tried} of {total} cases in {check.elapsed():.0f} s"
    why = "what it does in the other cases is not known"
    return Finding("all cases", "slow", "an answer in time", got, why, "high")
