"""How the figures of two runs differ, and whether that may be chance."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from llmeval_integrations.core.figures import is_same
from llmeval_integrations.runs.comparing.joining import Pair, Pairs
from llmeval_integrations.stats import paired
from llmeval_integrations.stats.groups import Figures, Group, are_single, student
from llmeval_integrations.stats.intervals import Interval
from llmeval_integrations.stats.power import detectable

LEVEL: Final = 0.05
"""The chance of a false alarm that is accepted, for all differences of a comparison together."""

Measure = Literal["pass rate", "score", "matching leaves"]
Verdict = Literal["better", "worse", "none shown"]


@dataclass(frozen=True)
class Difference:
    """How one figure differs between two runs, over the samples for which both have it."""

    evaluator: str
    """Its name in both runs."""

    measure: Measure
    """Of what: the share of samples that pass, the mean score, or, of a field, the mean share of a
    sample's leaves that match."""

    field: str | None
    """The field, a JSON Pointer with `*` for positions."""

    n: int
    """Samples."""

    groups: int | None
    """The groups that these are in; None where no two of them belong together. Samples with the
    same id are a group where none is named."""

    a: float
    """The figure in the first run, over these samples."""

    b: float
    """The same in the second."""

    difference: float
    """The second less the first."""

    interval: Interval | None
    """Its 95 % confidence interval, for this figure alone: Newcombe's where each sample has 0 or
    1, else Student's; both over groups where there are any. Of figures that all lie from 0 to 1 it
    ends at -1 and 1. None where the spread is not known: of a single group, and where scores
    differ by the same, but for the rounding of floats."""

    p: float
    """The chance of a difference as large where nothing has changed: McNemar's exact test where
    each sample has 0 or 1 and there are no groups, else by turning the signs of samples, or of
    groups as a whole."""

    adjusted: float
    """The same, adjusted for all differences of the comparison (Holm)."""

    detectable: float | None
    """The smallest difference that so many samples would have shown with a power of 80 %, at the
    level that is left to one of so many differences. None where they could show none, of scores
    beyond 0 and 1 of which none changed, and of scores or groups among more than 500 differences,
    where it takes more than the test's draws can tell."""

    better: int
    """Samples that got better; 0 where it is not known which way is better."""

    worse: int
    """Samples that got worse; 0 where it is not known which way is better."""

    lower_is_better: bool | None
    """Whether less is better, as with distances; None where that is not known."""

    @property
    def verdict(self) -> Verdict:
        """Which way the figure went, where that is surely no chance, and known which is better."""
        if self.adjusted > LEVEL or self.lower_is_better is None:
            return "none shown"
        return "better" if (self.difference > 0) is not self.lower_is_better else "worse"


_Figure: TypeAlias = tuple[Measure, str | None]
_Sides: TypeAlias = tuple[float, float]

_PASSED: Final[_Figure] = ("pass rate", None)
_SCORE: Final[_Figure] = ("score", None)


class Measured(NamedTuple):
    """A figure of each sample in both runs."""

    evaluator: str
    """Whose."""

    measure: Measure
    """Which."""

    field: str | None
    """Of which field."""

    a: Sequence[float]
    """Sample by sample, in the first run."""

    b: Sequence[float]
    """The same in the second."""

    groups: Sequence[int]
    """The number of the group that each sample is in."""

    lower_is_better: bool | None
    """Whether less is better; None where that is not known."""


class _Columns(NamedTuple):
    """A figure of each sample in both runs, and the number of its group."""

    a: array[float]
    b: array[float]
    groups: array[int]

    @classmethod
    def new(cls) -> _Columns:
        return cls(array("d"), array("d"), array("q"))


def measured(name: str, pairs: Pairs, *, lower: bool | None) -> Iterator[Measured]:
    """Yield the figures that can be compared: verdicts, scores that say more, fields."""
    figures: dict[_Figure, _Columns] = {_PASSED: _Columns.new(), _SCORE: _Columns.new()}
    says_more = False
    for group, pair in _in_groups(pairs):
        sides = dict(_sides(pair))
        says_more = says_more or sides.get(_SCORE) != sides.get(_PASSED)
        for figure, (a, b) in sides.items():
            columns = figures.get(figure) or figures.setdefault(figure, _Columns.new())
            columns.a.append(a)
            columns.b.append(b)
            columns.groups.append(group)
    for figure, columns in figures.items():
        if columns.a and (figure != _SCORE or says_more):
            lower_is_better = lower if figure == _SCORE else False
            yield Measured(name, *figure, columns.a, columns.b, columns.groups, lower_is_better)


def _in_groups(pairs: Pairs) -> Iterator[tuple[int, Pair]]:
    """Yield each pair with the number of its group; those with the same id are one where none is.

    Pairs with the same id follow one another.
    """
    number, last = 0, None
    for pair in pairs:
        number -= pair.key != last
        last = pair.key
        yield pair.group if pair.group >= 0 else number, pair


def _sides(pair: Pair) -> Iterator[tuple[_Figure, _Sides]]:
    """Yield what both sides have; one that has no leaf in a field has nothing wrong there."""
    a, b = pair.a, pair.b
    if a.passed is not None and b.passed is not None:
        yield _PASSED, (float(a.passed), float(b.passed))
    if a.score is not None and b.score is not None:
        yield _SCORE, (a.score, b.score)
    if a.fields is not None and b.fields is not None:
        first, second = dict(zip(*a.fields)), dict(zip(*b.fields))
        for path in {**first, **second}:
            yield ("matching leaves", path), (first.get(path, 1.0), second.get(path, 1.0))


def mean(figures: Sequence[float]) -> float:
    """Return the mean, NaN of nothing."""
    return math.fsum(figures) / len(figures) if figures else math.nan


def differences_of(measured: list[Measured]) -> list[Difference]:
    """Test each figure, and put the least likely fields first."""
    level = LEVEL / max(len(measured), 1)
    found = [_tested(each, level) for each in measured]
    adjusted = paired.holm([test["p"] for test in found])
    differences = [
        Difference(each.evaluator, each.measure, each.field, adjusted=p, **test)
        for each, test, p in zip(measured, found, adjusted)
    ]
    order = list(dict.fromkeys(each.evaluator for each in measured))
    return sorted(differences, key=lambda each: (order.index(each.evaluator), *_rank(each)))


def _rank(difference: Difference) -> tuple[bool, float]:
    return difference.field is not None, difference.p if difference.field is not None else 0.0


def _tested(figures: Measured, level: float) -> dict[str, Any]:
    """Return what is known of a difference; `level` is its part of the chance of error."""
    differences = array("d", _differences(figures.a, figures.b))
    groups = _groups(differences, figures.groups)
    n, up = len(differences), sum(each > 0 for each in differences)
    down = sum(each < 0 for each in differences)
    sums = [each.total for each in groups] or differences
    are_shares = all(0 <= each <= 1 for each in chain(figures.a, figures.b))
    are_verdicts = all(each in {0.0, 1.0} for each in chain(figures.a, figures.b))
    if are_verdicts:
        both = sum(a == b == 1 for a, b in zip(figures.a, figures.b))
        p = paired.sign_flip(sums) if groups else paired.mcnemar(down, up)
        pairs = paired.PairCounts(both, down, up, n - both - down - up)
        interval = paired.newcombe(pairs, groups)
    else:
        p = paired.sign_flip(sums)
        interval = student(Figures.of(differences), groups)
        if interval and are_shares:
            interval = max(interval[0], -1.0), min(interval[1], 1.0)
    is_exact = are_verdicts and not groups
    lower = figures.lower_is_better
    better, worse = {False: (up, down), True: (down, up), None: (0, 0)}[lower]
    return {
        "n": n,
        "groups": len(groups) or None,
        "a": mean(figures.a),
        "b": mean(figures.b),
        "difference": mean(differences),
        "interval": interval,
        "p": p,
        "detectable": _detectable(sums, n, level, are_shares=are_shares, is_exact=is_exact),
        "better": better,
        "worse": worse,
        "lower_is_better": lower,
    }


def _detectable(
    sums: Sequence[float], n: int, level: float, *, are_shares: bool, is_exact: bool
) -> float | None:
    """Return the smallest difference that would be shown, None where none would or is known."""
    if not (are_shares or any(sums)) or (level < paired.LEAST_DRAWN and not is_exact):
        return None
    found = detectable(sums, n, level)
    return None if are_shares and found is not None and found > 1 else found


def _differences(a: Sequence[float], b: Sequence[float]) -> Iterator[float]:
    """Yield how much each sample differs.

    Differences that only the rounding of floats tells from the first one are given as that one:
    it is not a spread.
    """
    first = b[0] - a[0]
    for one, other in zip(a, b):
        if is_same(one, other):
            yield 0.0
        else:
            yield first if is_same(one + first, other) else other - one


def _groups(differences: Sequence[float], numbers: Sequence[int]) -> list[Group]:
    """Add up the differences of each group; none where no two samples belong together."""
    if all(later < earlier < 0 for earlier, later in pairwise(numbers)):
        return []
    found: dict[int, list[float]] = {}
    for number, difference in zip(numbers, differences):
        found.setdefault(number, []).append(difference)
    groups = [Group(len(each), math.fsum(each)) for each in found.values()]
    return [] if are_single(groups) else groups
