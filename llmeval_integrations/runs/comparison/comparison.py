"""What comes of comparing two runs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from llmeval_integrations.runs.comparison.differences import Difference
from llmeval_integrations.runs.numbers import counted


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
    """How many of them are not compared: one of the runs, or both, has no score and no verdict."""

    left_out_a: int
    """How many are unscored or errors in the first run."""

    left_out_b: int
    """How many in the second."""

    better: int
    """Rows that got better: they pass now, or where that is the same, their score is better. Of a
    score of which it is not known which way is better, those that pass now alone."""

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
        groups = "" if each.groups is None else f" in {counted(each.groups, 'group')}"
        samples = counted(each.n, "sample") + groups
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
        from llmeval_integrations.reports.comparison_view import comparison_view
        from llmeval_integrations.reports.terminal import as_text

        return as_text(comparison_view(self))

    def _repr_html_(self) -> str:
        """Write the same as HTML, as notebooks show it."""
        from llmeval_integrations.reports.comparison_view import comparison_view
        from llmeval_integrations.reports.html import as_fragment

        return as_fragment(comparison_view(self))

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        worse, better = len(self.regressions), len(self.improvements)
        return f"<Comparison of {self.a} and {self.b}: {worse} worse, {better} better>"
