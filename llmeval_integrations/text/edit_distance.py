"""Edit distances of two texts, exact where that can be afforded. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

METRICS: Final[dict[str, str]] = {
    "damerau_levenshtein": "DamerauLevenshtein",
    "osa": "OSA",
    "levenshtein": "Levenshtein",
    "indel": "Indel",
    "hamming": "Hamming",
    "jaro": "Jaro",
    "jaro_winkler": "JaroWinkler",
}
"""The metrics' names, and what rapidfuzz calls them."""

MAX_CELLS: Final = 100_000_000
"""The most pairs of characters that an exact Damerau-Levenshtein distance may compare.

Some 0.1 s of work, counted after the common beginning and end are cut off: two texts of 10,000
characters that have nothing in common. The other metrics compare 64 pairs at once and have 64
times that: 80,000 characters. Beyond it an edit distance is an upper bound, a Jaro distance that
of the texts' beginnings, and the result says so.
"""

_BLOCK = 8192
_SMALL = 4096  # pairs of characters that are compared sooner than avoided
_LARGE = 4_000_000  # pairs that take longer to compare than the longer text takes to be read


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
        longest = _BLOCK * 10
        score = _rapidfuzz(metric).normalized_distance
        exact = len(one) * len(other) <= longest * longest
        return (score(one, other) if exact else score(one[:longest], other[:longest])), exact
    edits, exact = _edits(metric, one, other)
    if not normalized:
        return edits, exact
    most = _most_edits(metric, one, other)
    return (edits / most if most else 0.0), exact


def edits_up_to(most: int, one: str, other: str) -> int:
    """Count the edits between two texts (Levenshtein); gives some more than `most` for any more.

    Quicker than to count them all. Above what `reach` gives it is an upper bound.
    """
    if len(one) * len(other) <= _LARGE:
        edits: int = _rapidfuzz("levenshtein").distance(one, other, score_cutoff=most)
        return edits
    shorter, longer = sorted(_without_common_ends(one, other), key=len)
    grown = len(longer) - len(shorter)
    if grown > most or _only_lacks(shorter, longer):
        return grown
    counted = min(most, _affordable(shorter, longer))
    edits = _rapidfuzz("levenshtein").distance(shorter, longer, score_cutoff=counted)
    if edits <= counted or counted == most:
        return edits
    return _in_blocks("levenshtein", shorter, longer)


def prepare() -> None:
    """Import what counts edits, for those who count the first ones deep in a recursion.

    An import takes stack, so that how deep is too deep would hang on what was measured before.
    """
    _rapidfuzz("levenshtein")


def reach(one: str, other: str) -> int:
    """Give up to how many edits between two texts `edits_up_to` counts exactly."""
    longest = max(len(one), len(other))
    if len(one) * len(other) <= 64 * MAX_CELLS:
        return longest
    shorter, longer = sorted(_without_common_ends(one, other), key=len)
    affordable = _affordable(shorter, longer)
    is_clear = affordable >= len(longer) or _only_lacks(shorter, longer)
    return longest if is_clear else affordable


def _affordable(shorter: str, longer: str) -> int:
    """Return how many edits can be counted: so far from each other characters are compared."""
    if len(shorter) * len(longer) <= 64 * MAX_CELLS:
        return len(longer)
    return 64 * MAX_CELLS // (2 * len(shorter))


def _most_edits(metric: str, one: str, other: str) -> int:
    return len(one) + len(other) if metric == "indel" else max(len(one), len(other))


def _edits(metric: str, one: str, other: str) -> tuple[int, bool]:
    """Count edits between what is left of two texts without their common ends."""
    one, other = _without_common_ends(one, other)
    if not one or not other:
        return len(one) or len(other), True
    if len(one) * len(other) > _LARGE and _only_lacks(*sorted((one, other), key=len)):
        return abs(len(one) - len(other)), True
    unrestricted = metric == "damerau_levenshtein"
    if len(one) * len(other) > 64 * MAX_CELLS:
        edits = _in_blocks("osa" if unrestricted else metric, one, other)
        return min(edits, _most_edits(metric, one, other)), False
    if unrestricted:
        return _damerau_levenshtein(one, other)
    return _rapidfuzz(metric).distance(one, other), True


def _only_lacks(shorter: str, longer: str) -> bool:
    """Whether the shorter text is the longer one with characters left out, as where it was cut."""
    rest = iter(longer)
    return all(character in rest for character in shorter)


def _in_blocks(metric: str, one: str, other: str) -> int:
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


# --- Damerau-Levenshtein, unrestricted ---------------------------------------------------------


def _damerau_levenshtein(one: str, other: str) -> tuple[int, bool]:
    """Count insertions, deletions, substitutions and swaps of characters, other edits between.

    rapidfuzz does this in a time quadratic in the length, 10 to 75 times slower than the
    restricted distance (OSA). That one is an upper bound; where it meets a lower one, it is
    the answer. Else the texts are cut where every cheap enough alignment must match them.
    """
    restricted: int = _rapidfuzz("osa").distance(one, other)
    if restricted <= 2 or restricted == abs(len(one) - len(other)):
        return restricted, True
    edits, exact = 0, True
    for here, there in _pieces(one, other, restricted):
        part, sure = _piece(here, there)
        edits += part
        exact = exact and sure
    return edits, exact


def _piece(one: str, other: str) -> tuple[int, bool]:
    """Return the distance of two pieces; up to two edits OSA is the same distance."""
    one, other = _without_common_ends(one, other)
    if not one or not other:
        return len(one) or len(other), True
    restricted: int = _rapidfuzz("osa").distance(one, other)
    if restricted <= 2 or restricted == abs(len(one) - len(other)):
        return restricted, True
    if len(one) * len(other) > _SMALL and restricted == _bag_distance(one, other):
        return restricted, True
    if len(one) * len(other) > MAX_CELLS:
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


def common_beginning(one: str, other: str) -> int:
    """Count the characters that two texts begin with in common."""
    return _common(lambda n: one.startswith(other[:n]), min(len(one), len(other)))


def _without_common_ends(one: str, other: str) -> tuple[str, str]:
    """Cut off what two texts begin and end with in common; no edit distance changes by it."""
    start = common_beginning(one, other)
    one, other = one[start:], other[start:]
    end = _common(lambda n: one.endswith(other[len(other) - n :]), min(len(one), len(other)))
    return one[: len(one) - end], other[: len(other) - end]


def _common(holds: Callable[[int], bool], longest: int) -> int:
    """Find the largest length for which it holds, by bisection."""
    shortest = 0
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        if holds(middle):
            shortest = middle
        else:
            longest = middle - 1
    return shortest
