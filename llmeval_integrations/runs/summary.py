"""What a run comes to, counted while it runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from llmeval_integrations.core.evaluator import Breakdown
from llmeval_integrations.fields.tally import count
from llmeval_integrations.runs.groups import Groups
from llmeval_integrations.runs.rows import Column, Row, as_stored, is_failing
from llmeval_integrations.stats.groups import Figures, mean_interval
from llmeval_integrations.stats.intervals import Interval

Kind = tuple[bool, str]
"""Whether it is an error, and its name."""

_MOST_LABELS: Final = 1_000
OTHER: Final = "(other)"
"""Stands for all labels and kinds beyond the first thousand."""

_MOST_REASONS: Final = 1_000
_OTHER_REASON: Final[tuple[Kind, str]] = ((False, ""), OTHER)
"""Stands for all reasons beyond the first thousand; no label of a row is empty."""

_LONGEST_TEXT: Final = 200

_VERDICTS: Final = frozenset((0, 1))

_UNITS: Final = 2.0**100
"""Squares are added up in whole units of 1 by this, so that no order of rows changes the sum."""

_LARGEST: Final = 1e130
"""Of a score of this size or more the square is no float, so that a mean has no interval."""


@dataclass(frozen=True)
class Finding:
    """One kind of what was found, with the reason that was given most often."""

    kind: str
    """A label, cut to 200 characters; "failed" or "unscored" where there is none; for an error, its
    type."""

    count: int
    """How many rows."""

    reason: str
    """The most frequent reason, cut to 200 characters."""

    of_reason: int
    """How many of the rows have that reason; of very many reasons, how many at least."""

    is_error: bool
    """Whether these rows have no result."""


@dataclass
class Tally:
    """One evaluator's figures; its size grows with groups and kinds, and not with the run."""

    n: int = 0
    """Rows."""

    scored: int = 0
    """Rows with a score."""

    unscored: int = 0
    """Rows about which the evaluator could not tell."""

    errors: int = 0
    """Rows without a result."""

    rated: int = 0
    """Rows that passed or failed."""

    passes: int = 0
    """Rows that passed."""

    inconsistent: int = 0
    """Rows whose judge gave a verdict against its own reasons."""

    labels: Counter[str] = field(default_factory=Counter)
    """How often each label was given."""

    breakdown: Breakdown | None = None
    """Adds up the evaluator's own details."""

    groups: Groups = field(default_factory=Groups)
    """What is counted of rows that belong together."""

    _sum: list[float] = field(default_factory=list)
    _squares: int = 0
    _low: float = math.inf
    _high: float = -math.inf
    _kinds: Counter[Kind] = field(default_factory=Counter)
    _examples: dict[Kind, str] = field(default_factory=dict)
    _reasons: Counter[tuple[Kind, str]] = field(default_factory=Counter)

    def add_column(self, column: Column) -> None:
        """Count in a chunk's rows."""
        if self.breakdown is not None:
            self.add(column.rows)
            return
        self.add_plain(column.scores)
        self.add([column.rows[place] for place in column.others])

    def add(self, rows: Iterable[Row]) -> None:
        """Count in rows of any kind, one by one."""
        scores: list[float] = []
        for row in rows:
            self._add(row, scores)
        self._add_scores(scores)

    def add_plain(self, scores: list[float]) -> None:
        """Count in plain rows with these scores, where there is no breakdown."""
        self.n += len(scores)
        self.rated += len(scores)
        self.passes += len(scores)
        self._add_scores(scores)

    def _add(self, row: Row, scores: list[float]) -> None:
        self.n += 1
        if is_failing(row):
            self._find(*found_in(row))
        if row.error is not None:
            self.errors += 1
            return
        if self.breakdown is not None:
            self.breakdown.add(as_stored(row.id), row.metadata)
        if row.unscored:
            self.unscored += 1
        elif row.score is not None:
            scores.append(row.score)
        if row.passed is not None:
            self.rated += 1
            self.passes += row.passed
        self.inconsistent += row.metadata.get("inconsistent") is True
        if row.group is not None:
            self.groups.add(row)
        if row.label is not None:
            count(self.labels, _short(row.label), OTHER, _MOST_LABELS)

    def _add_scores(self, scores: list[float]) -> None:
        if not scores:
            return
        # Sums are exact: that of scores is kept in parts of falling size.
        self.scored += len(scores)
        low, high = min(scores), max(scores)
        self._low, self._high = min(self._low, low), max(self._high, high)
        if set(scores) <= _VERDICTS:  # as most are
            scores = [float(sum(scores))]
            self._squares += int(scores[0] * _UNITS)
        else:
            self._squares += sum(
                [int(score * score * _UNITS) for score in scores if abs(score) < _LARGEST]
            )
        left = [*self._sum, *scores]
        self._sum = []
        while part := math.fsum(left):
            self._sum.append(part)
            left.append(-part)

    def _find(self, kind: Kind, reason: str) -> None:
        reason = _short(reason)
        kind = count(self._kinds, kind, (kind[0], OTHER), _MOST_LABELS)
        self._examples.setdefault(kind, reason)
        count(self._reasons, (kind, reason), _OTHER_REASON, _MOST_REASONS)

    @property
    def pass_rate(self) -> float | None:
        """The share of rows that passed among those for which the evaluator says so."""
        return self.passes / self.rated if self.rated else None

    def summary(self) -> dict[str, Any]:
        """Return the figures by name; a mean stands on the scored rows alone."""
        of_rate, of_mean = self._rate_interval(), self._mean_interval()
        return {
            "n": self.n,
            "scored": self.scored,
            "unscored": self.unscored,
            "errors": self.errors,
            "mean": math.fsum(self._sum) / self.scored if self.scored else None,
            "mean_ci95": list(of_mean) if of_mean else None,
            "pass_rate": self.pass_rate,
            "pass_rate_ci95": list(of_rate) if of_rate else None,
            "labels": dict(sorted(self.labels.items(), key=lambda item: (-item[1], item[0]))),
            **({"inconsistent": self.inconsistent} if self.inconsistent else {}),
            **({"groups": self.groups.summary()} if self.groups else {}),
            **(self.breakdown.summary() if self.breakdown is not None else {}),
        }

    def _rate_interval(self) -> Interval | None:
        if not self.rated:
            return None
        passes = float(self.passes)
        figures = Figures(self.rated, passes, passes, passes == self.rated, passes > 0)
        return mean_interval(figures, self.groups.of_verdicts(figures))

    def _mean_interval(self) -> Interval | None:
        if not self.scored or max(-self._low, self._high) >= _LARGEST:
            return None
        total, squares = math.fsum(self._sum), self._squares / int(_UNITS)
        figures = Figures(self.scored, total, squares, self._low, self._high)
        return mean_interval(figures, self.groups.of_scores(figures))

    def findings(self) -> list[Finding]:
        """List what was found in rows that did not pass, the most frequent first.

        Each with its most frequent reason; in a long run with many, as far as it was followed.
        """
        reasons = {kind: (example, 1) for kind, example in self._examples.items()}
        for (kind, reason), number in self._reasons.items():
            if kind in reasons and number > reasons[kind][1]:
                reasons[kind] = reason, number
        return [
            Finding(kind[1], count, *reasons[kind], kind[0])
            for kind, count in self._kinds.most_common()
        ]


def counted_of(row: Row) -> Row:
    """Return a row with nothing but what is counted of it, where there is no breakdown."""
    reason = _short(row.reason or "")
    said = row.score, row.passed, row.label, reason
    return Row(None, "", *said, {}, row.unscored, row.error, row.group)


def found_in(row: Row) -> tuple[Kind, str]:
    """Return the kind of what was found in a row that did not pass, and the reason."""
    if row.error is not None:
        name, _, reason = row.error.partition(": ")
        return (True, name), reason
    kind = _short(row.label) if row.label else "unscored" if row.unscored else "failed"
    return (False, kind), row.reason or ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT]
