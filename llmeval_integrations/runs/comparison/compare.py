"""Compares two runs: is the second one better?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from itertools import chain
from operator import itemgetter
from os import PathLike
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.figures import is_same
from llmeval_integrations.core.options import check_count
from llmeval_integrations.core.quote import hint
from llmeval_integrations.runs.comparison.differences import Difference, differences_of, measure
from llmeval_integrations.runs.comparison.doubts import doubts
from llmeval_integrations.runs.comparison.join import Pair, is_answer, join
from llmeval_integrations.runs.load import read_run
from llmeval_integrations.runs.numbers import say_once, write_count
from llmeval_integrations.runs.run import Run

_NO_GAIN: Final = (0, 0.0)


@dataclass(frozen=True)
class Change:
    """A sample with another result in the second run."""

    id: Any
    better: bool
    passed_a: bool | None
    passed_b: bool | None
    score_a: float | None
    score_b: float | None
    reason_a: str | None
    reason_b: str | None


@dataclass(frozen=True)
class Compared:
    """The counts of one evaluator."""

    joined: int  # the number of samples in both runs
    left_out: int  # the number of these without a score or verdict in either run
    left_out_a: int  # the number that are unscored or errors in the first run
    left_out_b: int
    better: int  # the number that pass now or, with the same verdict, have a better score
    worse: int
    changes: list[Change]
    """Samples that got worse, then those that got better, each with the largest changes first."""

    def describe_left_out(self) -> str:
        """Return a warning of the samples that are left out."""
        return (
            f"{self.left_out} of {self.joined} samples are left out, as they have no score: "
            f"{self.left_out_a} in A, {self.left_out_b} in B"
        )


@dataclass(frozen=True)
class Comparison:
    """The comparison of two runs. A difference is the second run minus the first."""

    a: str
    """The directory of the first run, or "A"."""

    b: str
    samples_a: int
    samples_b: int
    only_a: list[Any]
    """Ids of samples that the second run lacks."""

    only_b: list[Any]
    """Ids of samples that the first run lacks."""

    differences: list[Difference]
    """Evaluator by evaluator, then its fields with the smallest p values first."""

    evaluators: dict[str, Compared]
    """The counts of each evaluator that both runs have."""

    warnings: list[str]
    """Why the runs may not be comparable, and which samples are left out."""

    @property
    def regressions(self) -> list[Difference]:
        """The differences that are significant and worse."""
        return [each for each in self.differences if each.verdict == "worse"]

    @property
    def improvements(self) -> list[Difference]:
        """The differences that are significant and better."""
        return [each for each in self.differences if each.verdict == "better"]

    @property
    def power(self) -> str:
        """Return a sentence with the smallest difference that so many samples can show.

        It is for pass rates, or else for scores; with several evaluators, it is the largest.
        """
        found = [each for each in self.differences if each.field is None]
        if not found:
            return "No sample has a figure in both runs."
        each = max(found, key=lambda each: (each.measure == "pass rate", each.detectable or 0.0))
        groups = "" if each.groups is None else f" in {write_count(each.groups, 'group')}"
        samples = write_count(each.n, "sample") + groups
        if each.detectable is None:
            return f"{samples} can show no difference of {each.evaluator}."
        size = f"of {each.evaluator} from about {each.detectable:.2g}"
        if each.measure == "pass rate":
            size = f"from about {100 * each.detectable:.2g} points"
        return f"{samples} can show differences {size} (80 % power)."

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison in types of JSON."""
        return {**asdict(self), "power": self.power}

    def table(self) -> str:
        """Return the comparison as text."""
        from llmeval_integrations.reports import comparison_view, terminal

        return terminal.as_text(comparison_view.comparison_view(self))

    def _repr_html_(self) -> str:
        """Return the comparison as HTML for notebooks."""
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
    evaluators: str | Collection[str] | None = None,
    by_field: bool = True,
    lower_is_better: str | Collection[str] = (),
    changes: int = 100,
) -> Comparison:
    """Compare two runs of the same samples, each a Run or the directory of a run.

    Samples are joined by id. Samples of one `group` are not independent, and all tests take this
    into account. A sample that is unscored or an error in either run is left out and counted; it
    never counts as 0. If nothing has changed, a difference is called better or worse in at most 5 %
    of comparisons.

    Example:
        >>> old = evaluate([{"id": n, "output": "{"} for n in range(9)], "json_validity")
        >>> new = evaluate([{"id": n, "output": "{}"} for n in range(9)], "json_validity")
        >>> compare(old, new).differences[0].verdict
        'better'

    Args:
        a: The first run.
        b: The second run.
        evaluators: The evaluators to compare; by default all that both runs have.
        by_field: Whether single fields are compared, too. Each takes part in the correction.
        lower_is_better: Further evaluators whose lower scores are better.
        changes: The number of samples that are listed for each evaluator and direction.

    Raises:
        InputError: If there is no such run or evaluator, or no sample is in both runs.
    """
    check_count("changes", changes, least=0)
    evaluators = [evaluators] if isinstance(evaluators, str) else evaluators
    lower_is_better = [lower_is_better] if isinstance(lower_is_better, str) else lower_is_better
    a, b = (each if isinstance(each, Run) else read_run(each) for each in (a, b))
    lower = _choose(a, b, evaluators, lower_is_better)
    pairs, only_a, only_b = join(a, b, lower, by_field=by_field)
    if not any(pairs.values()):
        raise InputError(f"no sample is in both runs: A has {only_a[:3]}, B has {only_b[:3]}")
    measured = [measure(name, own, lower=lower[name]) for name, own in pairs.items()]
    differences = differences_of([*chain.from_iterable(measured)])
    compared = {
        name: _compare_pairs(own, changes, lower=lower[name]) for name, own in pairs.items()
    }
    left_out = (
        (name, each.describe_left_out()) for name, each in compared.items() if each.left_out
    )
    return Comparison(
        str(a.out or "A"),
        str(b.out or "B"),
        a.summary["samples"],
        b.summary["samples"],
        only_a,
        only_b,
        differences,
        compared,
        [*doubts(a, b, pairs, (only_a, only_b)), *say_once(left_out)],
    )


def _choose(
    a: Run, b: Run, wanted: Collection[str] | None, lower: Collection[str]
) -> dict[str, bool]:
    """Return the evaluators to compare, and whether lower scores are better."""
    shared = [name for name in a.summary["evaluators"] if name in b.summary["evaluators"]]
    if not shared:
        had = " and ".join(", ".join(run.summary["evaluators"]) or "none" for run in (a, b))
        raise InputError(f"the runs have no evaluator in common: {had}")
    for name in (*(wanted or ()), *lower):
        if name not in shared:
            raise InputError(f"no evaluator of both runs is called {name!r}; {hint(name, shared)}")
    chosen = [name for name in shared if not wanted or name in wanted]
    return {name: name in lower or name in a.lower_is_better for name in chosen}


def _compare_pairs(pairs: list[Pair], most: int, *, lower: bool) -> Compared:
    """Count the samples that are left out and that changed, and list the largest changes."""
    gains = [(_gain(pair, lower=lower), pair) for pair in pairs]
    worse = sorted((each for each in gains if each[0] < _NO_GAIN), key=itemgetter(0))
    better = [each for each in gains if each[0] > _NO_GAIN]
    better.sort(key=itemgetter(0), reverse=True)
    answers = [(is_answer(pair.a), is_answer(pair.b)) for pair in pairs]
    return Compared(
        len(pairs),
        sum(not (a and b) for a, b in answers),
        sum(not a for a, _ in answers),
        sum(not b for _, b in answers),
        len(better),
        len(worse),
        [
            Change(b.id, is_better, a.passed, b.passed, a.score, b.score, a.reason, b.reason)
            for is_better, found in ((False, worse[:most]), (True, better[:most]))
            for _, (_, a, b) in found
        ],
    )


def _gain(pair: Pair, *, lower: bool) -> tuple[int, float]:
    """Return by how much a pair got better, in its verdict and its score."""
    a, b = pair.a, pair.b
    verdict = 0 if a.passed is None or b.passed is None else b.passed - a.passed
    if a.score is None or b.score is None or is_same(a.score, b.score):
        return verdict, 0.0
    return verdict, a.score - b.score if lower else b.score - a.score
