"""Trying an evaluator on hard cases for what it claims to check."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any, Final, Literal, get_args

from llmeval_integrations.conformance import claims as bank
from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.conformance.faults import RANK, Finding, Findings, find_faults
from llmeval_integrations.conformance.subject import recognize
from llmeval_integrations.conformance.worker import SLOW, Observation, Worker
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
    options = SimpleNamespace(name="check_evaluator", limit=limit, seconds=seconds)
    claim: Any = getattr(evaluator, "name", None) if claims is None else claims
    cases = select(claim, list_order, extra_keys=extra_keys)
    for name in ("limit", "seconds"):
        check_number(options, name, minimum=0.001)
    worker = Worker(recognize(evaluator, claim), isolate=isolate)
    with closing(worker):
        return _try(worker, claim, cases, options.limit, options.seconds)


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


def _try(
    worker: Worker, claim: str, cases: Sequence[Case | Growth], limit: float, seconds: float
) -> Findings:
    """Try all cases, as far as the time allows."""
    start, tried, slow = time.monotonic(), 0, 0
    found: list[Finding] = []

    def age() -> float:
        return time.monotonic() - start

    def ask(case: Case, *, once: bool = False) -> Observation:
        nonlocal slow
        left, longest = seconds - age(), limit * (1 if tried else _FIRST_CALL)
        if left <= 0 or slow >= _MOST_SLOW:
            raise _TimeIsUpError
        observation = worker.ask(case, min(longest, left), once=once)
        if observation is SLOW and left < longest:
            raise _TimeIsUpError
        slow += observation is SLOW
        return observation

    try:
        for case in cases:
            if isinstance(case, Case):
                found += find_faults(case, ask(case))
            elif got := _find_explosion(case, partial(ask, once=True)):
                found.append(Finding.of(case.case(60), "cost", "linear time", got))
            tried += 1
    except _TimeIsUpError:
        got = f"{tried} of {len(cases)} cases in {age():.0f} s"
        why = "its behaviour in the other cases is unknown"
        found.append(Finding("all cases", "slow", "an answer in time", got, why, "high"))
    ranked = tuple(sorted(found, key=lambda finding: RANK.index(finding.severity)))
    return Findings(worker.subject.name, claim, ranked, tried, len(cases), age())


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
