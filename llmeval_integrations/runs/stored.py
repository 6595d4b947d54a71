"""A run that was written, read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from os import PathLike
from typing import Any, cast

from llmeval_integrations.core.catalog import evaluator_class
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Breakdown
from llmeval_integrations.runs.directory import RESULTS, RunDirectory
from llmeval_integrations.runs.logs.read import is_log, read_log
from llmeval_integrations.runs.rows import read_rows
from llmeval_integrations.runs.run import INTERRUPTED, Run
from llmeval_integrations.runs.samples import OWN
from llmeval_integrations.runs.summary import Tally


def read_run(path: str | PathLike[str]) -> Run:
    """Read a run's directory, also of one that is under way or was interrupted.

    A log of Inspect, results of promptfoo and samples of lm-evaluation-harness are runs as well;
    `results.json#2` is the second column of promptfoo's table.

    Its summary is the one that was written, else that of the rows that there are; `incomplete`
    says that it was not finished. Raises InputError where there is no run, and where a file of it
    is damaged.
    """
    if is_log(path):
        log = read_log(path)
        ours = {  # a scorer of ours is known in Inspect by the evaluator's `repr`
            name: _breakdown({"evaluator": name, "options": options})
            for name, options in log.evaluators.items()
            if "evaluator" in options
        }
        return log.run(path, ours)
    directory = RunDirectory(path)
    results = directory.path / RESULTS
    if not results.is_file():
        logs = sorted(directory.path.glob("*.eval"))
        hint = f"; name one of the logs of Inspect in it, such as {logs[-1]}" if logs else ""
        raise InputError(f"{directory.path} holds no run: there is no {RESULTS}{hint}")
    written = directory.summary()
    described = {} if written is not None else _evaluators(directory)
    tallies: dict[str, Tally] = {}
    count = 0
    for row in read_rows(results):
        if row.evaluator not in tallies:
            tallies[row.evaluator] = Tally(breakdown=_breakdown(described.get(row.evaluator)))
        tallies[row.evaluator].add([row])
        count += 1
    samples = count // max(len(tallies), 1)
    if written is not None and written["samples"] != samples:
        raise InputError(
            f"{results} is damaged: it has the rows of {samples} samples, and the summary is that "
            f"of {written['samples']}; go on with the run (resume) to have the others again"
        )
    run = Run.of(samples, tallies, directory.rows(count), directory.path)
    if written is None:
        return replace(run, incomplete="there is no summary.json, so it was killed or is under way")
    incomplete = INTERRUPTED if written.get("interrupted") else None
    return replace(run, summary=written, incomplete=incomplete)


def _evaluators(directory: RunDirectory) -> Mapping[str, Any]:
    """Return what the manifest says of the evaluators, nothing where there is none."""
    try:
        return cast("Mapping[str, Any]", directory.manifest()["evaluators"])
    except InputError:
        return {}


def _breakdown(described: Any) -> Breakdown | None:
    """Make what adds up an evaluator's details, None where it has none or is not known.

    It is asked of its class, with the options as the manifest has them: what some are made of, such
    as a judge's client, cannot be made of these.
    """
    try:
        kind = evaluator_class(described["evaluator"])
        declared: tuple[Any, ...] = fields(kind) if is_dataclass(kind) else ()
        is_ours = str(described["options"].get("evaluator")).startswith(f"{kind.__name__}(")
        if not is_ours and {each.name for each in declared} != described["options"].keys():
            return None  # somebody's own evaluator of the same name
        evaluator = kind.__new__(kind)
        for each in declared:
            if each.default_factory is not MISSING:
                vars(evaluator)[each.name] = each.default_factory()
        vars(evaluator).update(described["options"])
        return evaluator.breakdown()
    except Exception:  # noqa: BLE001 - a class of another package may raise anything
        return None


def read_samples(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """Read the samples with a row that did not pass: `row`, their place, and their fields.

    The fields are those that the first evaluator sees; `seen_by` gives those of another one. Of
    another tool's log all samples are read.
    """
    if is_log(path):
        samples = enumerate(read_log(path).samples)
        return ({"row": place, **sample.fields} for place, sample in samples)
    return RunDirectory(path).samples()


def seen_by(sample: Mapping[str, Any], evaluator: str) -> Mapping[str, Any]:
    """Return a stored sample as an evaluator sees it, which may have columns of its own."""
    found: Mapping[str, Any] = sample.get(OWN, {}).get(evaluator, sample)
    return found


def read_manifest(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what was run; raises InputError where that is not known."""
    return read_log(path).manifest() if is_log(path) else RunDirectory(path).manifest()
