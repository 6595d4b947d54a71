"""Whether the cost of an evaluator explodes with the length of what it looks at."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Final

from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.conformance.trial import Observation

_FIRST: Final = 1_000
_LAST: Final = 128_000
_ENOUGH: Final = 0.1
_MORE: Final = 2
_LEAST: Final = 0.0005  # what is quicker says nothing of how it grows
_STEEP: Final = 1.5


def make_case(growth: Growth, size: int) -> Case:
    """Make the case of a family that has about so many characters."""
    output, reference = growth.make(size)
    return Case(growth.name, "either", output, reference)


def find_explosion(growth: Growth, ask: Callable[[Case], Observation]) -> str:
    """Say how the cost explodes, nothing where it does not.

    Outputs of 1, 2, 4, … 128 kB are tried until one takes 0.1 s of the processor, which is enough
    to tell. The last three are tried twice more, in turns, and the least time of each counts: the
    machine may be busy for a moment, or slower than before. Time that grows as the length to the
    power of 1.5 or more over these two doublings is too steep, as is an output that takes longer
    than the limit.
    """
    times: dict[int, float] = {}
    size = _FIRST
    while size <= _LAST and max(times.values(), default=0.0) <= _ENOUGH:
        seconds = _seconds(make_case(growth, size), ask)
        if seconds is None:
            return f"no answer at {_kilobytes(size)}" + _format_times(times)
        times[size] = seconds
        size *= 2
    if max(times.values()) <= _ENOUGH:
        return ""
    times = dict(list(times.items())[-3:])
    for _, size in itertools.product(range(_MORE), times):
        times[size] = min(times[size], _seconds(make_case(growth, size), ask) or math.inf)
    power = _power(times)
    return f"time grows as length^{power:.1f}:" + _format_times(times) if power >= _STEEP else ""


def _seconds(case: Case, ask: Callable[[Case], Observation]) -> float | None:
    """Return the quicker of two calls where the first is slow: it may have imported a module.

    None where there is no answer, twice if it takes too long: the machine may have stood still.
    """
    seconds = None
    for _ in range(2):
        seen = ask(case)
        if seen.first.says == "died":
            return None
        if seen.first.says != "slow":
            seconds = seen.seconds if seconds is None else min(seconds, seen.seconds)
            if seconds <= _ENOUGH:
                break
    return seconds


def _power(times: dict[int, float]) -> float:
    """Return the power of the length to which the time grows, from first to last."""
    if len(times) == 1:
        return 0.0
    (first, before), *_, (last, after) = times.items()
    return math.log(max(after, _LEAST) / max(before, _LEAST)) / math.log(last / first)


def _format_times(times: dict[int, float]) -> str:
    shown = list(times.items())[-2:]
    return "".join(f" {seconds:.3f} s at {_kilobytes(size)}" for size, seconds in shown)


def _kilobytes(size: int) -> str:
    return f"{size // 1000} kB"
