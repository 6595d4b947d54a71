"""The distribution of one evaluator's scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from llmeval_integrations.runs.records import score_of
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.verdicts import Verdicts
from llmeval_integrations.stats.intervals import Interval, t_of, wilson

BARS: Final = 20
"""Bars of a histogram."""


@dataclass
class Scores:
    """Figures of the scores; their size does not grow with the run."""

    n: int = 0
    """Scores that are finite."""

    low: float = math.inf
    """The lowest."""

    high: float = -math.inf
    """The highest."""

    mean: float = 0.0
    """Their mean."""

    counts: list[int] = field(default_factory=list)
    """How many lie in each of the equal parts from lowest to highest."""

    known_lower: bool | None = None
    """Whether they are better where they are lower; None where the rows have to tell."""

    _zeros: int = 0
    _ones: int = 0
    _squares: float = 0.0
    _verdicts: Verdicts = field(default_factory=Verdicts)

    def add(self, row: Row) -> None:
        """Count a row in (Welford, Technometrics 4 (1962) 419)."""
        score = score_of(row)
        if score is None:
            return
        self.n += 1
        self.low, self.high = min(self.low, score), max(self.high, score)
        self._zeros += score == 0
        self._ones += score == 1
        step = score - self.mean
        self.mean += step / self.n
        self._squares += step * (score - self.mean)
        if row.passed is not None:
            self._verdicts.add(score, row.passed)

    def sort_in(self, row: Row) -> None:
        """Count a row into its bar; all rows have to be counted in before."""
        score = score_of(row)
        if score is None:
            return
        width = self.width
        if not self.counts:
            self.counts = [0] * (BARS if width else 1)
        place = int((score - self.low) / width) if width else 0
        self.counts[min(place, len(self.counts) - 1)] += 1

    @property
    def width(self) -> float:
        """How far a bar reaches; 0 where all scores are one, or too far apart for a float."""
        width = (self.high - self.low) / BARS if self.n else 0.0
        return width if math.isfinite(width) else 0.0

    @property
    def lower_is_better(self) -> bool:
        """Whether that is known of them, or else all that passed are lower than all that failed."""
        if self.known_lower is None:
            return self._verdicts.lower_passed is True
        return self.known_lower

    @property
    def interval(self) -> Interval | None:
        """The 95 % confidence interval of the mean.

        Where every score is 0 or 1 the mean is a rate, and it is Wilson's, as of the pass rate.
        Else it is by Student's t, and None where all scores are the same, as a single one is: how
        far they spread is not known. Scores that all lie from 0 to 1 are taken for shares, so it
        ends there too; it may reach beyond the lowest and the highest score that were seen, for the
        mean of all that could have been may lie there.
        """
        if self._zeros + self._ones == self.n:
            return wilson(self._ones, self.n)
        if self.low == self.high:
            return None
        error = math.sqrt(self._squares / (self.n - 1) / self.n)
        half = t_of(0.95, self.n - 1) * error
        if not math.isfinite(half):
            return None
        low, high = self.mean - half, self.mean + half
        return (max(0.0, low), min(1.0, high)) if 0 <= self.low <= self.high <= 1 else (low, high)

    def goodness(self, row: Row) -> float:
        """Place a row's score between the worst, 0, and the best, 1; without one it is 0.5."""
        score = score_of(row)
        if score is None or not self.width:
            return 0.5
        share = (score - self.low) / (self.high - self.low)
        return 1 - share if self.lower_is_better else share
