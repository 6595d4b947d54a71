"""Edit distances of two texts, exact where that can be afforded. Pure functions."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from llmeval_integrations.core.limits import MAX_EDIT_CELLS
from llmeval_integrations.text.common_ends import without_common_ends

METRICS: Final[dict[str, str]] = {
    "damerau_levenshtein": "DamerauLevenshtein",
    "osa": "OSA",
    "levenshtein": "Levenshtein",
    "indel": "Indel",
    "hamming": "Hamming",
    "jaro": "Jaro",
    "jaro_winkler": "JaroWinkler",
}
"""The metrics' names, and what rapidfuzz calls them.

Two texts that differ in MAX_EDIT_CELLS pairs of characters, 10,000 on each side, take 0.1 s. All
metrics but damerau_levenshtein compare 64 pairs at once and have 64 times that. Beyond it an edit
distance is an upper bound, a Jaro distance that of the texts' beginnings, and the result says so.
"""

_MOST_CELLS: Final = 64 * MAX_EDIT_CELLS
_BLOCK: Final = 8_192
_JARO: Final = 80_000
"""Characters of which two texts have MAX_EDIT_CELLS, 64 at once."""


@cache
def _rapidfuzz(metric: str) -> Any:
    """Return the module of a metric; it is imported when the first distance is measured."""
    from rapidfuzz import distance

    return getattr(distance, METRICS[metric])


def measure(metric: str, one: str, other: str, *, normalized: bool = True) -> tuple[float, bool]:
    """Return the distance of two texts, and whether it is exact.

    Normalised: from 0 to 1, edits by the most that there could be; else the number of edits.
    """
    if metric == "hamming":
        hamming = _rapidfuzz(metric)
        score = hamming.normalized_distance if normalized else hamming.distance
        return score(one, other), True
    if metric in ("jaro", "jaro_winkler"):
        exact = len(one) * len(other) <= _JARO**2
        pair = (one, other) if exact else (one[:_JARO], other[:_JARO])
        return _rapidfuzz(metric).normalized_distance(*pair), exact
    most = len(one) + len(other) if metric == "indel" else max(len(one), len(other))
    edits, exact = _measure_edits(metric, *without_common_ends(one, other))
    edits = min(edits, most)
    if not normalized:
        return edits, exact
    return (edits / most if most else 0.0), exact


def _measure_edits(metric: str, one: str, other: str) -> tuple[int, bool]:
    """Count edits between what is left of two texts without their common ends."""
    if not one or not other:
        return len(one) or len(other), True
    unrestricted = metric == "damerau_levenshtein"
    if len(one) * len(other) > _MOST_CELLS:
        return _bound_by_blocks("osa" if unrestricted else metric, one, other), False
    if unrestricted:
        # Its file imports rapidfuzz.
        from llmeval_integrations.text.damerau_levenshtein import damerau_levenshtein

        return damerau_levenshtein(one, other)
    return _rapidfuzz(metric).distance(one, other), True


def count_edits(most: int, one: str, other: str) -> int:
    """Count the edits (Levenshtein) between two texts; of more than `most` give any larger number.

    That is quicker than to count them all. Beyond `exact_reach` the number is an upper bound.
    """
    counted = min(most, exact_reach(one, other))
    edits: int = _rapidfuzz("levenshtein").distance(one, other, score_cutoff=counted)
    if edits <= counted or counted == most:
        return edits
    return max(_bound_by_blocks("levenshtein", one, other), edits)


def exact_reach(one: str, other: str) -> int:
    """Give up to how many edits between two texts `count_edits` counts exactly.

    Of long texts characters are compared only so far from each other.
    """
    longest = max(len(one), len(other))
    if len(one) * len(other) <= _MOST_CELLS:
        return longest
    return _MOST_CELLS // (2 * min(len(one), len(other)))


def load_levenshtein() -> None:
    """Import what counts edits, for those who count the first ones deep in a recursion.

    An import takes stack, so how deep is too deep would depend on what was measured before.
    """
    _rapidfuzz("levenshtein")


def _bound_by_blocks(metric: str, one: str, other: str) -> int:
    """Bound the distance from above: cut both texts into as many blocks and edit each."""
    distance = _rapidfuzz(metric).distance
    blocks = -(-max(len(one), len(other)) // _BLOCK)
    return sum(
        distance(
            one[len(one) * n // blocks : len(one) * (n + 1) // blocks],
            other[len(other) * n // blocks : len(other) * (n + 1) // blocks],
        )
        for n in range(blocks)
    )
