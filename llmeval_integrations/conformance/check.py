"""Trying an evaluator on hard cases for what it claims to check."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, Literal, get_args

from llmeval_integrations.conformance import claims as bank
from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.conformance.faults import RANK, Finding, Findings, find_faults
from llmeval_integrations.conformance.subject import Subject, recognize
from llmeval_integrations.conformance.worker import DIED, SLOW, Observation, Worker
from llmeval_integrations.core.errors import InvalidOptionError, UnknownNameError
from llmeval_integrations.core.options import check_number
from llmeval_integrations.core.quote import quote

ListOrder = Literal["strict", "any", "top_level_any"]
"""Where the order of array items counts: everywhere, nowhere, or except in the outermost array."""

_MOST_SLOW: Final = 3
_FIRST_CALL: Final = 5
"""The factor of the limit for the first call, which may import modules."""

_SIZES: Final = (16_000, 128_000)
_ENOUGH: Final = 0.1
_MIN: Final = 0.0005  # shorter times do not show how the cost grows
_STEEP: Final = 1.5


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
    """Try an evaluator on hard cases for what it claims to check, and return its faults.

    The rules are the rules of JSON, so a lenient evaluator has findings.

    Args:
        evaluator: An evaluator of ours, LangChain or LlamaIndex, or a function of output and
            reference that returns a boolean, a number from 0 to 1, or a mapping or object with
            `score`.
        claims: `json_validity`, `json_equality`, `json_match`, or `json_schema` (the reference is
            the schema). Not needed if our evaluator has the name of its claim.
        list_order: Whether the order of array items counts.
        extra_keys: Whether the output may have keys that the reference lacks.
        limit: Seconds for a case. After three cases without an answer the rest is skipped.
        seconds: Seconds for all cases.
        isolate: Whether to try it in a separate process (on Linux), or else in a thread.

    Raises:
        UnknownNameError: There is no such claim.
        InvalidOptionError: An option is wrong.
    """
    claim: Any = getattr(evaluator, "name", None) if claims is None else claims
    cases = select(claim, list_order, extra_keys=extra_keys)
    return _Trial(recognize(evaluator, claim), claim, limit, seconds, isolate).run(cases)


def list_claims() -> list[str]:
    """List the claims that can be checked."""
    return [found.name for found in iter_modules(bank.__path__)]


def select(claim: str, list_order: str, *, extra_keys: bool) -> list[Case | Growth]:
    """Return the cases and growths of a claim that have one right answer under these rules."""
    if claim not in list_claims():
        raise UnknownNameError(
            "name what the evaluator claims (claims=, --claims): no claim is called "
            f"{quote(claim)}; there are {', '.join(list_claims())}"
        )
    if list_order not in get_args(ListOrder):
        raise InvalidOptionError(
            f"check_evaluator: list_order={quote(list_order)} is one of "
            f"{', '.join(get_args(ListOrder))}"
        )
    rules: dict[str, Any] = {"list_order": list_order, "extra_keys": extra_keys}
    module = import_module(f"{bank.__name__}.{claim}")
    cases: list[Case | Growth] = [*module.CASES, *module.GROWTHS]
    return [each for each in cases if all(rules[name] in kept for name, kept in each.only.items())]


class _TimeIsUpError(Exception):
    """No time is left for further cases."""


@dataclass
class _Trial:
    """The trial of one evaluator; a worker that fails is replaced by a new one."""

    subject: Subject
    claim: str
    limit: float
    seconds: float
    isolate: bool
    tried: int = 0
    slow: int = 0
    start: float = field(default_factory=time.monotonic)
    worker: Worker | None = None
    name = "check_evaluator"

    def __post_init__(self) -> None:
        check_number(self, "limit", minimum=0.001)
        check_number(self, "seconds", minimum=0.001)

    def run(self, cases: Sequence[Case | Growth]) -> Findings:
        """Try all cases, as far as the time allows."""
        found: list[Finding] = []
        try:
            for case in cases:
                found += self.find(case)
                self.tried += 1
        except _TimeIsUpError:
            got = f"{self.tried} of {len(cases)} cases in {self.age():.0f} s"
            why = "its behaviour in the other cases is unknown"
            found.append(Finding("all cases", "slow", "an answer in time", got, why, "high"))
        finally:
            self.close()
        ranked = tuple(sorted(found, key=lambda finding: RANK.index(finding.severity)))
        name, count = self.subject.name, len(cases)
        return Findings(name, self.claim, ranked, self.tried, count, self.age())

    def find(self, case: Case | Growth) -> list[Finding]:
        """Try a case twice, and once with await if the evaluator supports it."""
        if isinstance(case, Case):
            return [*find_faults(case, self.ask(case))]
        got = _find_explosion(case, lambda case: self.ask(case, once=True))
        return [Finding.of(case.case(60), "cost", "linear time", got)] if got else []

    def age(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.start

    def close(self) -> None:
        """Close the worker."""
        if self.worker is not None:
            self.worker.close()
        self.worker = None

    def ask(self, case: Case, *, once: bool = False) -> Observation:
        """Ask the worker, or a new one; raise _TimeIsUpError if no time is left."""
        left = self.seconds - self.age()
        if left <= 0 or self.slow >= _MOST_SLOW:
            raise _TimeIsUpError
        limit = self.limit * (1 if self.tried else _FIRST_CALL)
        if self.worker is None:
            self.worker = Worker(self.subject, isolate=self.isolate)
        observation = self.worker.ask(case, min(limit, left), once=once)
        if observation in (SLOW, DIED):
            self.close()
            if observation is SLOW and left < limit:
                raise _TimeIsUpError
            self.slow += observation is SLOW
        return observation


def _find_explosion(growth: Growth, ask: Callable[[Case], Observation]) -> str:
    """Describe how the cost explodes; return an empty text if it does not.

    Time that grows as length^1.5 or more is too steep. An output without an answer is, too.
    """
    times: list[float] = []
    for size in _SIZES:
        # The first call may import a module, or the machine may be busy.
        answers = (ask(growth.case(size)) for _ in range(2))
        answered = [each.seconds for each in answers if each.first.says not in ("slow", "died")]
        if not answered:
            return f"no answer at {size // 1000} kB"
        times.append(min(answered))
    least, most = (max(seconds, _MIN) for seconds in times)
    power = math.log(most / least) / math.log(_SIZES[1] / _SIZES[0])
    if most <= _ENOUGH or power < _STEEP:
        return ""
    said = (f"{seconds:.3f} s at {size // 1000} kB" for seconds, size in zip(times, _SIZES))
    return f"time grows as length^{power:.1f}: {' '.join(said)}"
