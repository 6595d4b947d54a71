"""What runs are called beside each other, and which of them are incomplete."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llmeval_integrations.core.quoting import free_name
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
