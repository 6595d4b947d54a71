"""What groups cost an estimate that is more than a mean: by the influence of each row."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from llmeval_integrations.stats.groups import degrees_of_freedom


class DesignEffect(NamedTuple):
    """How much less rows in groups say than as many independent rows."""

    factor: float
    """By how much their number is divided; 1 or more."""

    freedom: int
    """The degrees of freedom of Student's distribution that are left."""


def design_effect(influences: Iterable[tuple[Hashable, float]]) -> DesignEffect | None:
    """Return what groups cost an estimate; None of a single group.

    influences: for each row its group, None for a row of its own, and how far the row moves the
        estimate away from what it would be without it.

    The variance of an estimate is the sum of the squares of the influences, summed by group where
    rows belong together (Liang and Zeger, Biometrika 73 (1986) 13). Groups are never taken for
    better than independent rows.
    """
    sums: dict[Hashable, float] = defaultdict(float)
    squares, rows = 0.0, 0
    for group, influence in influences:
        rows += 1
        squares += influence * influence
        sums[("row", rows) if group is None else ("group", group)] += influence
    count = len(sums)
    if count == rows:
        return DesignEffect(1.0, max(1, rows - 1))
    if count < 2:
        return None
    between = math.fsum(each * each for each in sums.values()) * count / (count - 1)
    factor = max(1.0, between / squares) if squares else rows / count
    return DesignEffect(factor, degrees_of_freedom([*sums.values()], count - 1))
