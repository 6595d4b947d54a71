"""Which of the expected calls have to come before which."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from llmeval_integrations.core.errors import InvalidOptionError, InvalidReferenceError
from llmeval_integrations.core.quoting import hint, quote

Before = Sequence[tuple[str | int, str | int]]
"""Which call comes before which: each a tool's name, or a position among the expected calls."""


def check_before(before: Any, evaluator: str, tools: Collection[str] | None) -> None:
    """Raise InvalidOptionError unless these are pairs that can be kept, of tools that there are."""
    if not _are_pairs(before):
        raise InvalidOptionError(
            f"{evaluator}: before={quote(before)} is not a list of pairs of names or positions"
        )
    if circle := _find_circle(before):
        raise InvalidOptionError(f"{evaluator}: before contradicts itself: {circle}")
    for name in (which for pair in before for which in pair):
        # The name of a tool that there is not would order nothing, and not say so.
        if isinstance(name, str) and tools is not None and name not in tools:
            raise InvalidOptionError(
                f"{evaluator}: before: there is no tool {name!r}; {hint(name, tools)}"
            )


def pair_positions(before: Any, names: Sequence[str], evaluator: str) -> list[tuple[int, int]]:
    """Return the pairs as positions among the expected calls; a name stands for all its calls.

    Raises InvalidReferenceError where they cannot be kept.
    """
    if not _are_pairs(before) or any(
        isinstance(which, int) and which >= len(names) for pair in before for which in pair
    ):
        raise InvalidReferenceError(
            f"{evaluator}: before: {quote(before)} are not pairs of names, or of positions "
            f"among {len(names)} expected calls"
        )

    def positions(which: str | int) -> list[int]:
        if isinstance(which, int):
            return [which]
        return [n for n, one in enumerate(names) if one == which]

    pairs = [
        (first, then)
        for one, other in before
        for first in positions(one)
        for then in positions(other)
        if first != then or one == other
    ]
    if circle := _find_circle(before) or _find_circle(pairs):
        raise InvalidReferenceError(f"{evaluator}: before contradicts itself: {circle}")
    return pairs


def _are_pairs(value: Any) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return all(
        isinstance(pair, (list, tuple))
        and len(pair) == 2
        and all(isinstance(which, str) or (type(which) is int and which >= 0) for which in pair)
        for pair in value
    )


def _find_circle(before: Sequence[tuple[str | int, str | int]]) -> str | None:
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
