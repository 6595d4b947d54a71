"""The differences between the figures of two runs, and whether they may be chance."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from llmeval_integrations.core.figures import is_same
from llmeval_integrations.runs.comparison.join import Pair
from llmeval_integrations.stats import paired
from llmeval_integrations.stats.intervals import Figures, Group, Interval, are_single, student

LEVEL: Final = 0.05
"""The chance of a false alarm, for all differences of a comparison together."""

Measure = Literal["pass rate", "score", "matching leaves"]
Verdict = Literal["better", "worse", "none shown"]

_Figure: TypeAlias = tuple[Measure, str | None]
_PASSED: Final[_Figure] = ("pass rate", None)
_SCORE: Final[_Figure] = ("score", None)


@dataclass(frozen=True)
class Difference:
    """The difference of one figure, in the samples that have it in both runs."""

    evaluator: str
    measure: Measure
    """The share of samples that pass, the mean score, or the mean share of matching leaves of a
    field."""

    field: str | None
    """The field, a JSON Pointer with `*` for positions."""

    n: int
    groups: int | None
    """The number of groups; None if no two samples have the same group."""

    a: float
    """The figure in the first run, over these samples."""

    b: float
    difference: float

    interval: Interval | None
    """The 95 % interval for this difference alone. None for a single group, and if all samples
    differ by the same."""

    p: float
    """The chance of such a difference if nothing has changed."""

    adjusted: float
    """The same, adjusted for all differences that could be shown."""

    detectable: float | None
    """The smallest difference that so many samples show with a power of 80 %. None if they show
    none, or if it is not known."""

    better: int
    """The number of samples that got better; 0 if the direction is not known."""

    worse: int
    lower_is_better: bool | None
    """Whether a lower figure is better, as of distances; None if this is not known."""

    @property
    def verdict(self) -> Verdict:
        """Whether the figure is better or worse, if this is significant and not unknown."""
        if self.adjusted > LEVEL or self.lower_is_better is None:
            return "none shown"
        return "better" if (self.difference > 0) is not self.lower_is_better else "worse"


@dataclass
class Measured:
    """One figure of each sample in both runs, and the group of the sample."""

    evaluator: str
    measure: Measure
    field: str | None
    lower_is_better: bool | None
    a: list[float] = dataclasses.field(default_factory=list)
    b: list[float] = dataclasses.field(default_factory=list)
    groups: list[Hashable] = dataclasses.field(default_factory=list)

    @cached_property
    def changes(self) -> list[float]:
        """The difference of each sample.

        If a difference equals the first one but for the rounding of floats, it is the first one.
        """
        first = self.b[0] - self.a[0]
        return [
            0.0 if is_same(a, b) else first if is_same(a + first, b) else b - a
            for a, b in zip(self.a, self.b)
        ]

    @cached_property
    def grouped(self) -> list[Group]:
        """The sum of changes in each group; empty if no two samples have the same group."""
        found: dict[Hashable, list[float]] = {}
        for own, change in zip(self.groups, self.changes):
            found.setdefault(own, []).append(change)
        groups = [Group(len(each), math.fsum(each)) for each in found.values()]
        return [] if are_single(groups) else groups

    @cached_property
    def sums(self) -> list[float]:
        """The independent changes: those of groups or of samples."""
        return [each.total for each in self.grouped] or self.changes

    @cached_property
    def are_shares(self) -> bool:
        return all(0 <= each <= 1 for each in (*self.a, *self.b))

    @cached_property
    def are_verdicts(self) -> bool:
        return all(each in {0.0, 1.0} for each in (*self.a, *self.b))


def measure(name: str, pairs: Sequence[Pair], *, lower: bool | None) -> list[Measured]:
    """Return the figures to compare: verdicts, scores that tell more, and fields."""
    rate = Measured(name, *_PASSED, lower_is_better=False)
    score = Measured(name, *_SCORE, lower_is_better=lower)
    figures = {_PASSED: rate, _SCORE: score}
    for pair in pairs:
        for figure, a, b in _sides(pair):
            if figure not in figures:
                figures[figure] = Measured(name, *figure, lower_is_better=False)
            figures[figure].a.append(a)
            figures[figure].b.append(b)
            # Without a group, samples with the same id are a group.
            own = ("id", pair.key) if pair.group is None else pair.group
            figures[figure].groups.append(own)
    says_more = (rate.a, rate.b) != (score.a, score.b)
    return [each for each in figures.values() if each.a and (each is not score or says_more)]


def _sides(pair: Pair) -> Iterator[tuple[_Figure, float, float]]:
    """Yield the figures of both sides. A sample without a leaf in a field has no error there."""
    a, b = pair.a, pair.b
    if a.passed is not None and b.passed is not None:
        yield _PASSED, float(a.passed), float(b.passed)
    if a.score is not None and b.score is not None:
        yield _SCORE, a.score, b.score
    if a.shares is not None and b.shares is not None:
        for path in {**a.shares, **b.shares}:
            yield ("matching leaves", path), a.shares.get(path, 1.0), b.shares.get(path, 1.0)


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
    n, changes, lower = len(figures.changes), figures.changes, figures.lower_is_better
    up, down = sum(each > 0 for each in changes), sum(each < 0 for each in changes)
    better, worse = {False: (up, down), True: (down, up), None: (0, 0)}[lower]
    return Difference(
        figures.evaluator,
        figures.measure,
        figures.field,
        n,
        len(figures.grouped) or None,
        math.fsum(figures.a) / n,
        math.fsum(figures.b) / n,
        math.fsum(changes) / n,
        _interval(figures, down, up),
        p,
        adjusted,
        _detectable(figures, level),
        better,
        worse,
        lower,
    )


def _interval(figures: Measured, down: int, up: int) -> Interval | None:
    """Return Newcombe's interval of verdicts, or Student's, within the bounds of shares."""
    if figures.are_verdicts:
        both = sum(a == b == 1 for a, b in zip(figures.a, figures.b))
        counts = paired.PairCounts(both, down, up, len(figures.a) - both - down - up)
        return paired.newcombe(counts, figures.grouped)
    found = student(Figures.of(figures.changes), figures.grouped)
    if found is None or not figures.are_shares:
        return found
    return max(found[0], -1.0), min(found[1], 1.0)


def _detectable(figures: Measured, level: float) -> float | None:
    """Return the smallest difference that would be significant, None if there is none."""
    is_exact = figures.are_verdicts and not figures.grouped
    is_known = figures.are_shares or any(figures.sums)
    if not is_known or (level < paired.LEAST_DRAWN and not is_exact):
        return None
    found = paired.detectable(figures.sums, len(figures.a), level)
    return None if figures.are_shares and found is not None and found > 1 else found
