"""The result of `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any, Final

from msgspec.structs import astuple

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.core.options import check_count
from llmeval_integrations.runs.groups import describe_repeats
from llmeval_integrations.runs.judges import Judging
from llmeval_integrations.runs.rows import Row, StoredRows
from llmeval_integrations.runs.summary import Finding, Tally

_LOOKED_AT: Final = 2_000
"""The number of ids that are checked for repeats."""


@dataclass(frozen=True)
class Run:
    """The summary and the rows of a run."""

    summary: dict[str, Any]
    """The content of `summary.json`: the number of samples and the figures of each evaluator. Under
    "judge" are the costs of a judge, under "judging" those of all judges."""

    rows: list[Row] | StoredRows
    """The rows, sample by sample. With a directory, each iteration reads them from the file."""

    findings: dict[str, list[Finding]]
    """The causes of rows that did not pass, by evaluator, the most frequent first."""

    out: Path | None = None
    """The directory of the run, None if the rows are in memory."""

    evaluators: Mapping[str, Mapping[str, Any]] | None = None
    """The evaluators with their options, as in the manifest; None if they are unknown."""

    @classmethod
    def of(
        cls,
        samples: int,
        tallies: Mapping[str, Tally],
        rows: list[Row] | StoredRows,
        *,
        judging: Judging | None = None,
        **known: Any,
    ) -> Run:
        """Return a run with the figures of the tallies. `known` are further attributes."""
        figures = {name: tally.summary() for name, tally in tallies.items()}
        findings = {name: tally.findings() for name, tally in tallies.items()}
        summary: dict[str, Any] = {"samples": samples, "evaluators": figures}
        if not any(tally.groups for tally in tallies.values()):
            width = max(len(tallies), 1)
            ids = (row.id for row in islice(rows, 0, _LOOKED_AT * width, width))
            if found := describe_repeats(ids):
                advice = "name one by a column group, or with --group COLUMN"
                summary["warnings"] = [f"{found}, and no group is named; {advice}"]
        if judging is not None:
            for name, taken in judging.figures().items():
                figures[name]["judge"] = taken
            summary["judging"] = judging.summary()
        return cls(summary, rows, findings, **known)

    @property
    def lower_is_better(self) -> frozenset[str]:
        """The evaluators whose lower scores are better."""
        known = self.evaluators or {}
        return frozenset(name for name, each in known.items() if each.get("lower_is_better"))

    @property
    def incomplete(self) -> str | None:
        """Why samples may be missing; None if the run was finished."""
        return self.summary.get("incomplete")

    @property
    def warnings(self) -> list[str]:
        """The reasons to doubt the figures."""
        return [*self.summary.get("warnings", ())]

    def worst(self, count: int = 10, evaluator: str | None = None) -> list[Row]:
        """Return the worst rows that did not pass: errors, unscored rows, then the lowest scores.

        With `evaluator`, only the rows of this evaluator are returned.

        Example:
            >>> from llmeval_integrations import evaluate
            >>> run = evaluate([{"output": "{}"}, {"output": "{"}], "json_validity")
            >>> [row.id for row in run.worst()]
            [2]
        """
        check_count("count", count)
        names = self.summary["evaluators"]
        if evaluator is not None and evaluator not in names:
            raise InputError(f"the run has no {evaluator!r}; it has {', '.join(names)}")

        def rank(row: Row) -> tuple[bool, bool, float]:
            sign = -1 if row.evaluator in self.lower_is_better else 1
            return row.error is None, not row.unscored, sign * (row.score or 0.0)

        own = (row for row in self.rows if evaluator in (None, row.evaluator))
        return nsmallest(count, (row for row in own if row.passed is not True), key=rank)

    def to_pandas(self) -> Any:
        """Return a DataFrame with a line for each sample and evaluator.

        `run.to_pandas().pivot(index="id", columns="evaluator", values="score")` has a line for each
        sample. Raises MissingDependencyError if pandas is not installed.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise MissingDependencyError.of("pandas", "pandas") from error
        return pd.DataFrame(map(astuple, self.rows), columns=[*Row.__struct_fields__])

    def table(self) -> str:
        """Return the figures and the causes of failures as text."""
        from llmeval_integrations.reports import run_view, terminal

        return terminal.as_text(run_view.view_of_run(self))

    __str__ = table

    def _repr_html_(self) -> str:
        """Return the figures as HTML for notebooks."""
        from llmeval_integrations.reports import html, run_view

        return html.as_fragment(run_view.view_of_run(self))

    def __repr__(self) -> str:
        evaluators = ", ".join(self.summary["evaluators"])
        return f"<Run of {evaluators} over {self.summary['samples']} samples>"


class Interrupted(KeyboardInterrupt):
    """A run was interrupted; `run` has the rows until then."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted after {run.summary['samples']} samples")
        self.run = run
