"""The runs of a report: their names, and their rows as they were when the runs were opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from llmeval_integrations.core.quoting import free_name
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run


def names_of(runs: Sequence[Run]) -> list[str]:
    """Name each run by its directory, with a number behind a name that is taken."""
    names: list[str] = []
    for run in runs:
        name = run.out.resolve().name if run.out is not None else ""
        names.append(free_name(name or "run", names))
    return names


def incomplete(runs: Sequence[Run]) -> Iterator[str]:
    """Say which of the runs may lack samples, and why."""
    for name, run in zip(names_of(runs), runs, strict=True):
        if run.incomplete:
            yield f"{name} is incomplete: {run.incomplete}"


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
