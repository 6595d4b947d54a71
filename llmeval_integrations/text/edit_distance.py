"""Edit distances of two texts, exact where that can be afforded. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from llmeval_integrations.core.limits import MAX_EDIT_CELLS

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
_SMALL: Final = 4_096
"""Pairs of characters that are compared sooner than avoided."""

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
        module = _rapidfuzz(metric)
        score = module.normalized_distance if normalized else module.distance
        return score(one, other), True
    if metric in ("jaro", "jaro_winkler"):
        exact = len(one) * len(other) <= _JARO**2
        pair = (one, other) if exact else (one[:_JARO], other[:_JARO])
        return _rapidfuzz(metric).normalized_distance(*pair), exact
    most = len(one) + len(other) if metric == "indel" else max(len(one), len(other))
    edits, exact = _measure_edits(metric, *strip_common_ends(one, other))
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
        return _measure_unrestricted(one, other)
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


# --- the unrestricted Damerau-Levenshtein distance, by pieces of the texts ----------------------


def _measure_unrestricted(one: str, other: str, *, is_piece: bool = False) -> tuple[int, bool]:
    """Count insertions, deletions, substitutions and swaps of characters, other edits between.

    rapidfuzz does this in a time quadratic in the length, 10 to 75 times slower than the
    restricted distance (OSA). That one is an upper bound; where it meets a lower one, it is
    the answer. Else the texts are cut where every cheap enough alignment must match them, which
    is 2.4 times as fast for JSON of some kilobytes.
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
    """Count the characters, in any order, that one text has more than the other: a lower bound."""
    here, there = Counter(one), Counter(other)
    return max(sum((here - there).values()), sum((there - here).values()))


def _pieces(one: str, other: str, most: int) -> Iterator[tuple[str, str]]:
    """Cut two texts that are at most `most` edits apart into pieces whose distances add up."""
    start = there = 0
    for block in _rapidfuzz("levenshtein").opcodes(one, other):
        if block.tag == "equal" and _is_pinned(one, other, block, most):
            yield one[start : block.src_start], other[there : block.dest_start]
            start, there = block.src_end, block.dest_end
    yield one[start:], other[there:]


def _is_pinned(one: str, other: str, block: Any, most: int) -> bool:
    """Whether every alignment of at most `most` edits matches some of this block to itself.

    Such an alignment edits the block in at most `most` places and uses up two of its characters
    in each, so it matches a run of at least `run` characters one to one. If no window of half
    that length occurs in the other text at another place that the alignment could reach, the run
    stands where the block stands. The alignment can then be cut inside of the block, and what is
    equal at the ends of both parts changes no distance: the parts' distances add up.
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
    """Count the characters that two texts begin with in common."""
    return _bisect(lambda n: one.startswith(other[:n]), min(len(one), len(other)))


def strip_common_ends(one: str, other: str) -> tuple[str, str]:
    """Cut off what two texts begin and end with in common; no edit distance changes by it."""
    start = common_beginning(one, other)
    one, other = one[start:], other[start:]
    end = _bisect(lambda n: one.endswith(other[len(other) - n :]), min(len(one), len(other)))
    return one[: len(one) - end], other[: len(other) - end]


def _bisect(holds: Callable[[int], bool], longest: int) -> int:
    """Find the largest length for which it holds, by bisection."""
    shortest = 0
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        if holds(middle):
            shortest = middle
        else:
            longest = middle - 1
    return shortest
