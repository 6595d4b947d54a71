"""How often at least one of several tries of a task passes, and how often all of them pass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final, NamedTuple

from llmeval_integrations.stats.intervals import Figures, Group, mean_interval

_KS: Final = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)
"""The numbers of tries that are reported."""


class Tries(NamedTuple):
    """How often one task was tried, and how many of these tries passed."""

    passes: int
    n: int


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


def repeats(tasks: Mapping[Tries, int]) -> list[dict[str, Any]]:
    """Return pass@k and pass^k for each reported k, if at least half of the tasks have k tries.

    `tasks` counts the tasks by their tries. Each figure has its 95 % interval over the tasks with
    at least k tries, which is None for a single task whose tries differ.
    """
    count, most = sum(tasks.values()), max((each.n for each in tasks), default=0)
    found = []
    for k in (each for each in _KS if each <= most):
        enough = {tries: times for tries, times in tasks.items() if tries.n >= k}
        if 2 * sum(enough.values()) < count:
            break
        row: dict[str, Any] = {"k": k, "tasks": sum(enough.values())}
        for name, chance in (("pass_at_k", pass_at_k), ("pass_hat_k", pass_hat_k)):
            chances = ([chance(tries, k)] * times for tries, times in enough.items())
            values = [*chain.from_iterable(chances)]
            figures = Figures.of(values)
            row[name] = figures.mean
            row[f"{name}_ci95"] = mean_interval(figures, [Group(1, each) for each in values])
        found.append(row)
    return found
