"""Trying an evaluator on hard cases for what it claims to check."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from llmeval_integrations.conformance import claims as bank
from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.conformance.faults import Finding, Findings, find_faults
from llmeval_integrations.conformance.subject import recognize
from llmeval_integrations.conformance.worker import SLOW, Observation, Worker
from llmeval_integrations.core.errors import UnknownNameError
from llmeval_integrations.core.quote import quote

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
        limit: Seconds for a case. After three cases without an answer the rest is skipped.
        seconds: Seconds after which the rest is skipped.
        isolate: Whether to try it in a separate process (on Linux), or else in a thread.

    Raises:
        UnknownNameError: There is no such claim.
        InvalidOptionError: It is not an evaluator.
    """
    claim: Any = getattr(evaluator, "name", None) if claims is None else claims
    if claim not in list_claims():
        raise UnknownNameError(
            "name what the evaluator claims (claims=, --claims): no claim is called "
            f"{quote(claim)}; there are {', '.join(list_claims())}"
        )
    module = import_module(f"{bank.__name__}.{claim}")
    cases = [*module.CASES, *module.GROWTHS]
    worker, start = Worker(recognize(evaluator, claim), isolate=isolate), time.monotonic()
    with closing(worker):
        found, tried = _try(worker, cases, limit, start + seconds)
    spent = time.monotonic() - start
    if tried < len(cases):
        got = f"{tried} of {len(cases)} cases in {spent:.0f} s"
        why = "its behaviour in the other cases is unknown"
        found.append(Finding("all cases", "slow", "an answer in time", got, why))
    wrong_first = sorted(found, key=lambda finding: finding.kind != "wrong")
    return Findings(worker.subject.name, claim, tuple(wrong_first), tried, len(cases), spent)


def list_claims() -> list[str]:
    """List the claims that can be checked."""
    return [found.name for found in iter_modules(bank.__path__)]


def _try(
    worker: Worker, cases: Sequence[Case | Growth], limit: float, end: float
) -> tuple[list[Finding], int]:
    """Try the cases in turn, until the end or too many of them have no answer in time."""
    found: list[Finding] = []
    slow = tried = 0
    for case in cases:
        if slow == _MOST_SLOW or time.monotonic() > end:
            break
        if isinstance(case, Case):
            observation = worker.ask(case, limit if tried else _FIRST_CALL * limit)
            slow += observation is SLOW
            found += find_faults(case, observation)
        else:
            found += _find_explosion(case, partial(worker.ask, limit=limit))
        tried += 1
    return found, tried


def _find_explosion(growth: Growth, ask: Callable[[Case], Observation]) -> Iterator[Finding]:
    """Find a cost that grows with length^1.5 or more, or an output without an answer."""
    times: list[float] = []
    for size in _SIZES:
        observation = ask(growth.case(size))
        if observation.first.says in ("slow", "died"):
            yield Finding.of(growth.case(60), "cost", "linear time", f"no answer at {size:,}")
            return
        times.append(observation.seconds)
    least, most = (max(seconds, _MIN) for seconds in times)
    power = math.log(most / least) / math.log(_SIZES[1] / _SIZES[0])
    if most > _ENOUGH and power >= _STEEP:
        said = (f"{seconds:.3f} s at {size:,}" for seconds, size in zip(times, _SIZES))
        got = f"time grows as length^{power:.1f}: {' '.join(said)} characters"
        yield Finding.of(growth.case(60), "cost", "linear time", got)
