"""Edit distances of two texts, exact if that does not take too long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, Literal

from llmeval_integrations.core.limits import MAX_EDIT_CELLS

Metric = Literal[
    "damerau_levenshtein", "osa", "levenshtein", "indel", "hamming", "jaro", "jaro_winkler"
]

METRICS: Final[dict[str, str]] = {
    "damerau_levenshtein": "DamerauLevenshtein",
    "osa": "OSA",
    "levenshtein": "Levenshtein",
    "indel": "Indel",
    "hamming": "Hamming",
    "jaro": "Jaro",
    "jaro_winkler": "JaroWinkler",
}
"""The metrics, with their names in rapidfuzz."""

_MOST_CELLS: Final = 64 * MAX_EDIT_CELLS
"""The limit of all metrics but damerau_levenshtein, which compare 64 pairs of characters at once.
Beyond it, the distance is an upper bound."""

_SMALL: Final = 4_096
"""Texts with so few pairs of characters are compared at once."""

_JARO: Final = 80_000
"""The longest texts for an exact Jaro distance; of longer ones, only the beginnings count."""


@cache
def _rapidfuzz(metric: str) -> Any:
    """Return the module of a metric; it is imported with the first distance."""
    from rapidfuzz import distance

    return getattr(distance, METRICS[metric])


def measure(metric: str, one: str, other: str, *, normalized: bool = True) -> tuple[float, bool]:
    """Return the distance of two texts, and whether it is exact.

    It is normalized to 0 to 1, or else the number of edits.
    """
    if metric == "hamming":
        module = _rapidfuzz(metric)
        score = module.normalized_distance if normalized else module.distance
        return score(one, other), True
    if metric in ("jaro", "jaro_winkler"):
        exact = len(one) * len(other) <= _JARO**2
        pair = (one, other) if exact else (one[:_JARO], other[:_JARO])
        return _rapidfuzz(metric).normalized_distance(*pair), exact
    edits, exact = _measure_edits(metric, *strip_common_ends(one, other))
    if not normalized:
        return edits, exact
    most = len(one) + len(other) if metric == "indel" else max(len(one), len(other))
    return (edits / most if most else 0.0), exact


def _measure_edits(metric: str, one: str, other: str) -> tuple[int, bool]:
    """Count the edits between two texts without their common ends."""
    if not one or not other:
        return len(one) or len(other), True
    if len(one) * len(other) > _MOST_CELLS:
        fast = metric if metric == "indel" else "levenshtein"  # at least the distance by `metric`
        reach = _exact_reach(one, other)
        edits: int = _rapidfuzz(fast).distance(one, other, score_cutoff=reach)
        if edits <= reach:
            return edits, metric == fast
        return (len(one) + len(other) if metric == "indel" else max(len(one), len(other))), False
    if metric == "damerau_levenshtein":
        return _measure_unrestricted(one, other)
    return _rapidfuzz(metric).distance(one, other), True


def count_edits(most: int, one: str, other: str) -> int:
    """Count the edits (Levenshtein) between two texts; return any larger number if beyond `most`.

    This is faster than an unlimited count. Beyond `_exact_reach`, the number is an upper bound.
    """
    counted = min(most, _exact_reach(one, other))
    edits: int = _rapidfuzz("levenshtein").distance(one, other, score_cutoff=counted)
    return edits if edits <= counted or counted == most else max(len(one), len(other))


def _exact_reach(one: str, other: str) -> int:
    """Return up to how many edits between two texts are counted exactly.

    In long texts, characters are only compared with those nearby.
    """
    if len(one) * len(other) <= _MOST_CELLS:
        return max(len(one), len(other))
    return _MOST_CELLS // (2 * min(len(one), len(other)))


# --- the unrestricted Damerau-Levenshtein distance, by pieces of the texts ----------------------


def _measure_unrestricted(one: str, other: str, *, is_piece: bool = False) -> tuple[int, bool]:
    """Count insertions, deletions, substitutions and swaps, also with edits between swapped ones.

    rapidfuzz takes quadratic time for it, 10 to 75 times as long as for the restricted distance
    (OSA). That one is an upper bound. If it equals a lower bound, it is the answer. Otherwise, the
    texts are cut where every cheap alignment must match them. For JSON of some kilobytes, this is
    2.4 times as fast.
    """
    restricted: int = _rapidfuzz("osa").distance(one, other)
    if restricted <= 2 or restricted == abs(len(one) - len(other)):
        return restricted, True
    if not is_piece:
        parts = [
            _measure_unrestricted(*strip_common_ends(*pair), is_piece=True)
            for pair in _pieces(one, other, restricted)
        ]
        return sum(edits for edits, _ in parts), all(exact for _, exact in parts)
    if len(one) * len(other) > _SMALL and restricted == _bag_distance(one, other):
        return restricted, True
    if len(one) * len(other) > MAX_EDIT_CELLS:
        return restricted, False
    return _rapidfuzz("damerau_levenshtein").distance(one, other), True


def _bag_distance(one: str, other: str) -> int:
    """Count the characters that only one text has, in any order: a lower bound."""
    here, there = Counter(one), Counter(other)
    return max(sum((here - there).values()), sum((there - here).values()))


def _pieces(one: str, other: str, most: int) -> Iterator[tuple[str, str]]:
    """Cut two texts with at most `most` edits into pieces whose distances add up."""
    start = there = 0
    for block in _rapidfuzz("levenshtein").opcodes(one, other):
        if block.tag == "equal" and _is_pinned(one, other, block, most):
            yield one[start : block.src_start], other[there : block.dest_start]
            start, there = block.src_end, block.dest_end
    yield one[start:], other[there:]


def _is_pinned(one: str, other: str, block: Any, most: int) -> bool:
    """Return whether every alignment of at most `most` edits matches part of this block to itself.

    Such an alignment edits the block in at most `most` places and changes two of its characters in
    each. So it matches a run of at least `run` characters one to one. If no window of half that
    length occurs at another place that the alignment could reach, the run is matched to itself. The
    texts can then be cut inside the block. Equal ends of the parts do not change their distances,
    so the distances add up.
    """
    length = block.src_end - block.src_start
    run = (length - 2 * most) // (most + 1)
    window = (run + 1) // 2
    if window < 4:
        return False
    shift = block.dest_start - block.src_start
    grown = len(other) - len(one)
    leftmost, rightmost = (grown - most) // 2, (grown + most + 1) // 2
    for start in range(block.src_start, block.src_end - window + 1, window):
        text = one[start : start + window]
        begin, end = max(start + leftmost, 0), max(start + rightmost, 0) + window
        if other.find(text, begin, end) != start + shift:
            return False
        if other.find(text, start + shift + 1, end) >= 0:
            return False
    return True


# --- what texts have in common ------------------------------------------------------------------


def common_beginning(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    return _bisect(lambda n: one.startswith(other[:n]), min(len(one), len(other)))


def strip_common_ends(one: str, other: str) -> tuple[str, str]:
    """Cut off the common beginning and end of two texts, which does not change their distance."""
    start = common_beginning(one, other)
    one, other = one[start:], other[start:]
    end = _bisect(lambda n: one.endswith(other[len(other) - n :]), min(len(one), len(other)))
    return one[: len(one) - end], other[: len(other) - end]


def _bisect(holds: Callable[[int], bool], longest: int) -> int:
    """Return the largest length for which `holds` is true."""
    shortest = 0
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        if holds(middle):
            shortest = middle
        else:
            longest = middle - 1
    return shortest
