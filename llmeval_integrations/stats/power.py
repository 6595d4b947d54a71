"""How small a difference a comparison can show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from llmeval_integrations.stats.intervals import z_of

POWER: Final = 0.8
"""The chance with which a difference of that size is shown."""


def detectable(differences: Sequence[float], n: int, level: float) -> float | None:
    """Return the smallest mean difference that would be shown with 80 % power.

    differences: those of independent rows; where rows come in groups, the sum of each group.
    n: all rows.
    level: the chance of a false alarm that is left to this difference.

    The normal formula, (z of the level + z of the power) × standard error (Connor, Biometrics 43
    (1987) 207). The standard error is that of differences that turn their signs, and no smaller
    than if all that changed had changed the same way; where nothing changed, a change is taken for
    one of 1 in each row of a group. None of so few differences that they could show nothing.
    """
    if len(differences) < fewest_differences(level):
        return None
    reach = z_of(1 - level) + z_of(2 * POWER - 1)
    squares = math.fsum(each * each for each in differences)
    size = squares / math.fsum(map(abs, differences)) if squares else n / len(differences)
    return max(reach * math.sqrt(squares) / n, reach * reach * size / n)


def fewest_differences(level: float) -> int:
    """Return how many independent differences, all one way, a p of `level` or less takes."""
    return math.ceil(1 - math.log2(level))
