"""What a run's rows come to, in two readings and constant memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from llmeval_integrations.reports.parts.scores import Scores
from llmeval_integrations.runs.comparing.direction import known_lower
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import Finding


@dataclass(frozen=True)
class Figures:
    """One evaluator's figures in one run."""

    summary: dict[str, Any]
    """What `summary.json` says of it."""

    scores: Scores
    """How its scores lie."""

    findings: list[Finding]
    """Each kind of what was found in rows that did not pass, most frequent first."""


def figures_of(run: Run) -> dict[str, Figures]:
    """Read a run's rows twice, and give the figures of each of its evaluators."""
    scores: dict[str, Scores] = defaultdict(Scores)
    known = known_lower(run)
    if known is not None:
        for name in run.summary["evaluators"]:
            scores[name].known_lower = name in known
    for row in rows_of(run):
        scores[row.evaluator].add(row)
    for row in rows_of(run):
        scores[row.evaluator].sort_in(row)
    return {
        name: Figures(summary, scores[name], run.findings.get(name, []))
        for name, summary in run.summary["evaluators"].items()
    }


def rows_of(run: Run) -> Iterator[Row]:
    """Read the rows that the run had when it was opened; there may be more by now."""
    return islice(run.rows, len(run.rows))


def by_sample(run: Run) -> Iterator[tuple[int, list[Row]]]:
    """Read the rows sample by sample, each with its place in the data."""
    rows, width = rows_of(run), len(run.summary["evaluators"])
    place = 0
    while found := list(islice(rows, width)):
        yield place, found
        place += 1
