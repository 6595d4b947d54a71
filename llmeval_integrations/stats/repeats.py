"""Tasks that were tried several times: how often any try passes, and how often all do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from llmeval_integrations.stats.groups import Figures, Group, mean_interval
from llmeval_integrations.stats.intervals import Interval

_KS: Final = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)
"""The numbers of tries of which something is said."""


class Tries(NamedTuple):
    """How often one task was tried, and how often that passed."""

    passes: int
    n: int


class Repeats(NamedTuple):
    """What comes of k tries of a task, over all tasks that have as many."""

    k: int
    tasks: int
    """How many tasks have k tries or more."""

    pass_at_k: float
    """The chance that at least one of k tries passes."""

    pass_at_k_ci95: Interval | None
    """Its 95 % interval over tasks; None of a single task with tries that differ."""

    pass_hat_k: float
    """The chance that all k tries pass."""

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
    """Return pass@k and pass^k for each k that at least half of the tasks have tries for.

    `tasks` counts the tasks by their tries. Of very many tries, not every k.
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
    """Return the mean of values that occur so many times, with its interval."""
    all_values = [value for value, times in values for _ in range(times)]
    figures = Figures.of(all_values)
    return figures.mean, mean_interval(figures, [Group(1, value) for value in all_values])
