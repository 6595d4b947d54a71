"""What a judge's score is worth, learned from a person's labels."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.judges.labels import (
    LabelledRow,
    as_verdict,
    normalize,
    pair_labels,
    read_label,
)
from llmeval_integrations.judges.pass_fail import ScoreTable
from llmeval_integrations.stats.intervals import Share

CELLS: Final = ("fail_high", "fail_medium", "fail_low", "pass_low", "pass_medium", "pass_high")
"""The fields of a score table, from what should be worth least to what should be worth most."""

PRIOR_ROWS: Final = 3
"""How many labelled rows a default counts for.

Of 0.1 to 20, those from 2 to 3 gave the lowest Brier scores on new rows for simulated judges of six
kinds (calibrated, overconfident, strict, lenient, weak, at random) and 6 to 1,000 labelled rows.
With 3, judges for whom the defaults are right lose 0.004 with 20 rows and 0.003 with 100; over all
six kinds 0.029 and 0.038 is gained.
"""

_MOST_LEVELS: Final = 10
"""Scores with more values than that are put into so many levels of about as many rows each."""


@dataclass(frozen=True)
class Level:
    """A verdict with its confidence, or a stretch of scores."""

    name: str
    """What it is called, such as "pass_high" or "0.4 to 0.6"."""

    start: float
    """Its lowest score."""

    default: float
    """What it is worth by itself, 0 to 1."""

    learned: float
    """How likely a person passes such a row."""

    passed: Share
    """The rows that a person passed out of those labelled."""


@dataclass(frozen=True)
class Calibration:
    """What a judge's scores are worth by a person's labels; printed, it is a table.

    Called with a score, it gives how likely a person passes such an output.
    """

    levels: Sequence[Level]
    """From the lowest to the highest."""

    brier: float
    """The mean squared error of the learned chances on rows held out: 0 is best, 0.25 a coin's."""

    brier_of_defaults: float
    """The same of the defaults."""

    unscored: int
    """Rows with a label about which the judge could not tell; not learned from."""

    unlabelled: int
    """Rows without a label; not learned from."""

    def __call__(self, score: float) -> float:
        starts = [level.start for level in self.levels]
        return self.levels[max(0, bisect_right(starts, score) - 1)].learned

    @property
    def table(self) -> ScoreTable | None:
        """The learned weights as a score table; None where the judge gives scores."""
        weights: dict[str, Any] = {level.name: level.learned for level in self.levels}
        return ScoreTable(**weights) if tuple(weights) == CELLS else None

    @property
    def better(self) -> bool:
        """Whether the learned chances do better than the defaults on rows held out."""
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
    """Learn how likely a person passes what a judge gives a score, from labels of judged rows.

    judged: a run of one judge, or its rows, in a sequence or a mapping by id. Judgements, and
        results with `verdict` and `confidence` in their metadata, are learned as the six weights of
        a score table; all else by its score, or as the number that it is. None is unscored.
    human: verdicts (True, False, 1, 0, "pass", "fail"), in the same order or by id. None is a row
        that nobody labelled.

    A chance never falls as the score rises. Held out is each row in turn, with the chances learned
    from all others; rows that tell of the same output more than once make that look too good.

    Raises InputError where rows or ids do not match, a row cannot be read, or none is labelled.
    """
    rows = pair_labels(judged, human)
    known = [row for row in rows if row.judge is not None and row.person is not None]
    if not known:
        raise InputError("calibrate: no row has both a judge's score and a person's label")
    passes = [bool(read_label(row.person, f"human, row {quote(row.row)}")) for row in known]
    names, starts, defaults, places = _levels(known, sum(passes) / len(passes))
    passed_at = [place for place, passed in zip(places, passes) if passed]
    counts = [Share(passed_at.count(n), places.count(n)) for n in range(len(names))]
    learned = _isotonic_chances(counts, defaults)

    def predict_without(place: int, passed: bool) -> float:
        others = list(counts)
        others[place] = Share(counts[place].part - passed, counts[place].whole - 1)
        return _isotonic_chances(others, defaults)[place]

    return Calibration(
        [Level(*level) for level in zip(names, starts, defaults, learned, counts)],
        brier=_brier(counts, predict_without),
        brier_of_defaults=_brier(counts, lambda place, _: defaults[place]),
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
    scores = [_score(row) for row in rows]
    values, starts = sorted(scores), sorted(set(scores))
    if len(starts) > _MOST_LEVELS:
        starts = sorted({values[len(values) * i // _MOST_LEVELS] for i in range(_MOST_LEVELS)})
    places = [max(0, bisect_right(starts, score) - 1) for score in scores]
    are_chances = values[0] >= 0 and values[-1] <= 1
    names, defaults = [], []
    for place, start in enumerate(starts):
        members = [score for score, its in zip(scores, places) if its == place]
        defaults.append(math.fsum(members) / len(members) if are_chances else rate)
        names.append(f"{start:g}" + (f" to {max(members):g}" if max(members) > start else ""))
    return names, starts, defaults, places


def _cell(value: Any) -> str | None:
    """Name the weight of a judgement, or of a result that holds one; None of all else."""
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


def _brier(counts: Sequence[Share], chance: Callable[[int, bool], float]) -> float:
    """Return the mean squared error; rows alike are worked out once."""
    total = math.fsum(
        count * (chance(place, passed) - passed) ** 2
        for place, (part, whole) in enumerate(counts)
        for passed, count in ((True, part), (False, whole - part))
        if count
    )
    return total / sum(whole for _, whole in counts)


def _isotonic_chances(counts: Sequence[Share], priors: Sequence[float]) -> list[float]:
    """Return a chance for each level, from the lowest level up, that never falls.

    Each is the share of its rows, its prior counting for PRIOR_ROWS more; neighbours in the wrong
    order are pooled (isotonic regression: Ayer et al., Ann. Math. Stat. 26 (1955) 641).
    """
    pools: list[tuple[float, float, int]] = []  # chance, rows, levels
    for (part, whole), prior in zip(counts, priors):
        size, levels = float(whole + PRIOR_ROWS), 1
        chance = prior + (part - whole * prior) / size
        while pools and pools[-1][0] > chance:
            lower, its_size, its_levels = pools.pop()
            chance = (lower * its_size + chance * size) / (its_size + size)
            size, levels = its_size + size, its_levels + levels
        pools.append((chance, size, levels))
    return [chance for chance, _, levels in pools for _ in range(levels)]
