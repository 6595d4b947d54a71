"""Chances that rise with a level, learned from counts."""

from __future__ import annotations

from collections.abc import Sequence

from llmeval_integrations.stats.intervals import Share


def isotonic_chances(
    counts: Sequence[Share], priors: Sequence[float], prior_rows: float
) -> list[float]:
    """Return a chance for each level, from the lowest level up, that never falls.

    Each is the share of its rows, with its prior counting for so many rows more; neighbours in the
    wrong order are pooled (isotonic regression by pool adjacent violators: Ayer et al., Ann. Math.
    Stat. 26 (1955) 641).
    """
    pools: list[tuple[float, float, int]] = []  # chance, rows, levels
    for (part, whole), prior in zip(counts, priors):
        size, levels = whole + prior_rows, 1
        chance = prior + (part - whole * prior) / size
        while pools and pools[-1][0] > chance:
            lower, its_size, its_levels = pools.pop()
            chance = (lower * its_size + chance * size) / (its_size + size)
            size, levels = its_size + size, its_levels + levels
        pools.append((chance, size, levels))
    return [chance for chance, _, levels in pools for _ in range(levels)]
