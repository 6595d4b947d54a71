"""Two runs compared: is the second better, and in what?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from os import PathLike
from typing import Any, Final, Literal, NamedTuple

from llmeval_integrations.errors import InputError
from llmeval_integrations.intervals import Interval
from llmeval_integrations.runs import statistics
from llmeval_integrations.runs.changing import Change, changes_of
from llmeval_integrations.runs.comparable import doubts
from llmeval_integrations.runs.hints import hint
from llmeval_integrations.runs.joining import Joined, Key, Pair, join
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.stored import read_run

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
    """Samples. Rows with the same id are one sample, of which the mean is taken."""

    a: float
    """The figure in the first run, over these samples."""

    b: float
    """The same in the second."""

    difference: float
    """The second less the first."""

    interval: Interval | None
    """Its 95 % confidence interval, for this figure alone: Newcombe's where each sample has 0 or
    1, else Student's. None where the spread is not known: the samples differ by the same."""

    p: float
    """The chance of a difference as large where nothing has changed: McNemar's exact test where
    each sample has 0 or 1, else by turning signs."""

    adjusted: float
    """The same, adjusted for all differences of the comparison (Holm)."""

    detectable: float | None
    """The smallest difference that so many samples would have shown with a power of 80 %, at the
    level that is left to one of so many differences. None where the spread is not known."""

    better: int
    """Samples that got better."""

    worse: int
    """Samples that got worse."""

    lower_is_better: bool
    """Whether less is better, as with distances."""

    @property
    def verdict(self) -> Verdict:
        """Which way the figure went, where that is surely no chance."""
        if self.adjusted > LEVEL:
            return "none shown"
        return "better" if (self.difference > 0) is not self.lower_is_better else "worse"


@dataclass(frozen=True)
class Compared:
    """What became of one evaluator."""

    joined: int
    """Rows that belong together."""

    left_out: int
    """How many of them are not compared: one of the runs, or both, has no score and no verdict."""

    left_out_a: int
    """How many are unscored or errors in the first run."""

    left_out_b: int
    """How many in the second."""

    better: int
    """Rows that got better: they pass now, or where that is the same, their score is better."""

    worse: int
    """Rows that got worse."""

    changes: list[Change]
    """The rows that got worse, then those that got better, those first that did most."""


@dataclass(frozen=True)
class Comparison:
    """Two runs compared. Differences are those of `b`, the second, from `a`, the first."""

    a: str
    """The first run: its directory, "A" where it is in memory."""

    b: str
    """The second."""

    samples_a: int
    """Samples of the first run."""

    samples_b: int
    """Samples of the second."""

    only_a: list[Any]
    """Ids of samples that the second run lacks."""

    only_b: list[Any]
    """Ids of samples that the first run lacks."""

    differences: list[Difference]
    """Evaluator by evaluator; its fields after it, those first that are least likely chance."""

    evaluators: dict[str, Compared]
    """Evaluators that both runs have, by name."""

    warnings: list[str]
    """Why the runs may not be comparable, and what was not compared."""

    @property
    def regressions(self) -> list[Difference]:
        """The differences that are surely for the worse."""
        return [each for each in self.differences if each.verdict == "worse"]

    @property
    def improvements(self) -> list[Difference]:
        """The differences that are surely for the better."""
        return [each for each in self.differences if each.verdict == "better"]

    def as_dict(self) -> dict[str, Any]:
        """Give all of it in what JSON has."""
        found = asdict(self)
        for each, difference in zip(found["differences"], self.differences):
            each["verdict"] = difference.verdict
        return found

    def table(self) -> str:
        """Write it as tables of plain text."""
        from llmeval_integrations.runs.comparison_table import as_text

        return as_text(self)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        worse, better = len(self.regressions), len(self.improvements)
        return f"<Comparison of {self.a} and {self.b}: {worse} worse, {better} better>"


def compare(
    a: Run | str | PathLike[str],
    b: Run | str | PathLike[str],
    *,
    evaluators: Collection[str] | None = None,
    fields: bool = True,
    lower_is_better: Collection[str] = (),
    changes: int = 100,
) -> Comparison:
    """Compare two runs over the same samples, each a Run or a run's directory.

    evaluators: those that are compared; all that both runs have by default.
    fields: whether single fields are compared, too. Each takes its part in the correction for
        many differences, so without them smaller differences of the evaluators are shown.
    lower_is_better: evaluators with a score that is better where it is lower; found by itself where
        rows that passed have lower scores than rows that failed.
    changes: how many samples are listed for each evaluator and direction.

    Samples are joined by id. Rows of the same id are joined by occurrence, and their mean counts as
    one sample, for they are not independent. What is unscored or an error in either run is left
    out and counted, never taken for 0. A field that only one of the two outputs has, where it
    should not, counts as right in the other.

    The chance that any difference is called better or worse where nothing has changed is 5 % at
    most, for all together. Raises InputError where there is no run, no such evaluator, or no
    sample that both runs have.
    """
    runs = [each if isinstance(each, Run) else read_run(each) for each in (a, b)]
    names = _names(runs[0], runs[1], evaluators)
    joined = join(runs[0], runs[1], names)
    if not any(joined.pairs.values()):
        raise InputError(f"no sample is in both runs: {_ids(joined)}")
    lower = {name for name in names if _is_lower_better(joined.pairs[name])}
    lower |= _known(lower_is_better, names)
    measured = [
        each
        for name in names
        for each in _measured(name, joined.pairs[name], fields=fields, lower=name in lower)
    ]
    compared = {
        name: _compared(runs, name, joined.pairs[name], name in lower, changes) for name in names
    }
    return Comparison(
        *(str(run.out) if run.out else letter for run, letter in zip(runs, "AB")),
        *(run.summary["samples"] for run in runs),
        joined.only_a,
        joined.only_b,
        _differences(measured),
        compared,
        [*doubts(runs[0], runs[1], joined), *_not_compared(runs, names, compared)],
    )


def _names(a: Run, b: Run, wanted: Collection[str] | None) -> list[str]:
    """Give the evaluators to compare, in the order of the first run."""
    shared = [name for name in a.summary["evaluators"] if name in b.summary["evaluators"]]
    if not shared:
        had = " and ".join(", ".join(run.summary["evaluators"]) or "none" for run in (a, b))
        raise InputError(f"the runs have no evaluator in common: {had}")
    if wanted is None:
        return shared
    wanted = _known([wanted] if isinstance(wanted, str) else wanted, shared)
    return [name for name in shared if name in wanted]


def _known(names: Collection[str], shared: list[str]) -> set[str]:
    for name in names:
        if name not in shared:
            raise InputError(
                f"no evaluator of both runs is called {name!r}; {hint(name, shared)}"
            )
    return set(names)


def _ids(joined: Joined) -> str:
    shown = ((ids, letter) for ids, letter in ((joined.only_a, "A"), (joined.only_b, "B")))
    return ", ".join(
        f"{letter} has {', '.join(map(repr, ids[:3])) or 'none'}" for ids, letter in shown
    )


def _is_lower_better(pairs: Iterable[Pair]) -> bool:
    """Say whether what passed has lower scores than what failed, in both runs together."""
    scores: dict[bool, list[float]] = {True: [], False: []}
    for pair in pairs:
        for said in (pair.a, pair.b):
            if said.score is not None and said.passed is not None:
                scores[said.passed].append(said.score)
    passed, failed = (_mean(scores[verdict]) for verdict in (True, False))
    return passed < failed  # NaN, where there are none of one kind, is not


class _Measured(NamedTuple):
    """A figure of each sample in both runs."""

    evaluator: str
    measure: Measure
    field: str | None
    a: list[float]
    b: list[float]
    lower_is_better: bool


def _measured(name: str, pairs: list[Pair], *, fields: bool, lower: bool) -> Iterator[_Measured]:
    """Give the figures that can be compared: verdicts, scores that say more, fields."""
    passed = [
        (pair.key, float(pair.a.passed), float(pair.b.passed))
        for pair in pairs
        if pair.a.passed is not None and pair.b.passed is not None
    ]
    scores = [
        (pair.key, pair.a.score, pair.b.score)
        for pair in pairs
        if pair.a.score is not None and pair.b.score is not None
    ]
    if passed:
        yield _Measured(name, "pass rate", None, *_by_id(passed), False)
    if scores and scores != passed:
        yield _Measured(name, "score", None, *_by_id(scores), lower)
    for path, shares in _fields(pairs).items() if fields else ():
        yield _Measured(name, "matching leaves", path, *_by_id(shares), False)


def _fields(pairs: Iterable[Pair]) -> dict[str, list[tuple[Key, float, float]]]:
    """Give each field's shares; a side that has no leaf there has nothing wrong there."""
    found: dict[str, list[tuple[Key, float, float]]] = {}
    for pair in pairs:
        a, b = pair.a.fields, pair.b.fields
        if a is not None and b is not None:
            for path in {**a, **b}:
                found.setdefault(path, []).append((pair.key, a.get(path, 1.0), b.get(path, 1.0)))
    return found


def _by_id(figures: list[tuple[Key, float, float]]) -> tuple[list[float], list[float]]:
    """Give one figure of each run for each id, the mean where an id has several."""
    means = [
        [_mean([figure[side] for figure in group]) for side in (1, 2)]
        for group in (list(each) for _, each in groupby(figures, itemgetter(0)))
    ]
    return [a for a, _ in means], [b for _, b in means]


def _mean(figures: list[float]) -> float:
    return math.fsum(figures) / len(figures) if figures else math.nan


def _differences(measured: list[_Measured]) -> list[Difference]:
    """Test each figure, and put the least likely fields first."""
    level = LEVEL / max(len(measured), 1)
    found = [_tested(each, level) for each in measured]
    adjusted = statistics.holm([test["p"] for test in found])
    differences = [
        Difference(each.evaluator, each.measure, each.field, adjusted=p, **test)
        for each, test, p in zip(measured, found, adjusted)
    ]
    order = {name: place for place, name in enumerate(dict.fromkeys(m.evaluator for m in measured))}
    return sorted(
        differences,
        key=lambda each: (order[each.evaluator], each.field is not None, each.field and each.p),
    )


def _tested(figures: _Measured, level: float) -> dict[str, Any]:
    """Give what is known of a difference; `level` is what is left to it of the chance of error."""
    differences = [_less(b, a) for a, b in zip(figures.a, figures.b)]
    n, up = len(differences), sum(each > 0 for each in differences)
    down = sum(each < 0 for each in differences)
    a, b = _mean(figures.a), _mean(figures.b)
    if {*figures.a, *figures.b} <= {0.0, 1.0}:
        both = sum(a == b == 1 for a, b in zip(figures.a, figures.b))
        p = statistics.mcnemar(down, up)
        interval: Interval | None = statistics.newcombe(both, down, up, n - both - down - up)
        detectable = statistics.detectable_rate(n, up + down, level)
    else:
        p = statistics.sign_flip(differences)
        interval = statistics.student(differences)
        detectable = statistics.detectable_mean(differences, level)
    lower = figures.lower_is_better
    return {
        "n": n,
        "a": a,
        "b": b,
        "difference": _mean(differences),
        "interval": interval,
        "p": p,
        "detectable": detectable,
        "better": down if lower else up,
        "worse": up if lower else down,
        "lower_is_better": lower,
    }


def _less(b: float, a: float) -> float:
    """Subtract; what differs by the rounding of floats alone does not differ."""
    return 0.0 if math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) else b - a


def _compared(runs: list[Run], name: str, pairs: list[Pair], lower: bool, most: int) -> Compared:
    left_out = [(pair.a.is_nothing, pair.b.is_nothing) for pair in pairs]
    worse, better, changes = changes_of(runs[0], runs[1], pairs, lower_is_better=lower, most=most)
    return Compared(
        len(pairs),
        sum(map(any, left_out)),
        *(sum(each[side] for each in left_out) for side in (0, 1)),
        better,
        worse,
        changes,
    )


def _not_compared(runs: list[Run], names: list[str], found: dict[str, Compared]) -> Iterator[str]:
    """Word what was left out."""
    for name in names:
        each = found[name]
        if each.left_out:
            yield (
                f"{name}: {each.left_out} of {each.joined} samples are left out, as they have no "
                f"score: {each.left_out_a} in A, {each.left_out_b} in B"
            )
