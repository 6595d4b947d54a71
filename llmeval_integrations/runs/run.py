"""What a run leaves behind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import InputError, MissingDependencyError
from llmeval_integrations.runs.groups import describe_repeats
from llmeval_integrations.runs.judges import Judging
from llmeval_integrations.runs.rows import Row, StoredRows, as_stored
from llmeval_integrations.runs.summary import Finding, Tally

INTERRUPTED: Final = "it was interrupted"
"""Why a run is incomplete that somebody broke off."""

NAME_IT: Final = "name one by a column group, or with --group COLUMN"
"""What is to be done where rows are repeats and no group is named."""

_LOOKED_AT: Final = 2_000
"""Samples whose ids are looked at."""


@dataclass(frozen=True)
class Run:
    """A run: its summary, its rows, and where they are kept."""

    summary: dict[str, Any]
    """What `summary.json` holds: the number of samples, each evaluator's figures, and where there
    are judges what each took, under "judge", and all together, under "judging"."""

    rows: list[Row] | StoredRows
    """The rows, sample by sample; read from the file, each time anew, where there is one."""

    findings: dict[str, list[Finding]]
    """For each evaluator what was found in rows that did not pass, the most frequent first."""

    out: Path | None = None
    """The directory of the run, None where the rows are in memory."""

    incomplete: str | None = None
    """Why samples may be missing; None where the run was finished."""

    lower_is_better: frozenset[str] | None = None
    """The evaluators whose scores are better where they are lower; None where nobody knows."""

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
        """Make a run of what was counted, with what else is known of it."""
        figures = {name: tally.summary() for name, tally in tallies.items()}
        findings = {name: tally.findings() for name, tally in tallies.items()}
        summary: dict[str, Any] = {"samples": samples, "evaluators": figures}
        if not any(tally.groups for tally in tallies.values()):
            width = max(len(tallies), 1)
            ids = (row.id for row in islice(rows, 0, _LOOKED_AT * width, width))
            if found := describe_repeats(ids):
                warning = f"{found}, and no group is named, so each row counts as independent"
                summary["warnings"] = [f"{warning}; {NAME_IT}"]
        if judging is not None:
            for name, taken in judging.figures().items():
                figures[name]["judge"] = taken
            summary["judging"] = judging.summary()
        return cls(summary, rows, findings, **known)

    @property
    def warnings(self) -> list[str]:
        """What makes the figures doubtful."""
        found: list[str] = self.summary.get("warnings", [])
        return found

    def worst(self, count: int = 10, evaluator: str | None = None) -> list[Row]:
        """Return the rows that are most wrong: errors, then unscored ones, then the worst scores.

        Rows that passed are none of them. `evaluator` takes those of one evaluator alone.

        Example:
            >>> from llmeval_integrations import evaluate
            >>> run = evaluate([{"output": "{}"}, {"output": "{"}], "json_validity")
            >>> [row.id for row in run.worst()]
            [2]
        """
        names = self.summary["evaluators"]
        if evaluator is not None and evaluator not in names:
            raise InputError(f"the run has no {evaluator!r}; it has {', '.join(names)}")

        def rank(row: Row) -> tuple[bool, bool, float]:
            sign = -1 if row.evaluator in (self.lower_is_better or ()) else 1
            return row.error is None, not row.unscored, sign * (row.score or 0.0)

        wanted = (row for row in self.rows if evaluator in (None, row.evaluator))
        return nsmallest(count, (row for row in wanted if row.passed is not True), key=rank)

    def to_pandas(self) -> Any:
        """Return a DataFrame with one line for each sample and evaluator.

        For a line for each sample: `run.to_pandas().pivot(index="id", columns="evaluator",
        values="score")`. Raises MissingDependencyError where pandas is not installed.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise MissingDependencyError.of("pandas", "pandas") from error
        names = Row.__struct_fields__
        cells = [[getattr(row, name) for name in names] for row in self.rows]
        return pd.DataFrame(cells, columns=list(names))

    def table(self) -> str:
        """Write the figures and what went wrong as tables of plain text."""
        from llmeval_integrations.reports.run_view import view_of_run
        from llmeval_integrations.reports.terminal import as_text

        return as_text(view_of_run(self))

    __str__ = table

    def _repr_html_(self) -> str:
        """Write the same as HTML, as notebooks show it."""
        from llmeval_integrations.reports.html import as_fragment
        from llmeval_integrations.reports.run_view import view_of_run

        return as_fragment(view_of_run(self))

    def __repr__(self) -> str:
        evaluators = ", ".join(self.summary["evaluators"])
        return f"<Run of {evaluators} over {self.summary['samples']} samples>"


class Interrupted(KeyboardInterrupt):
    """A run was interrupted; `run` is what was done until then."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted after {run.summary['samples']} samples")
        self.run = run


def summary_text(summary: Mapping[str, Any]) -> str:
    """Write a summary as it stands in `summary.json`.

    A number that no float holds, as an id may be, is a text.
    """
    return json.dumps(as_stored(summary), indent=2, default=str) + "\n"
