"""The differences between the figures of two runs, and whether they may be chance."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from llmeval_integrations.core.figures import is_same
from llmeval_integrations.runs.comparison.join import Pair
from llmeval_integrations.stats import paired
from llmeval_integrations.stats.intervals import (
    Figures,
    Group,
    Interval,
    are_single,
    difference_interval,
    group_figures,
    student,
)

LEVEL: Final = 0.05  # the chance of a false alarm, for all differences of a comparison together
Measure = Literal["pass rate", "score", "matching leaves"]
Verdict = Literal["better", "worse", "none shown"]


@dataclass(frozen=True)
class Difference:
    """The difference of one figure, in the samples that have it in both runs."""

    evaluator: str
    measure: Measure
    """The share of samples that pass, the mean score, or the mean share of matching leaves of a
    field."""

    field: str | None  # the field, a JSON Pointer with `*` for positions
    n: int
    groups: int | None  # the number of groups; None if no two samples have the same group
    a: float  # the figure in the first run, over these samples
    b: float
    difference: float

    interval: Interval | None
    """The 95 % interval for this difference alone. None for a single group, and if all samples
    differ by the same."""

    p: float  # the chance of such a difference if nothing has changed
    adjusted: float  # the same, adjusted for all differences that could be shown
    detectable: float | None
    """The smallest difference that so many samples show with a power of 80 %. None if they show
    none, or if it is not known."""

    better: int  # the number of samples that got better
    worse: int
    lower_is_better: bool  # whether a lower figure is better, as of distances
    verdict: Verdict  # whether the figure is better or worse, if this is significant

    @property
    def is_undecidable(self) -> bool:
        """Whether there are so few samples, or groups, that no difference is significant."""
        return paired.least_p(self.groups or self.n) > LEVEL


@dataclass
class Measured:
    """One figure of each sample in both runs, and the group of the sample."""

    evaluator: str
    measure: Measure
    field: str | None
    lower_is_better: bool
    a: list[float] = dataclasses.field(default_factory=list)
    b: list[float] = dataclasses.field(default_factory=list)
    groups: list[Hashable] = dataclasses.field(default_factory=list)

    def add(self, a: float, b: float, group: Hashable) -> None:
        """Add a sample."""
        self.a.append(a)
        self.b.append(b)
        self.groups.append(group)

    @cached_property
    def changes(self) -> list[float]:
        """The difference of each sample; one that is only a rounding error is 0."""
        return [0.0 if is_same(a, b) else b - a for a, b in zip(self.a, self.b)]

    @cached_property
    def are_shares(self) -> bool:
        """Whether all figures lie from 0 to 1."""
        figures = (*self.a, *self.b)
        return min(figures) >= 0 and max(figures) <= 1

    @cached_property
    def are_verdicts(self) -> bool:
        """Whether all figures are 0 or 1."""
        return {*self.a, *self.b} <= {0, 1}

    @cached_property
    def grouped(self) -> list[Group]:
        """The sum of changes in each group; empty if no two samples have the same group."""
        _, groups = group_figures(zip(self.groups, self.changes))
        return [] if are_single(groups) else groups

    @cached_property
    def sums(self) -> list[float]:
        """The independent changes: those of groups or of samples."""
        return [each.total for each in self.grouped] or self.changes


def measure(name: str, pairs: Sequence[Pair], *, lower: bool) -> list[Measured]:
    """Return the figures to compare: verdicts, scores that tell more, and fields."""
    rate, score = Measured(name, "pass rate", None, False), Measured(name, "score", None, lower)
    fields: dict[str, Measured] = {}
    for pair in pairs:
        a, b = pair.a, pair.b
        own = pair.group
        group = ("id", pair.key) if own is None else own  # samples with one id are a group, too
        if a.passed is not None and b.passed is not None:
            rate.add(float(a.passed), float(b.passed), group)
        if a.score is not None and b.score is not None:
            score.add(a.score, b.score, group)
        if "shares" in a.metadata and "shares" in b.metadata:
            first, second = a.metadata["shares"], b.metadata["shares"]
            for path in {**first, **second}:
                if path not in fields:
                    fields[path] = Measured(name, "matching leaves", path, False)
                # A sample without a leaf in a field has no error there.
                fields[path].add(first.get(path, 1.0), second.get(path, 1.0), group)
    scores = [] if (rate.a, rate.b) == (score.a, score.b) else [score]
    return [each for each in (rate, *scores, *fields.values()) if each.a]


def differences_of(measured: Sequence[Measured]) -> list[Difference]:
    """Test each figure. The fields of an evaluator are sorted by their p values."""
    ps = [paired.sign_flip(each.sums) for each in measured]  # of verdicts, McNemar's exact test
    changed = [sum(map(bool, each.sums)) for each in measured]
    adjusted, level = paired.adjust(ps, changed, LEVEL)
    found = [_difference(*each, level) for each in zip(measured, ps, adjusted)]
    names = list(dict.fromkeys(each.evaluator for each in measured))
    return sorted(
        found,
        key=lambda each: (names.index(each.evaluator), 0.0 if each.field is None else 1 + each.p),
    )


def _difference(figures: Measured, p: float, adjusted: float, level: float) -> Difference:
    """Return the difference of a figure; `level` is its share of the chance of error."""
    n, changes, lower = len(figures.a), figures.changes, figures.lower_is_better
    up, down = sum(each > 0 for each in changes), sum(each < 0 for each in changes)
    better, worse = (down, up) if lower else (up, down)
    difference = math.fsum(changes) / n
    is_better = (difference > 0) is not lower
    return Difference(
        evaluator=figures.evaluator,
        measure=figures.measure,
        field=figures.field,
        n=n,
        groups=len(figures.grouped) or None,
        a=math.fsum(figures.a) / n,
        b=math.fsum(figures.b) / n,
        difference=difference,
        interval=_interval(figures, down, up),
        p=p,
        adjusted=adjusted,
        detectable=_detectable(figures, level),
        better=better,
        worse=worse,
        lower_is_better=lower,
        verdict="none shown" if adjusted > LEVEL else "better" if is_better else "worse",
    )


def _interval(figures: Measured, down: int, up: int) -> Interval | None:
    """Return the interval of a difference: Newcombe's, Wilson's or, outside 0 to 1, Student's."""
    if figures.are_verdicts:
        both = sum(a == b == 1 for a, b in zip(figures.a, figures.b))
        counts = paired.PairCounts(both, down, up, len(figures.a) - both - down - up)
        return paired.newcombe(counts, figures.grouped)
    interval = student(Figures.of(figures.changes), figures.grouped)
    if interval is None or not figures.are_shares:
        return interval
    return difference_interval(zip(figures.groups, figures.changes))


def _detectable(figures: Measured, level: float) -> float | None:
    """Return the smallest difference that would be significant; None if none would be."""
    # Signs that are drawn give no p value below a bound; those of verdicts need not be drawn.
    if level < paired.LEAST_DRAWN and (figures.grouped or not figures.are_verdicts):
        return None
    if not figures.are_shares and not any(figures.sums):
        return None
    found = paired.detectable(figures.sums, len(figures.a), level)
    return None if figures.are_shares and found is not None and found > 1 else found
