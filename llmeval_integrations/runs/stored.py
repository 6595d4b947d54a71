"""A run that was written, read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Any

from llmeval_integrations.errors import InputError
from llmeval_integrations.runs.directory import RESULTS, RunDirectory
from llmeval_integrations.runs.rows import read_rows
from llmeval_integrations.runs.run import INTERRUPTED, Run
from llmeval_integrations.runs.summary import Tally


def read_run(path: str | PathLike[str]) -> Run:
    """Read a run's directory, also of one that is under way or was interrupted.

    Its summary is the one that was written, else that of the rows that there are; `incomplete`
    says that it was not finished. Raises InputError where there is no run, and where a file of it
    is damaged.
    """
    directory = RunDirectory(path)
    results = directory.path / RESULTS
    if not results.is_file():
        raise InputError(f"{directory.path} holds no run: there is no {RESULTS}")
    tallies: dict[str, Tally] = {}
    count = 0
    for row in read_rows(results):
        tallies.setdefault(row.evaluator, Tally()).add([row])
        count += 1
    samples = count // max(len(tallies), 1)
    run = Run.of(samples, tallies, directory.rows(count), directory.path)
    written = directory.summary()
    if written is None:
        return replace(run, incomplete="there is no summary.json, so it was killed or is under way")
    incomplete = INTERRUPTED if written.get("interrupted") else None
    return replace(run, summary=written, incomplete=incomplete)


def read_samples(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """Read the samples with a row that did not pass: `row`, their place, and their fields."""
    return RunDirectory(path).samples()


def read_manifest(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what was run; raises InputError where that is not known."""
    return RunDirectory(path).manifest()
