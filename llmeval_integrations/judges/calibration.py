"""The value of a judge's score, learned from a person's labels."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import fmean
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.pass_fail import ScoreTable
from llmeval_integrations.stats.calibration import brier, isotonic_chances, quantile_groups
from llmeval_integrations.stats.intervals import Share
from llmeval_integrations.stats.labels import (
    LabelledRow,
    as_verdict,
    normalize,
    pair_labels,
    read_verdict,
)

CELLS: Final = ("fail_high", "fail_medium", "fail_low", "pass_low", "pass_medium", "pass_high")
"""The fields of a score table, from the lowest weight to the highest."""


@dataclass(frozen=True)
class Level:
    """A verdict with its confidence, or a range of scores."""

    name: str
    """A name such as "pass_high" or "0.4 to 0.6"."""

    start: float
    """The lowest score of the level."""

    default: float
    """The weight before learning, 0 to 1."""

    learned: float
    """The chance that a person passes such a row."""

    passed: Share
    """The rows that a person passed out of those labelled."""


@dataclass(frozen=True)
class Calibration:
    """The value of a judge's scores by a person's labels; printed, it is a table.

    Called with a score, it returns the chance that a person passes such an output.
    """

    levels: Sequence[Level]
    """The levels, from the lowest to the highest."""

    brier: float
    """The mean squared error of the learned chances on held-out rows: 0 is best, 0.25 a coin's."""

    brier_of_defaults: float
    """The mean squared error of the defaults."""

    unscored: int
    """Rows with a label that the judge left unscored; they are not used."""

    unlabelled: int
    """Rows without a label; they are not used."""

    def __call__(self, score: float) -> float:
        starts = [level.start for level in self.levels]
        return self.levels[max(0, bisect_right(starts, score) - 1)].learned

    @property
    def table(self) -> ScoreTable | None:
        """The learned weights as a score table; None if the judge gives scores."""
        weights: dict[str, Any] = {level.name: level.learned for level in self.levels}
        return ScoreTable(**weights) if tuple(weights) == CELLS else None

    @property
    def better(self) -> bool:
        """Whether the learned chances have a smaller error on held-out rows than the defaults."""
        return self.brier < self.brier_of_defaults

    def __str__(self) -> str:
        head = "verdict, confidence" if self.table else "score"
        lines = [f"{head:<20}  default  learned  a person passed"]
        for level in reversed(self.levels):
            name = level.name.replace("_", ", ")
            figures = f"{level.default:7.2f}  {level.learned:7.3f}"
            lines.append(f"{name:<20}  {figures}  {level.passed.part:,} of {level.passed.whole:,}")
        lines.append(f"{'Brier, held out':<20}  {self.brier_of_defaults:7.3f}  {self.brier:7.3f}")
        if not self.better:
            lines.append("What was learned is no better than the defaults; keep those.")
        return "\n".join(lines)


def calibrate(judged: Any, human: Any) -> Calibration:
    """Learn from labels of judged rows how likely a person passes each score of a judge.

    judged: a run of one judge, or its rows, in a sequence or a mapping by id. From judgements, and
        from results with `verdict` and `confidence` in their metadata, the six weights of a score
        table are learned. All others count by their score, or as the number that they are. None is
        unscored.
    human: verdicts (True, False, 1, 0, "pass", "fail"), in the same order or by id. None is a row
        that nobody labelled.

    A chance never falls as the score rises. For the error, each row in turn is held out, and the
    chances are learned from all others. If several rows are about the same output, the error looks
    too small.

    Raises InputError if rows or ids do not match, a row cannot be read, or none is labelled.
    """
    rows = pair_labels(judged, human)
    known = [row for row in rows if row.judge is not None and row.person is not None]
    if not known:
        raise InputError("calibrate: no row has both a judge's score and a person's label")
    passes = [read_verdict(row.person, f"human, row {quote(row.row)}") for row in known]
    names, starts, defaults, places = _levels(known, sum(passes) / len(passes))
    passed_at = [place for place, passed in zip(places, passes) if passed]
    counts = [Share(passed_at.count(n), places.count(n)) for n in range(len(names))]
    learned = isotonic_chances(counts, defaults)
    return Calibration(
        [Level(*level) for level in zip(names, starts, defaults, learned, counts)],
        brier=brier(counts, defaults, learned=True),
        brier_of_defaults=brier(counts, defaults),
        unscored=sum(row.judge is None and bool(row.people) for row in rows),
        unlabelled=sum(not row.people for row in rows),
    )


def _levels(
    rows: Sequence[LabelledRow], rate: float
) -> tuple[Sequence[str], Sequence[float], Sequence[float], list[int]]:
    """Return the names of the levels, their lowest scores and defaults, and each row's level."""
    cells = [_cell(row.judge) for row in rows]
    if None not in cells:
        weights = [float(getattr(ScoreTable(), cell)) for cell in CELLS]
        return CELLS, weights, weights, [CELLS.index(str(cell)) for cell in cells]
    groups = quantile_groups([_score(row) for row in rows])
    starts = [group[0] for group in groups]
    are_chances = starts[0] >= 0 and groups[-1][-1] <= 1
    names = []
    for group in groups:
        low, high = group[0], group[-1]
        names.append(f"{low:g} to {high:g}" if high > low else f"{low:g}")
    defaults = [fmean(group) if are_chances else rate for group in groups]
    return names, starts, defaults, [bisect_right(starts, _score(row)) - 1 for row in rows]


def _cell(value: Any) -> str | None:
    """Return the name of a judgement's weight, or of a result's; None if there is none."""
    said = getattr(value, "metadata", value)
    if not isinstance(said, Mapping):
        said = {name: getattr(value, name, None) for name in ("verdict", "confidence")}
    verdict = as_verdict(normalize(said.get("verdict")))
    cell = f"{'pass' if verdict else 'fail'}_{str(normalize(said.get('confidence'))).lower()}"
    return None if verdict is None or cell not in CELLS else cell


def _score(row: LabelledRow) -> float:
    score = getattr(row.judge, "score", row.judge)
    if not isinstance(score, Real) or not math.isfinite(score):
        raise InputError(
            f"judged, row {quote(row.row)}: {quote(row.judge)} has neither a score nor a verdict "
            "(pass, fail) with a confidence (high, medium, low)"
        )
    return float(score)
