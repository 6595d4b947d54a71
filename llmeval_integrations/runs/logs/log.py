"""A log of another tool as a run."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.result import Result
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import Tally

NOT_SCORED: Final = Result.unscored("the log has no score", label="not_scored")


@dataclass(frozen=True)
class LoggedSample:
    """One output of a model, with its results."""

    fields: dict[str, Any]  # its id and output, and group, reference and input if the log has them
    results: dict[str, Result | str]  # the result of each evaluator, or a text, which is an error
    otherwise: Result | str = NOT_SCORED  # the result of evaluators that are not in `results`


@dataclass(frozen=True)
class Log:
    """A log of another tool."""

    kind: str
    samples: list[LoggedSample]
    evaluators: Mapping[str, Mapping[str, Any]]  # the options of each evaluator
    about: Mapping[str, Any]  # further facts about the run
    rates: Collection[str] = ()
    """The evaluators whose better score of 0 and 1 passes if they have no other scores."""

    lower_is_better: frozenset[str] = frozenset()  # the evaluators whose lower scores are better

    incomplete: str | None = None  # why samples may be missing

    def run(self, path: str | PathLike[str]) -> Run:
        """Return the log as a run."""
        rates = filter(self._is_binary, self.rates)
        best = {name: float(name not in self.lower_is_better) for name in rates}
        rows = [
            _row(sample, name, best.get(name))
            for sample in self.samples
            for name in self.evaluators
        ]
        tallies = {name: Tally() for name in self.evaluators}
        for name, tally in tallies.items():
            tally.add_stored([row for row in rows if row.evaluator == name])
        evaluators = self.manifest()["evaluators"]
        run = Run.of(len(self.samples), tallies, rows, out=Path(path), evaluators=evaluators)
        if self.incomplete is not None:
            run.summary["incomplete"] = self.incomplete
        return run

    def manifest(self) -> dict[str, Any]:
        """Return what was run, as the manifest of a run does."""
        evaluators: dict[str, dict[str, Any]] = {
            name: {"evaluator": name, "options": dict(each)}
            for name, each in self.evaluators.items()
        }
        for name in self.lower_is_better:
            evaluators[name]["lower_is_better"] = True
        data = {"kind": self.kind, "samples": len(self.samples)}
        return {**self.about, "evaluators": evaluators, "data": data}

    def stored_samples(self) -> Iterator[dict[str, Any]]:
        """Yield the fields of each sample and `row`, its place, as the directory of a run does."""
        return ({"row": place, **each.fields} for place, each in enumerate(self.samples))

    def _is_binary(self, name: str) -> bool:
        """Return whether an evaluator has no verdicts and only scores of 0 and 1."""
        results = (each.results.get(name) for each in self.samples)
        scored = [each for each in results if isinstance(each, Result) and each.scored]
        return all(each.passed is None and each.score in {0, 1} for each in scored)


def _row(sample: LoggedSample, evaluator: str, best: float | None) -> Row:
    """Return the row of a sample; `best` is the score that passes, if the log has no verdicts."""
    sample_id, group = sample.fields["id"], sample.fields.get("group")
    found = sample.results.get(evaluator, sample.otherwise)
    if isinstance(found, str):
        return Row(sample_id, evaluator, None, None, None, None, {}, False, found, group)
    passed = found.passed if best is None or not found.scored else found.score == best
    said = found.label, found.reason, found.metadata, found.is_unscored
    return Row(sample_id, evaluator, found.score, passed, *said, None, group)


def score_of(value: Any) -> float | None:
    """Return a finite number as a score, None for other values."""
    is_finite = isinstance(value, (int, float)) and math.isfinite(value)
    return float(value) if is_finite else None
