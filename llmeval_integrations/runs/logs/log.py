"""What a log of another tool comes to: samples, what was said of them, and what was run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.evaluator import Breakdown
from llmeval_integrations.core.result import Result
from llmeval_integrations.runs.rows import Row, write_value
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import Tally

NOT_SCORED: Final = Result.unscored("the log has no score", label="not_scored")


@dataclass(frozen=True)
class LoggedSample:
    """One output of a model, and what was said of it."""

    fields: dict[str, Any]
    """Its id and output; group, reference and input where the log has them."""

    results: dict[str, Result | str]
    """For each evaluator its result; a text is the error that there was instead."""

    task: Any
    """What the model was given; the same in all runs over the same data."""

    otherwise: Result | str = NOT_SCORED
    """What stands for the results of other evaluators."""


@dataclass(frozen=True)
class Log:
    """A log of another tool."""

    kind: str
    samples: list[LoggedSample]
    evaluators: Mapping[str, Mapping[str, Any]]
    """The options of each evaluator."""

    about: Mapping[str, Any]
    """What else is known of the run."""

    rates: Collection[str] = ()
    """The evaluators whose scores say what passed where all of them are 0 or 1."""

    lower_is_better: frozenset[str] | None = frozenset()
    """The evaluators whose scores are better where they are lower; None where nobody knows."""

    incomplete: str | None = None
    """Why samples may be missing."""

    def run(self, path: str | PathLike[str], breakdowns: Mapping[str, Breakdown | None]) -> Run:
        """Make a run of it; `breakdowns` add up the details of evaluators."""
        rows = [*self._rows()]
        tallies = {name: Tally(breakdown=breakdowns.get(name)) for name in self.evaluators}
        for row in rows:
            tallies[row.evaluator].add([row])
        known: dict[str, Any] = {
            "incomplete": self.incomplete,
            "lower_is_better": self.lower_is_better,
        }
        return Run.of(len(self.samples), tallies, rows, out=Path(path), **known)

    def manifest(self) -> dict[str, Any]:
        """Say what was run, as the manifest of a run does."""
        tasks = sorted(
            write_value([each.fields["id"], each.task], in_order=True) for each in self.samples
        )
        digest = hashlib.sha256(b"\n".join(tasks)).hexdigest()
        evaluators = {
            name: {"evaluator": name, "options": dict(each)}
            for name, each in self.evaluators.items()
        }
        data = {"kind": self.kind, "samples": len(self.samples), "sha256": digest}
        return {**self.about, "evaluators": evaluators, "data": data}

    def _rows(self) -> Iterator[Row]:
        """Make the rows, sample by sample, each with one row of every evaluator."""
        binary = {name for name in self.rates if self._is_binary(name)}
        for sample in self.samples:
            own, group = sample.fields["id"], sample.fields.get("group")
            for name in self.evaluators:
                found = sample.results.get(name, sample.otherwise)
                if isinstance(found, str):
                    yield Row(own, name, None, None, None, None, {}, False, found, group)
                    continue
                is_rate = name in binary and found.scored
                passed = bool(found.score) if is_rate else found.passed
                said = found.label, found.reason, found.metadata, found.is_unscored
                yield Row(own, name, found.score, passed, *said, None, group)

    def _is_binary(self, name: str) -> bool:
        """Whether there are no verdicts, and all scores are 0 or 1."""
        results = (each.results.get(name) for each in self.samples)
        scored = [each for each in results if isinstance(each, Result) and each.scored]
        return all(each.passed is None and each.score in {0, 1} for each in scored)


def score_of(value: Any) -> float | None:
    """Return a number as a score; None of what is none, or not finite."""
    is_finite = isinstance(value, (int, float)) and math.isfinite(value)
    return float(value) if is_finite else None
