"""The figures of a run, counted while it runs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from llmeval_integrations.core.evaluator import Breakdown
from llmeval_integrations.core.limits import MAX_NAMES
from llmeval_integrations.core.quote import OTHER, name_or_other, shorten
from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.runs.groups import Groups
from llmeval_integrations.runs.rows import Row, as_stored, is_failing
from llmeval_integrations.stats.intervals import Figures, mean_interval

Kind = tuple[bool, str]  # whether it is an error, and its name
_LONGEST: Final = 200

_UNIT: Final = 2.0**100
"""Sums are whole multiples of 1 by this, so they do not depend on the order of rows."""


@dataclass(frozen=True)
class Finding:
    """A cause of rows that did not pass, with its most frequent reason."""

    kind: str  # a label, "failed" or "unscored"; for an error, its type
    count: int  # the number of rows
    reason: str  # the most frequent reason, or the first one; at most 200 characters
    is_error: bool  # whether these rows are errors
    is_defect: bool  # whether the label is a defect: the output is not JSON


@dataclass
class Tally:
    """The figures of one evaluator. Its size does not depend on the number of rows."""

    breakdown: Breakdown | None = None  # sums up the details of the evaluator
    n: int = 0
    scored: int = 0
    unscored: int = 0
    errors: int = 0
    rated: int = 0  # rows with a verdict
    passes: int = 0
    inconsistent: int = 0  # rows whose judge contradicted its own reasons
    labels: Counter[str] = field(default_factory=Counter)
    groups: Groups = field(default_factory=Groups)
    _sum: int = 0
    _squares: int = 0
    _low: float = math.inf
    _high: float = -math.inf
    _defects: set[Kind] = field(default_factory=set)
    _reasons: dict[Kind, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _further: int = 0  # the reasons beside the first of each kind; a thousand have their names
    _unnamed: Counter[Kind] = field(default_factory=Counter)  # the rows with other reasons

    def add(self, rows: Iterable[Row]) -> None:
        """Count rows."""
        scores: list[float] = []
        for row in rows:
            self._add(row, scores)
        self.scored += len(scores)
        for score, times in Counter(scores).items():  # most are the same few
            self._low, self._high = min(self._low, score), max(self._high, score)
            self._sum += times * int(score * _UNIT)
            self._squares += times * int(score * score * _UNIT)

    def add_stored(self, rows: Sequence[Row]) -> None:
        """Count rows of an evaluator that is known only by its name, with their details."""
        if self.breakdown is None:
            found = (_breakdown_of(row.metadata) for row in rows)
            self.breakdown = next(filter(None, found), None)
        self.add(rows)

    def _add(self, row: Row, scores: list[float]) -> None:
        self.n += 1
        passed, label = row.passed, row.label
        if is_failing(row):
            self._find(row)
        if row.error is not None:
            self.errors += 1
            return
        if self.breakdown is not None:
            self.breakdown.add(as_stored(row.id), row.metadata)
        if row.unscored:
            self.unscored += 1
        elif row.score is not None:
            scores.append(row.score)
        if passed is not None:
            self.rated += 1
            self.passes += passed
        if row.metadata and row.metadata.get("inconsistent") is True:
            self.inconsistent += 1
        if row.group is not None:
            self.groups.add(row)
        if label is not None:
            self.labels[name_or_other(label[:_LONGEST], self.labels)] += 1

    def _find(self, row: Row) -> None:
        kind, reason = find_cause(row)
        if row.label in DEFECTS and "offset" in row.metadata:  # others may use the same label
            self._defects.add(kind)
        if kind not in self._reasons and len(self._reasons) >= MAX_NAMES:
            kind = kind[0], OTHER
        reasons = self._reasons[kind]
        if reasons and reason not in reasons:  # the first reason of a kind has its name
            self._further += 1
            if self._further > MAX_NAMES:
                self._unnamed[kind] += 1
                return
        reasons[reason] += 1

    def summary(self) -> dict[str, Any]:
        """Return the figures by name. A mean is that of the scored rows."""
        passes, total = float(self.passes), self._sum / int(_UNIT)
        rate = Figures(self.rated, passes, passes, low=passes == self.rated, high=passes > 0)
        mean = Figures(self.scored, total, self._squares / int(_UNIT), self._low, self._high)
        of_rate = mean_interval(rate, self.groups.of_verdicts(rate)) if self.rated else None
        of_mean = mean_interval(mean, self.groups.of_scores(mean)) if self.scored else None
        return {
            "n": self.n,
            "scored": self.scored,
            "unscored": self.unscored,
            "errors": self.errors,
            "rated": self.rated,
            "mean": total / self.scored if self.scored else None,
            "mean_ci95": list(of_mean) if of_mean else None,
            "pass_rate": passes / self.rated if self.rated else None,
            "pass_rate_ci95": list(of_rate) if of_rate else None,
            "labels": dict(sorted(self.labels.items(), key=lambda item: (-item[1], item[0]))),
            **({"inconsistent": self.inconsistent} if self.inconsistent else {}),
            **({"groups": self.groups.summary()} if self.groups else {}),
            **(self.breakdown.summary() if self.breakdown is not None else {}),
        }

    def findings(self) -> list[Finding]:
        """Return the causes of rows that did not pass, the most frequent first."""
        found = []
        for kind, reasons in self._reasons.items():
            is_error, name = kind
            count = reasons.total() + self._unnamed[kind]
            reason = reasons.most_common(1)[0][0]
            found.append(Finding(name, count, reason, is_error, kind in self._defects))
        return sorted(found, key=lambda each: -each.count)


def _breakdown_of(metadata: Mapping[str, Any]) -> Breakdown | None:
    """Return what sums up such metadata of our evaluators, None for others."""
    if "calls" in metadata:
        from llmeval_integrations.tool_calls.tally import CallTally

        return CallTally()
    if "output_leaves" in metadata:
        from llmeval_integrations.fields.tally import FieldTally

        return FieldTally()
    if "ungrounded" in metadata:
        from llmeval_integrations.evaluators.grounding_tally import GroundingTally

        return GroundingTally()
    return None


def find_cause(row: Row) -> tuple[Kind, str]:
    """Return the cause and the reason of a row that did not pass."""
    if row.error is not None:
        name, _, reason = row.error.partition(": ")
        return (True, name), shorten(reason, _LONGEST)
    kind = row.label[:_LONGEST] if row.label else "unscored" if row.unscored else "failed"
    return (False, kind), shorten(row.reason or "", _LONGEST)


_WRONG: Final = ("mismatch", "wrong_type", "extra")


class Origins:
    """Counts the wrong values of each field by their origin.

    A value that JsonGrounded does not find in the source is invented; one that it finds is misread.
    Values that it does not search are not counted.
    """

    def __init__(self, tallies: Mapping[str, Tally]) -> None:
        self._names = [*tallies]
        kinds = [type(each.breakdown).__name__ for each in tallies.values()]  # not imported yet
        self._grounded = [n for n, kind in enumerate(kinds) if kind == "GroundingTally"]
        self._compared = [n for n, kind in enumerate(kinds) if kind == "FieldTally"]
        self._found: Counter[tuple[str, ...]] = Counter()
        """By evaluator and origin, and by evaluator, origin and field."""

    def add(self, rows: Sequence[Row]) -> None:
        """Count rows, sample by sample, each with one row of every evaluator."""
        if not self._grounded or not self._compared:
            return
        width = len(self._names)
        for start in range(0, len(rows), width):
            outcomes = [row.metadata.get("outcomes", ()) for row in rows[start : start + width]]
            kinds = {
                each["pointer"]: each["kind"]
                for place in self._grounded
                for each in outcomes[place]
            }
            for place in self._compared:
                for each in outcomes[place]:
                    kind = kinds.get(each["pointer"], "open")
                    if kind != "open" and each["kind"] in _WRONG:
                        origin = "invented" if kind == "ungrounded" else "misread"
                        self._found[self._names[place], origin] += 1
                        self._found[self._names[place], origin, each["field"]] += 1

    def add_to(self, evaluators: Mapping[str, dict[str, Any]]) -> None:
        """Add the counts to the figures of a summary, in total and by field."""
        if not self._grounded:
            return
        for place in self._compared:
            name = self._names[place]
            for origin in ("invented", "misread"):
                evaluators[name][origin] = self._found[name, origin]
                for path, of_field in evaluators[name]["fields"].items():
                    of_field[origin] = self._found[name, origin, path]
