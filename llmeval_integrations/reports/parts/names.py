"""What runs are called beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from llmeval_integrations.runs.naming import free_name
from llmeval_integrations.runs.run import Run


def names_of(runs: Sequence[Run]) -> list[str]:
    """Name each run by its directory, with a number behind a name that is taken."""
    names: list[str] = []
    for run in runs:
        name = run.out.resolve().name if run.out is not None else ""
        names.append(free_name(name or "run", names))
    return names
