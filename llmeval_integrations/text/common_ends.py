"""What two texts begin and end with in common."""

from __future__ import annotations

from collections.abc import Callable


def common_beginning(one: str, other: str) -> int:
    """Count the characters that two texts begin with in common."""
    return _longest(lambda n: one.startswith(other[:n]), min(len(one), len(other)))


def without_common_ends(one: str, other: str) -> tuple[str, str]:
    """Cut off what two texts begin and end with in common; no edit distance changes by it."""
    start = common_beginning(one, other)
    one, other = one[start:], other[start:]
    end = _longest(lambda n: one.endswith(other[len(other) - n :]), min(len(one), len(other)))
    return one[: len(one) - end], other[: len(other) - end]


def _longest(holds: Callable[[int], bool], longest: int) -> int:
    """Find the largest length for which it holds, by bisection."""
    shortest = 0
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        if holds(middle):
            shortest = middle
        else:
            longest = middle - 1
    return shortest
