"""The samples that got better and worse from one run to another."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from heapq import nlargest, nsmallest
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.figures import is_same
from llmeval_integrations.runs.comparing.joining import Pair, Pairs
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run

_NO_GAIN: Final = (0, 0.0)


@dataclass(frozen=True)
class Change:
    """A sample of which an evaluator says something else in the second run."""

    id: Any
    """The sample's id."""

    better: bool
    """Whether it got better."""

    passed_a: bool | None
    """Whether it passed in the first run."""

    passed_b: bool | None
    """Whether it passed in the second."""

    score_a: float | None
    """The score in the first run."""

    score_b: float | None
    """The score in the second."""

    reason_a: str | None
    """Why, in the first run."""

    reason_b: str | None
    """Why, in the second."""


class Changed(NamedTuple):
    """What changed of one evaluator's pairs."""

    worse: int
    """How many got worse."""

    better: int
    """How many got better."""

    most: tuple[list[Pair], list[Pair]]
    """Of those that got worse and of those that got better the ones that changed most."""


def changed(pairs: Pairs, most: int, *, lower_is_better: bool | None) -> Changed:
    """Find the pairs that changed: in their verdict, or where that is the same, in their score.

    Counts all of them, and gives up to `most` in each direction, those first that changed most.
    Where `lower_is_better` is None, as nobody knows, another score alone is not a change.
    """
    gain_of = partial(_gain, lower_is_better=lower_is_better)
    worse, better = array("q"), array("q")
    for place, gain in enumerate(map(gain_of, pairs)):
        if gain != _NO_GAIN:
            (better if gain > _NO_GAIN else worse).append(place)
    return Changed(
        len(worse),
        len(better),
        (
            nsmallest(most, map(pairs.__getitem__, worse), key=gain_of),
            nlargest(most, map(pairs.__getitem__, better), key=gain_of),
        ),
    )


def _gain(pair: Pair, *, lower_is_better: bool | None) -> tuple[int, float]:
    """Return by how much a pair got better, in its verdict and in its score."""
    a, b = pair.a, pair.b
    verdict = 0 if a.passed is None or b.passed is None else b.passed - a.passed
    if lower_is_better is None or a.score is None or b.score is None or is_same(a.score, b.score):
        return verdict, 0.0
    return verdict, a.score - b.score if lower_is_better else b.score - a.score


def described(
    a: Run, b: Run, chosen: Mapping[str, tuple[Collection[Pair], Collection[Pair]]]
) -> dict[str, list[Change]]:
    """Describe pairs by what is in the rows, which are read once more; those that got worse first.

    `chosen` holds for each evaluator those that got worse and those that got better.
    """
    pairs = [pair for sides in chosen.values() for side in sides for pair in side]
    rows_a = _rows_at(a, {pair.a.place for pair in pairs})
    rows_b = _rows_at(b, {pair.b.place for pair in pairs})
    return {
        name: [
            _change(pair, better, rows_a[pair.a.place], rows_b[pair.b.place])
            for better, side in enumerate(sides)
            for pair in side
        ]
        for name, sides in chosen.items()
    }


def _rows_at(run: Run, places: Collection[int]) -> dict[int, Row]:
    if not places:
        return {}
    return {place: row for place, row in enumerate(run.rows) if place in places}


def _change(pair: Pair, better: int, a: Row, b: Row) -> Change:
    return Change(
        b.id,
        bool(better),
        pair.a.passed,
        pair.b.passed,
        pair.a.score,
        pair.b.score,
        a.reason,
        b.reason,
    )
