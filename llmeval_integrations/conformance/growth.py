"""Whether the cost of an evaluator explodes with the length of what it looks at."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from llmeval_integrations.conformance.case import Case, Growth
from llmeval_integrations.conformance.worker import Observation

_FIRST: Final = 1_000
_LAST: Final = 128_000
_ENOUGH: Final = 0.1
_MIN: Final = 0.0005  # what is quicker says nothing of how it grows
_STEEP: Final = 1.5


def find_explosion(growth: Growth, ask: Callable[[Case], Observation]) -> str:
    """Say how the cost explodes, nothing where it does not.

    Outputs of 1, 2, 4, ... 128 kB are tried until one takes 0.1 s of the processor. The last three
    are tried twice more, in turns, and the least time of each counts: the machine may be busy. Time
    that grows as length^1.5 or more over these is too steep, as is an output without an answer.
    """
    times: dict[int, float] = {}
    size = _FIRST
    while size <= _LAST and max(times.values(), default=0.0) <= _ENOUGH:
        seconds = _measure(growth.case(size), ask)
        if seconds is None:
            return f"no answer at {size // 1000} kB{_format_times(times)}"
        times[size] = seconds
        size *= 2
    if max(times.values()) <= _ENOUGH:
        return ""
    last = [*times][-3:]
    for size in last * 2:
        times[size] = min(times[size], _measure(growth.case(size), ask) or math.inf)
    least, most = (max(times[size], _MIN) for size in (last[0], last[-1]))
    power = math.log(most / least) / math.log(last[-1] / last[0]) if len(last) > 1 else 0.0
    return f"time grows as length^{power:.1f}:{_format_times(times)}" if power >= _STEEP else ""


def _measure(case: Case, ask: Callable[[Case], Observation]) -> float | None:
    """Return the quicker of two calls where the first is slow: it may have imported a module.

    None where there is no answer, twice if it takes too long: the machine may have stood still.
    """
    seconds = None
    for _ in range(2):
        observation = ask(case)
        if observation.first.says == "died":
            return None
        if observation.first.says != "slow":
            seconds = min(seconds or math.inf, observation.seconds)
            if seconds <= _ENOUGH:
                break
    return seconds


def _format_times(times: dict[int, float]) -> str:
    last = list(times.items())[-2:]
    return "".join(f" {seconds:.3f} s at {size // 1000} kB" for size, seconds in last)
