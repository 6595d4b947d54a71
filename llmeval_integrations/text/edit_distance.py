"""Edit distances of two texts, exact where that can be afforded. Pure functions."""

from __future__ import annotations

from collections.abc import Callable
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

_BLOCK = 8192
_LARGE = 4_000_000  # pairs that take longer to compare than the longer text takes to be read


@cache
def _rapidfuzz(metric: str) -> Any:
    """Return the module of a metric; it is imported when the first distance is measured."""
    from rapidfuzz import distance

    return getattr(distance, METRICS[metric])


@cache
def _unrestricted() -> Callable[[str, str], tuple[int, bool]]:
    """Return the Damerau-Levenshtein distance, whose file imports rapidfuzz."""
    from llmeval_integrations.text.damerau_levenshtein import damerau_levenshtein

    return damerau_levenshtein


def measure(metric: str, one: str, other: str, *, normalized: bool = True) -> tuple[float, bool]:
    """Return the distance of two texts, and whether it is exact.

    Normalised: from 0 to 1, edits by the most that there could be; else the number of edits.
    """
    if metric == "hamming":
        hamming = _rapidfuzz(metric)
        score = hamming.normalized_distance if normalized else hamming.distance
        return score(one, other), True
    if metric in ("jaro", "jaro_winkler"):
        longest = _BLOCK * 10
        score = _rapidfuzz(metric).normalized_distance
        exact = len(one) * len(other) <= longest * longest
        return (score(one, other) if exact else score(one[:longest], other[:longest])), exact
    edits, exact = _measure_edits(metric, one, other)
    if not normalized:
        return edits, exact
    most = _most_edits(metric, one, other)
    return (edits / most if most else 0.0), exact


def count_edits(most: int, one: str, other: str) -> int:
    """Count the edits (Levenshtein) between two texts; of more than `most` give any larger number.

    That is quicker than to count them all. Beyond `exact_reach` the number is an upper bound.
    """
    if len(one) * len(other) <= _LARGE:
        edits: int = _rapidfuzz("levenshtein").distance(one, other, score_cutoff=most)
        return edits
    shorter, longer = sorted(without_common_ends(one, other), key=len)
    grown = len(longer) - len(shorter)
    if grown > most or _is_subsequence(shorter, longer):
        return grown
    counted = min(most, _countable_edits(shorter, longer))
    edits = _rapidfuzz("levenshtein").distance(shorter, longer, score_cutoff=counted)
    if edits <= counted or counted == most:
        return edits
    return _bound_by_blocks("levenshtein", shorter, longer)


def load_levenshtein() -> None:
    """Import what counts edits, for those who count the first ones deep in a recursion.

    An import takes stack, so how deep is too deep would depend on what was measured before.
    """
    _rapidfuzz("levenshtein")


def exact_reach(one: str, other: str) -> int:
    """Give up to how many edits between two texts `count_edits` counts exactly."""
    longest = max(len(one), len(other))
    if len(one) * len(other) <= 64 * MAX_EDIT_CELLS:
        return longest
    shorter, longer = sorted(without_common_ends(one, other), key=len)
    affordable = _countable_edits(shorter, longer)
    is_clear = affordable >= len(longer) or _is_subsequence(shorter, longer)
    return longest if is_clear else affordable


def _countable_edits(shorter: str, longer: str) -> int:
    """Return how many edits can be counted: characters are compared so far from each other."""
    if len(shorter) * len(longer) <= 64 * MAX_EDIT_CELLS:
        return len(longer)
    return 64 * MAX_EDIT_CELLS // (2 * len(shorter))


def _most_edits(metric: str, one: str, other: str) -> int:
    return len(one) + len(other) if metric == "indel" else max(len(one), len(other))


def _measure_edits(metric: str, one: str, other: str) -> tuple[int, bool]:
    """Count edits between what is left of two texts without their common ends."""
    one, other = without_common_ends(one, other)
    if not one or not other:
        return len(one) or len(other), True
    if len(one) * len(other) > _LARGE and _is_subsequence(*sorted((one, other), key=len)):
        return abs(len(one) - len(other)), True
    unrestricted = metric == "damerau_levenshtein"
    if len(one) * len(other) > 64 * MAX_EDIT_CELLS:
        edits = _bound_by_blocks("osa" if unrestricted else metric, one, other)
        return min(edits, _most_edits(metric, one, other)), False
    if unrestricted:
        return _unrestricted()(one, other)
    return _rapidfuzz(metric).distance(one, other), True


def _is_subsequence(shorter: str, longer: str) -> bool:
    """Whether the shorter text is the longer one with characters left out, as where it was cut."""
    rest = iter(longer)
    return all(character in rest for character in shorter)


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
