"""The samples that got better and worse from one run to another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from llmeval_integrations.runs.comparing.joining import Pair, is_same
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run


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
    """The pairs of one evaluator that changed, those first that did most."""

    worse: list[Pair]
    """Those that got worse."""

    better: list[Pair]
    """Those that got better."""


def changed(pairs: Iterable[Pair], *, lower_is_better: bool) -> Changed:
    """Find the pairs that changed: in their verdict, or where that is the same, in their score."""
    found = Changed([], [])
    for pair in pairs:
        verdict, score = gain = _gain(pair, lower_is_better)
        if verdict or score:
            (found.better if gain > (0, 0) else found.worse).append(pair)
    found.worse.sort(key=lambda pair: _gain(pair, lower_is_better))
    found.better.sort(key=lambda pair: _gain(pair, lower_is_better), reverse=True)
    return found


def _gain(pair: Pair, lower_is_better: bool) -> tuple[int, float]:
    """Give by how much a pair got better, in its verdict and in its score."""
    a, b = pair.a, pair.b
    verdict = 0 if a.passed is None or b.passed is None else b.passed - a.passed
    if a.score is None or b.score is None or is_same(a.score, b.score):
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
        pair.id,
        bool(better),
        pair.a.passed,
        pair.b.passed,
        pair.a.score,
        pair.b.score,
        a.reason,
        b.reason,
    )
