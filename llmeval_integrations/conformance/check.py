"""Trying an evaluator on hard cases for what it claims to check."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, Literal, get_args

from llmeval_integrations.conformance import claims as bank
from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.conformance.faults import RANK, find_faults, make_finding
from llmeval_integrations.conformance.finding import Finding, Findings
from llmeval_integrations.conformance.growth import find_explosion
from llmeval_integrations.conformance.subject import Subject, recognize
from llmeval_integrations.conformance.worker import DIED, SLOW, Observation, Worker
from llmeval_integrations.core.errors import InvalidOptionError, UnknownNameError
from llmeval_integrations.core.options import check_choice, check_flag, check_number
from llmeval_integrations.core.quoting import quote

ListOrder = Literal["strict", "any", "top_level_any"]
"""Whether the order of array items counts: everywhere, nowhere, or but in the outermost array."""

_USUAL: Final = {"list_order": "strict", "extra_keys": False}
_MOST_SLOW: Final = 3
_FIRST_CALL: Final = 5
"""How many times the limit the first call has: it may import what it needs."""


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

    The rules are JSON's: a lenient evaluator has findings that say so.

    Args:
        evaluator: One of ours, LangChain's, LlamaIndex's, or a function of output and reference,
            which gives a boolean, a number from 0 to 1, a mapping or an object with `score`.
        claims: `json_validity`, `json_equality`, `json_match`, `json_schema`, whose reference is
            the schema, or `verdict_reading`, of a function from a judge's reply to "Pass", "Fail"
            or None. One of ours that is called like its claim need not say it.
        list_order: Whether the order of array items counts.
        extra_keys: Whether the output may have keys that the reference lacks.
        limit: Seconds for a case. After three cases without an answer the rest is left out.
        seconds: Seconds for all cases.
        isolate: Whether to try it in a process of its own, on Linux; else in a thread.

    Raises:
        UnknownNameError: There is no such claim.
        InvalidOptionError: An option is wrong, or nothing of the claim depends on it.
    """
    rules = Rules(list_order, extra_keys, limit, seconds, isolate)
    claim = _claim_of(evaluator, claims)
    chosen = rules.select(claim)
    check = _Check(recognize(evaluator, claim), rules)
    try:
        return check.run(claim, *chosen)
    finally:
        check.close()


def list_claims() -> list[str]:
    """List what can be checked."""
    return [found.name for found in iter_modules(bank.__path__)]


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


@dataclass(frozen=True)
class Rules:
    """The options of `check_evaluator`."""

    list_order: str
    extra_keys: bool
    limit: float
    seconds: float
    isolate: bool
    name = "check_evaluator"

    def __post_init__(self) -> None:
        check_choice(self, "list_order", get_args(ListOrder))
        check_flag(self, "extra_keys")
        check_number(self, "limit", minimum=0.001)
        check_number(self, "seconds", minimum=0.001)
        check_flag(self, "isolate")

    def select(self, claim: str) -> tuple[list[Case], list[Growth]]:
        """Return the cases and families of a claim that have one right answer under these rules.

        Raises InvalidOptionError for a rule on which nothing of this claim depends.
        """
        module = import_module(f"{bank.__name__}.{claim}")
        decisive = {name for each in (*module.CASES, *module.GROWTHS) for name in each.only}
        for name, usual in _USUAL.items():
            if getattr(self, name) != usual and name not in decisive:
                raise InvalidOptionError(
                    f"{self.name}: nothing of {claim} depends on {name}; leave it out"
                )

        def is_decided(each: Case | Growth) -> bool:
            return all(getattr(self, name) in values for name, values in each.only.items())

        return [*filter(is_decided, module.CASES)], [*filter(is_decided, module.GROWTHS)]


class _TimeIsUpError(Exception):
    """The rest of the cases is left out."""


@dataclass
class _Check:
    """One evaluator being tried, by one worker after the other."""

    subject: Subject
    rules: Rules
    found: list[Finding] = field(default_factory=list)
    tried: int = 0
    slow: int = 0
    start: float = field(default_factory=time.monotonic)
    worker: Worker | None = None

    def run(self, claim: str, cases: list[Case], growths: list[Growth]) -> Findings:
        """Try all cases of a claim, twice each, and awaited where that is possible."""
        total = len(cases) + len(growths)
        try:
            for case in cases:
                self.found += find_faults(case, self.ask(case))
                self.tried += 1
            for growth in growths:
                if got := find_explosion(growth, lambda case: self.ask(case, once=True)):
                    self.found.append(make_finding(growth.case(60), "cost", "linear time", got))
                self.tried += 1
        except _TimeIsUpError:
            got = f"{self.tried} of {total} cases in {self.elapsed():.0f} s"
            why = "what it does in the other cases is not known"
            self.found.append(Finding("all cases", "slow", "an answer in time", got, why, "high"))
        found = sorted(self.found, key=lambda finding: RANK[finding.severity])
        name = self.subject.name
        return Findings(name, claim, tuple(found), self.tried, total, self.elapsed())

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.start

    def close(self) -> None:
        """Give up the worker."""
        if self.worker is not None:
            self.worker.close()
        self.worker = None

    def ask(self, case: Case, *, once: bool = False) -> Observation:
        """Ask the worker, or a new one; raise _TimeIsUpError where no time is left."""
        left = self.rules.seconds - self.elapsed()
        if left <= 0 or self.slow >= _MOST_SLOW:
            raise _TimeIsUpError
        limit = self.rules.limit * (1 if self.tried else _FIRST_CALL)
        if self.worker is None:
            self.worker = Worker(self.subject, isolate=self.rules.isolate)
        observation = self.worker.ask(case, min(limit, left), once=once)
        if observation in (SLOW, DIED):
            self.close()
            if observation is SLOW and left < limit:
                raise _TimeIsUpError
            self.slow += observation is SLOW
        return observation
