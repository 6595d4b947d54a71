"""How far is one text from another?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from rapidfuzz.distance import (
    OSA,
    DamerauLevenshtein,
    Hamming,
    Indel,
    Jaro,
    JaroWinkler,
    Levenshtein,
)

from llmeval_integrations.evaluator import Evaluator
from llmeval_integrations.evaluators.text import text_of
from llmeval_integrations.options import check_choice, check_flag, check_number
from llmeval_integrations.result import Result
from llmeval_integrations.sample import Sample

METRICS: Final[dict[str, Any]] = {
    "damerau_levenshtein": DamerauLevenshtein,
    "osa": OSA,
    "levenshtein": Levenshtein,
    "indel": Indel,
    "hamming": Hamming,
    "jaro": Jaro,
    "jaro_winkler": JaroWinkler,
}

MAX_CELLS: Final = 100_000_000
"""The most pairs of characters that an exact Damerau-Levenshtein distance may compare.

Some 0.1 s of work, counted after the common beginning and end are cut off: two texts of 10,000
characters that have nothing in common. The other metrics compare 64 pairs at once and have 64
times that: 80,000 characters. Beyond it an edit distance is an upper bound, a Jaro distance that
of the texts' beginnings, and the result says so.
"""

_BLOCK = 8192


def measure(metric: str, one: str, other: str, *, normalized: bool = True) -> tuple[float, bool]:
    """Give the distance of two texts, and whether it is exact.

    Normalised: from 0 to 1, edits by the most that there could be; else the number of edits.
    """
    if metric == "hamming":
        score = Hamming.normalized_distance if normalized else Hamming.distance
        return score(one, other), True
    if metric in ("jaro", "jaro_winkler"):
        longest = _BLOCK * 10
        score = METRICS[metric].normalized_distance
        exact = len(one) * len(other) <= longest * longest
        return (score(one, other) if exact else score(one[:longest], other[:longest])), exact
    edits, exact = _edits(metric, one, other)
    if not normalized:
        return edits, exact
    most = len(one) + len(other) if metric == "indel" else max(len(one), len(other))
    return (edits / most if most else 0.0), exact


def _edits(metric: str, one: str, other: str) -> tuple[int, bool]:
    """Count edits between what is left of two texts without their common ends."""
    one, other = _without_common_ends(one, other)
    if not one or not other:
        return len(one) or len(other), True
    unrestricted = metric == "damerau_levenshtein"
    if len(one) * len(other) > (MAX_CELLS if unrestricted else 64 * MAX_CELLS):
        return _in_blocks(OSA if unrestricted else METRICS[metric], one, other), False
    if unrestricted:
        return _damerau_levenshtein(one, other), True
    return METRICS[metric].distance(one, other), True


def _damerau_levenshtein(one: str, other: str) -> int:
    """Count the insertions, deletions, substitutions and swaps of neighbours between two texts.

    This is the unrestricted distance. The restricted one (OSA) is an upper bound of it, the
    difference of the two bags of characters a lower one; where they meet, the exact value is
    known at a tenth of the cost. Up to two edits the two distances are the same.
    """
    restricted: int = OSA.distance(one, other)
    if restricted <= 2 or restricted == abs(len(one) - len(other)):
        return restricted
    if restricted == _bag_distance(one, other):
        return restricted
    exact: int = DamerauLevenshtein.distance(one, other)
    return exact


def _bag_distance(one: str, other: str) -> int:
    """Count the characters, in any order, that one text has more than the other."""
    here, there = Counter(one), Counter(other)
    return max((here - there).total(), (there - here).total())


def _in_blocks(metric: Any, one: str, other: str) -> int:
    """Bound the distance from above: cut both texts into as many blocks and edit each."""
    blocks = -(-max(len(one), len(other)) // _BLOCK)
    return sum(
        metric.distance(
            one[len(one) * n // blocks : len(one) * (n + 1) // blocks],
            other[len(other) * n // blocks : len(other) * (n + 1) // blocks],
        )
        for n in range(blocks)
    )


def _without_common_ends(one: str, other: str) -> tuple[str, str]:
    """Cut off what two texts begin and end with in common; no edit distance changes by it."""
    start = _common(lambda n: one.startswith(other[:n]), min(len(one), len(other)))
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


@dataclass(frozen=True)
class StringDistance(Evaluator):
    """How far is the output's text from the reference's?

    Score: the distance, 0 for equal texts; normalised from 0 to 1, else in edits (Jaro distances
    are always from 0 to 1). Passes at `max_distance` or below. Edit distances of texts that
    differ in more than 10,000 characters on both sides are upper bounds, and metadata `exact` is
    False there. The name and the default are LangChain's.
    """

    needs: ClassVar[tuple[str, ...]] = ("reference",)

    distance: str = "jaro_winkler"
    """One of damerau_levenshtein, osa, levenshtein, indel, hamming, jaro, jaro_winkler."""

    normalize_score: bool = True
    """Whether the distance is divided by its largest possible value."""

    max_distance: float = 0.0
    """The largest distance that passes."""

    def __post_init__(self) -> None:
        check_choice(self, "distance", METRICS)
        check_flag(self, "normalize_score")
        check_number(self, "max_distance", minimum=0)

    def check(self, sample: Sample) -> Result:
        reference = text_of(sample.require("reference", self.name))
        score, exact = measure(
            self.distance, text_of(sample.output), reference, normalized=self.normalize_score
        )
        passed = score <= self.max_distance
        reason = None if passed else f"{self.distance} distance {score:.4g} > {self.max_distance:g}"
        return Result(score, passed, None, reason, {"exact": exact})
