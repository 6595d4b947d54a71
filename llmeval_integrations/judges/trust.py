"""How far a judge can be trusted: what its scores are worth, and what shifts them."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from operator import itemgetter
from statistics import fmean
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.figures import is_same
from llmeval_integrations.core.quote import quote
from llmeval_integrations.core.result import Result
from llmeval_integrations.core.sample import MISSING, Sample, as_sample
from llmeval_integrations.judges.pass_fail import ScoreTable
from llmeval_integrations.stats.calibration import brier, isotonic_chances, score_levels
from llmeval_integrations.stats.intervals import (
    Interval,
    Rate,
    Share,
    difference_interval,
    group_figures,
    student,
)
from llmeval_integrations.stats.labels import as_verdict, normalize, pair_labels, read_verdict

_WEIGHTS: Final[Mapping[str, float]] = dict(sorted(vars(ScoreTable()).items(), key=itemgetter(1)))
"""The weights of a score table, from the lowest to the highest."""


class Level(NamedTuple):
    """A verdict with its confidence, or a range of scores."""

    name: str  # such as "pass_high" or "0.4 to 0.6"
    start: float  # the lowest score
    default: float  # the weight before learning, 0 to 1
    learned: float  # the chance that a person passes such a row
    passed: Share  # the rows that a person passed, out of those labelled


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
        return ScoreTable(**weights) if weights.keys() == _WEIGHTS.keys() else None

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
    cells = [_cell(row.judge) for row in known]
    if None in cells:
        scores = [_score(row.judge, f"judged, row {quote(row.row)}") for row in known]
        levels = _ranges(scores, sum(passes) / len(passes))
    else:
        levels = [(cell, weight, weight) for cell, weight in _WEIGHTS.items()]
        scores = [_WEIGHTS[str(cell)] for cell in cells]
    names, starts, defaults = zip(*levels)
    places = [bisect_right(starts, score) - 1 for score in scores]
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


def _ranges(scores: Sequence[float], rate: float) -> list[tuple[str, float, float]]:
    """Return ranges of scores, each with its name, its lowest score and its default."""
    ranges = []
    groups = score_levels(scores)
    are_chances = groups[0][0] >= 0 and groups[-1][-1] <= 1
    for group in groups:
        low, high = group[0], group[-1]
        name = f"{low:g} to {high:g}" if high > low else f"{low:g}"
        ranges.append((name, low, fmean(group) if are_chances else rate))
    return ranges


def _cell(value: Any) -> str | None:
    """Return the name of a judgement's weight, or of a result's; None if there is none."""
    said = getattr(value, "metadata", value)
    if not isinstance(said, Mapping):
        said = {name: getattr(value, name, None) for name in ("verdict", "confidence")}
    verdict = as_verdict(normalize(said.get("verdict")))
    cell = f"{'pass' if verdict else 'fail'}_{str(normalize(said.get('confidence'))).lower()}"
    return None if verdict is None or cell not in _WEIGHTS else cell


def _score(value: Any, row: str) -> float:
    score = getattr(value, "score", value)
    if not isinstance(score, Real) or not math.isfinite(score):
        raise InputError(
            f"{row}: {quote(value)} has neither a score nor a verdict (pass, fail) with a "
            "confidence (high, medium, low)"
        )
    return float(score)


Change: TypeAlias = Callable[[Sample], Sample]
"""Changes a sample in a way that should not change its verdict."""


def lengthen(sample: Sample) -> Sample:
    """Repeat the output: it becomes longer, with nothing new in it."""
    text = str(sample.output)
    return replace(sample, output=f"{text}\n\nIn other words, to sum up: {text}")


def decorate(sample: Sample) -> Sample:
    """Write the output as a list in Markdown, under a heading, with an item for each sentence."""
    sentences = re.split(r"(?<=[.!?])\s+", str(sample.output).strip())
    items = "\n".join(f"- **{sentence}**" for sentence in sentences)
    return replace(sample, output=f"## Answer\n\n{items}")


CHANGES: Final[Mapping[str, Change]] = {"length": lengthen, "formatting": decorate}


@dataclass(frozen=True)
class Shift:
    """How one change shifts a judge's results."""

    samples: int
    """The samples with a score before and after the change."""

    unscored: int
    """The other samples."""

    changed: Rate
    """The samples whose verdict changes, or whose score if there is no verdict."""

    shift: float | None
    """The mean change of the score; None if there is no such sample."""

    interval: Interval | None
    """The 95 % interval of the shift, by groups if samples have them; None for a single group, and
    for equal changes of scores that are not all from 0 to 1."""

    def __str__(self) -> str:
        changed, interval = self.changed.interval, self.interval
        unscored = f"; {self.unscored} unscored" if self.unscored else ""
        if self.shift is None:
            return f"no sample has a score before and after{unscored}"
        share = f" ({changed[0]:.0%} to {changed[1]:.0%})" if changed else ""
        bounds = f" ({interval[0]:+.3f} to {interval[1]:+.3f})" if interval else ""
        return (
            f"{self.changed.part} of {self.samples} verdicts change{share}, "
            f"scores by {self.shift:+.3f}{bounds}{unscored}"
        )


def judge_bias(
    judge: Evaluator,
    samples: Iterable[Sample | Mapping[str, Any]],
    changes: Mapping[str, Change] = CHANGES,
) -> dict[str, Shift]:
    """Measure how changes that should not matter shift a judge's results.

    judge: any evaluator. One that compares `output` with `output_b`, such as Preference, is also
        asked with both swapped, under the name `position`. A judge without this bias then returns 1
        minus its first score.
    samples: typical outputs, at best some hundred. They are judged once unchanged, and once for
        each change.
    changes: functions from a sample to one that should get the same verdict, by name. The default
        repeats each output (`length`), and writes it as a list in Markdown (`formatting`).

    Raises InputError if there is no sample, or an output is not a text.
    """
    originals = [as_sample(sample) for sample in samples]
    if not originals:
        raise InputError("judge_bias: there is no sample to judge")
    for sample in originals:
        if not isinstance(sample.output, str):
            raise InputError(f"judge_bias: the output {quote(sample.output)} is not a text")
    groups = [None if sample.group is MISSING else sample.group for sample in originals]
    results = judge.evaluate_many(originals)
    found = {
        name: _shift(results, judge.evaluate_many(map(change, originals)), groups)
        for name, change in changes.items()
    }
    if "output_b" in judge.needs:
        swapped = [replace(each, output=each.output_b, output_b=each.output) for each in originals]
        after = judge.evaluate_many(swapped)
        mirrored = [Result(None if each.score is None else 1 - each.score) for each in after]
        found["position"] = _shift(results, mirrored, groups)
    return found


def _shift(before: Sequence[Result], after: Sequence[Result], groups: Sequence[Hashable]) -> Shift:
    differences: list[tuple[Hashable, float]] = []
    changed: list[tuple[Hashable, bool]] = []
    are_shares = True
    for one, other, group in zip(before, after, groups):
        if one.score is not None and other.score is not None:
            differences.append((group, other.score - one.score))
            are_shares &= 0 <= one.score <= 1 and 0 <= other.score <= 1
            has_verdicts = one.passed is not None and other.passed is not None
            is_other = not is_same(one.score, other.score)
            changed.append((group, one.passed != other.passed if has_verdicts else is_other))
    n, shift, interval = len(differences), None, None
    if n:
        shift = math.fsum(each for _, each in differences) / n
        figures = group_figures(differences)
        interval = difference_interval(differences) if are_shares else student(*figures)
    return Shift(n, len(before) - n, Rate.of(changed), shift, interval)
