"""Two runs compared: is the second better, and in what?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from os import PathLike
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.figures import is_same
from llmeval_integrations.core.quote import hint
from llmeval_integrations.runs.comparison.differences import Difference, differences_of, measure
from llmeval_integrations.runs.comparison.doubts import doubts
from llmeval_integrations.runs.comparison.join import Joined, Pair, join
from llmeval_integrations.runs.load import read_run
from llmeval_integrations.runs.numbers import write_count
from llmeval_integrations.runs.run import Run

_NO_GAIN: Final = (0, 0.0)


@dataclass(frozen=True)
class Change:
    """A sample of which an evaluator says something else in the second run."""

    id: Any
    better: bool
    """Whether it got better."""

    passed_a: bool | None
    passed_b: bool | None
    score_a: float | None
    score_b: float | None
    reason_a: str | None
    reason_b: str | None


@dataclass(frozen=True)
class Compared:
    """What became of one evaluator."""

    joined: int
    """Rows that belong together."""

    left_out: int
    """How many of them are not compared, as either run has no score and no verdict."""

    left_out_a: int
    """How many are unscored or errors in the first run."""

    left_out_b: int
    better: int
    """Rows that got better: they pass now, or where that is the same, their score is better."""

    worse: int
    changes: list[Change]
    """The rows that got worse, then those that got better, those first that did most."""


@dataclass(frozen=True)
class Comparison:
    """Two runs compared. Differences are those of `b`, the second, from `a`, the first."""

    a: str
    """The first run: its directory, "A" where it is in memory."""

    b: str
    samples_a: int
    samples_b: int
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

    @property
    def power(self) -> str:
        """Which differences so many samples can show, in a sentence.

        Of pass rates where there are any, else of scores; the largest of evaluators that changed.
        """
        known = [each for each in self.differences if each.lower_is_better is not None]
        rates = [each for each in known if each.measure == "pass rate"]
        found = rates or [each for each in known if each.measure == "score"]
        if not found:
            return "No sample has a figure in both runs."
        found = [each for each in found if each.better or each.worse] or found
        each = max(found, key=lambda each: math.inf if each.detectable is None else each.detectable)
        groups = "" if each.groups is None else f" in {write_count(each.groups, 'group')}"
        samples = write_count(each.n, "sample") + groups
        if each.detectable is None:
            return f"{samples} can show no difference of {each.evaluator}."
        if each.measure == "score":
            size = f"of {each.evaluator} from about {each.detectable:.2g}"
        else:
            digits = 0 if each.detectable >= 0.01 else 1
            size = f"from about {100 * each.detectable:.{digits}f} points"
        return f"{samples} can show differences {size} (80 % power)."

    def as_dict(self) -> dict[str, Any]:
        """Return all of it in what JSON has."""
        found = asdict(self)
        for each, difference in zip(found["differences"], self.differences):
            each["verdict"] = difference.verdict
        found["power"] = self.power
        return found

    def table(self) -> str:
        """Write it as tables of plain text."""
        from llmeval_integrations.reports import comparison_view, terminal

        return terminal.as_text(comparison_view.comparison_view(self))

    def _repr_html_(self) -> str:
        """Write the same as HTML, as notebooks show it."""
        from llmeval_integrations.reports import comparison_view, html

        return html.as_fragment(comparison_view.comparison_view(self))

    __str__ = table

    def __repr__(self) -> str:
        worse, better = len(self.regressions), len(self.improvements)
        return f"<Comparison of {self.a} and {self.b}: {worse} worse, {better} better>"


def compare(
    a: Run | str | PathLike[str],
    b: Run | str | PathLike[str],
    *,
    evaluators: Collection[str] | None = None,
    by_field: bool = True,
    lower_is_better: Collection[str] = (),
    changes: int = 100,
) -> Comparison:
    """Compare two runs over the same samples, each a Run or a run's directory.

    evaluators: those that are compared; all that both runs have by default.
    by_field: whether single fields are compared, too; each takes its part in the correction.
    lower_is_better: evaluators with a score that is better where it is lower, beside those that
        say so of themselves by their own `lower_is_better`.
    changes: how many samples are listed for each evaluator and direction.

    Samples are joined by id, rows of the same id by occurrence. Samples of one `group` are not
    independent and count for what they are worth. What is unscored or an error in either run is
    left out and counted, never taken for 0.

    Where nothing has changed, any difference is called better or worse in 5 % of cases at most.
    Raises InputError where there is no run, no such evaluator, or no sample of both runs.
    """
    a, b = (each if isinstance(each, Run) else read_run(each) for each in (a, b))
    lower = _choose(a, b, evaluators, lower_is_better)
    joined = join(a, b, lower, by_field=by_field)
    if not any(joined.pairs.values()):
        had = ((side, ids[:3]) for side, ids in (("A", joined.only_a), ("B", joined.only_b)))
        ids = ", ".join(f"{side} has {', '.join(map(repr, some)) or 'none'}" for side, some in had)
        raise InputError(f"no sample is in both runs: {ids}")
    return _compare(a, b, joined, lower, changes)


def _compare(
    a: Run, b: Run, joined: Joined, lower: Mapping[str, bool | None], most: int
) -> Comparison:
    measured = [measure(name, pairs, lower=lower[name]) for name, pairs in joined.pairs.items()]
    differences = differences_of([*chain.from_iterable(measured)])
    compared = {
        name: _compare_pairs(pairs, most, lower=lower[name]) for name, pairs in joined.pairs.items()
    }
    return Comparison(
        str(a.out or "A"),
        str(b.out or "B"),
        a.summary["samples"],
        b.summary["samples"],
        joined.only_a,
        joined.only_b,
        differences,
        compared,
        [*doubts(a, b, joined), *_warnings(compared, differences)],
    )


def _choose(
    a: Run, b: Run, wanted: Collection[str] | None, lower: Collection[str]
) -> dict[str, bool | None]:
    """Name the evaluators to compare, in the order of the first run.

    Each has whether lower scores are better, None where nobody knows.
    """
    shared = [name for name in a.summary["evaluators"] if name in b.summary["evaluators"]]
    if not shared:
        had = " and ".join(", ".join(run.summary["evaluators"]) or "none" for run in (a, b))
        raise InputError(f"the runs have no evaluator in common: {had}")
    for name in (*(wanted or ()), *lower):
        if name not in shared:
            raise InputError(f"no evaluator of both runs is called {name!r}; {hint(name, shared)}")
    known = b.lower_is_better if a.lower_is_better is None else a.lower_is_better
    return {
        name: True if name in lower else None if known is None else name in known
        for name in shared
        if wanted is None or name in wanted
    }


def _compare_pairs(pairs: list[Pair], most: int, *, lower: bool | None) -> Compared:
    """Count what is left out and what changed, and list the samples that changed most."""
    gain_of = partial(_gain, lower=lower)
    worse = sorted((pair for pair in pairs if gain_of(pair) < _NO_GAIN), key=gain_of)
    better = [pair for pair in pairs if gain_of(pair) > _NO_GAIN]
    better.sort(key=gain_of, reverse=True)
    return Compared(
        len(pairs),
        sum(not pair.a.is_answer or not pair.b.is_answer for pair in pairs),
        sum(not pair.a.is_answer for pair in pairs),
        sum(not pair.b.is_answer for pair in pairs),
        len(better),
        len(worse),
        [
            Change(b.id, is_better, a.passed, b.passed, a.score, b.score, a.reason, b.reason)
            for is_better, found in ((False, worse[:most]), (True, better[:most]))
            for _, a, b in found
        ],
    )


def _gain(pair: Pair, *, lower: bool | None) -> tuple[int, float]:
    """Return by how much a pair got better, in its verdict and, where that is the same, its score.

    Where nobody knows which way scores get better, another score alone is no change.
    """
    a, b = pair.a, pair.b
    verdict = 0 if a.passed is None or b.passed is None else b.passed - a.passed
    if lower is None or a.score is None or b.score is None or is_same(a.score, b.score):
        return verdict, 0.0
    return verdict, a.score - b.score if lower else b.score - a.score


def _warnings(compared: Mapping[str, Compared], differences: Sequence[Difference]) -> Iterator[str]:
    """Word what was left out, and of which scores nobody knows which way they get better."""
    for name, each in compared.items():
        if each.left_out:
            yield (
                f"{name}: {each.left_out} of {each.joined} samples are left out, as they have no "
                f"score: {each.left_out_a} in A, {each.left_out_b} in B"
            )
    for difference in differences:
        if difference.lower_is_better is None:
            yield (
                f"{difference.evaluator}: it is not known whether higher or lower scores are "
                "better, so they are called neither; lower_is_better may name this evaluator"
            )
