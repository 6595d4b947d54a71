"""How often at least one of several tries of a task passes, and how often all of them pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from llmeval_integrations.stats.intervals import Figures, Group, Interval, mean_interval

_KS: Final = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)
"""The numbers of tries that are reported."""


class Tries(NamedTuple):
    """How often one task was tried, and how many of these tries passed."""

    passes: int
    n: int


class Repeats(NamedTuple):
    """The pass rates of k tries, over all tasks with at least k tries."""

    k: int
    tasks: int  # how many tasks have at least k tries
    pass_at_k: float  # the chance that at least one of k tries passes
    pass_at_k_ci95: Interval | None
    """Its 95 % interval over tasks; None for a single task whose tries differ."""

    pass_hat_k: float  # the chance that all k tries pass
    pass_hat_k_ci95: Interval | None


def pass_at_k(tries: Tries, k: int) -> float:
    """Return the unbiased chance that at least one of k tries passes; k is at most `tries.n`.

    1 - C(n - c, k) / C(n, k): Chen et al., Evaluating Large Language Models Trained on Code,
    arXiv:2107.03374 (2021).
    """
    return 1 - math.comb(tries.n - tries.passes, k) / math.comb(tries.n, k)


def pass_hat_k(tries: Tries, k: int) -> float:
    """Return the unbiased chance that all of k tries pass; k is at most `tries.n`.

    C(c, k) / C(n, k): Yao et al., tau-bench, arXiv:2406.12045 (2024).
    """
    return math.comb(tries.passes, k) / math.comb(tries.n, k)


def repeats(tasks: Mapping[Tries, int]) -> list[Repeats]:
    """Return pass@k and pass^k for each reported k, if at least half of the tasks have k tries.

    `tasks` counts the tasks by their tries.
    """
    count, most = sum(tasks.values()), max((each.n for each in tasks), default=0)
    found = []
    for k in (each for each in _KS if each <= most):
        enough = {tries: times for tries, times in tasks.items() if tries.n >= k}
        if 2 * sum(enough.values()) < count:
            break
        any_passes = _mean((pass_at_k(tries, k), times) for tries, times in enough.items())
        all_pass = _mean((pass_hat_k(tries, k), times) for tries, times in enough.items())
        found.append(Repeats(k, sum(enough.values()), *any_passes, *all_pass))
    return found


def _mean(values: Iterable[tuple[float, int]]) -> tuple[float, Interval | None]:
    """Return the mean of values, each given with its count, and its interval."""
    all_values = [value for value, times in values for _ in range(times)]
    figures = Figures.of(all_values)
    return figures.mean, mean_interval(figures, [Group(1, value) for value in all_values])
