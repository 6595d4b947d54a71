"""Which of the expected calls have to come before which."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

Before = Sequence[tuple[str | int, str | int]]
"""Which call comes before which: each a tool's name, or a position among the expected calls."""


def is_precedence(value: Any) -> bool:
    """Whether a value is a list of pairs of names or positions."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return all(
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and all(isinstance(which, str) or (type(which) is int and which >= 0) for which in pair)
        for pair in value
    )


def pair_positions(before: Before, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs as positions among the expected calls; a name stands for all its calls."""

    def positions(which: str | int) -> list[int]:
        return (
            [which]
            if isinstance(which, int)
            else [n for n, one in enumerate(names) if one == which]
        )

    return [
        (first, then)
        for one, other in before
        for first in positions(one)
        for then in positions(other)
        if first != then or one == other
    ]


def find_circle(before: Sequence[tuple[str | int, str | int]]) -> str | None:
    """Name calls that would have to come before themselves; None where there are none."""
    sorter: TopologicalSorter[str | int] = TopologicalSorter()
    for first, then in before:
        sorter.add(then, first)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = error.args[1][1:]
        begin = circle.index(next(which for pair in before for which in pair if which in circle))
        return " before ".join(map(repr, [*circle[begin:], *circle[: begin + 1]]))
    return None
