"""A run that was written, read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from llmeval_integrations.core.catalog import evaluator_class
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.evaluator import Breakdown
from llmeval_integrations.runs.chunk import OWN, Samples
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.data.source import CHUNK, open_source
from llmeval_integrations.runs.directory import RESULTS, RunDirectory
from llmeval_integrations.runs.logs.read import find_log
from llmeval_integrations.runs.manifest import digest_of_file
from llmeval_integrations.runs.rows import StoredRows, read_rows
from llmeval_integrations.runs.run import INTERRUPTED, Run
from llmeval_integrations.runs.summary import Tally


def read_run(path: str | PathLike[str]) -> Run:
    """Read a run's directory, also of one that is under way or was interrupted.

    A log of Inspect, results of promptfoo and samples of lm-evaluation-harness are runs as well;
    `results.json#2` is the second column of promptfoo's table.

    Its summary is the one that was written, else that of the rows that there are; `incomplete`
    says that it was not finished. Raises InputError where there is no run, and where a file of it
    is damaged.
    """
    if log := find_log(path):
        # A scorer of ours is known in Inspect by the evaluator's `repr`.
        return log.run(
            path, {name: _breakdown(name, each) for name, each in log.evaluators.items()}
        )
    directory = RunDirectory(path)
    results = directory.path / RESULTS
    if not results.is_file():
        logs = sorted(directory.path.glob("*.eval"))
        hint = f"; name one of the logs of Inspect in it, such as {logs[-1]}" if logs else ""
        raise InputError(f"{directory.path} holds no run: there is no {RESULTS}{hint}")
    written, described = directory.summary(), find_manifest(directory.path).get("evaluators")
    tallies, count = _count(results, described or {} if written is None else {})
    samples = count // max(len(tallies), 1)
    known: dict[str, Any] = {"out": directory.path}
    if described is not None:
        lower = (name for name, each in described.items() if each.get("lower_is_better"))
        known["lower_is_better"] = frozenset(lower)
    run = Run.of(samples, tallies, StoredRows(results, count), **known)
    if written is None:
        return replace(run, incomplete="there is no summary.json, so it was killed or is under way")
    if written["samples"] != samples:
        raise InputError(
            f"{results} is damaged: it has the rows of {samples} samples, and the summary is that "
            f"of {written['samples']}; go on with the run (resume) to have the others again"
        )
    incomplete = INTERRUPTED if written.get("interrupted") else None
    return replace(run, summary=written, incomplete=incomplete)


def _count(results: Path, described: Mapping[str, Any]) -> tuple[dict[str, Tally], int]:
    """Count the rows of a file; details are added up where the manifest describes the evaluator."""
    tallies: dict[str, Tally] = {}
    count = 0
    rows = read_rows(results)
    while chunk := list(islice(rows, CHUNK)):
        count += len(chunk)
        for name in dict.fromkeys(row.evaluator for row in chunk):
            if name not in tallies:
                own = described.get(name, {})
                tallies[name] = Tally(_breakdown(own.get("evaluator"), own.get("options")))
            tallies[name].add(row for row in chunk if row.evaluator == name)
    return tallies, count


def _breakdown(evaluator: Any, options: Any) -> Breakdown | None:
    """Make what adds up an evaluator's details, None where it has none or is not known.

    It is asked of its class, with the options as the manifest has them: what some are made of, such
    as a judge's client, cannot be made of these.
    """
    try:
        kind = evaluator_class(evaluator)
        declared = fields(kind)  # type: ignore[arg-type]
        is_ours = str(options.get("evaluator")).startswith(f"{kind.__name__}(")  # in Inspect
        if not is_ours and {each.name for each in declared} != options.keys():
            return None  # somebody's own evaluator of the same name
        made = kind.__new__(kind)
        made_anew = {each.name: each.default_factory for each in declared}
        defaults = {name: make() for name, make in made_anew.items() if callable(make)}
        vars(made).update(defaults | options)
        return made.breakdown()
    except Exception:  # noqa: BLE001 - a class of another package may raise anything
        return None


def read_manifest(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what was run; raises InputError where that is not known."""
    log = find_log(path)
    return RunDirectory(path).manifest() if log is None else log.manifest()


def find_manifest(path: Path | None) -> dict[str, Any]:
    """Read what was run; nothing where that is not known, as of a run in memory."""
    with suppress(InputError):
        return {} if path is None else read_manifest(path)
    return {}


def read_samples(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """Read the samples that a run has kept: `row`, their place, and their fields.

    The fields are those that the first evaluator sees; `seen_by` gives those of another one. Of
    another tool's log all samples are read.
    """
    if log := find_log(path):
        samples = enumerate(log.samples)
        return ({"row": place, **sample.fields} for place, sample in samples)
    return RunDirectory(path).samples()


def sample_of(sample: Mapping[str, Any], evaluator: str) -> Mapping[str, Any]:
    """Return a stored sample as an evaluator sees it, which may have columns of its own."""
    found: Mapping[str, Any] = sample.get(OWN, {}).get(evaluator, sample)
    return found


def read_texts(run: Run, evaluator: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the fields of samples as an evaluator saw them, each with its place in the data.

    Of a file of data a run keeps the samples that did not pass. The others are read from the file
    where that has not changed since.
    """
    if run.out is None:
        return
    manifest = find_manifest(run.out)
    data = manifest.get("data", {})
    is_file = data.get("kind") == "file" and Path(data["path"]).is_file()
    if is_file and digest_of_file(Path(data["path"])) == data["sha256"]:
        source = open_source(data["path"], data["format"])
        source.select(data["limit"], data["sample"], data["seed"])
        columns = columns_by_evaluator(manifest["columns"], list(manifest["evaluators"]))
        for place, record in enumerate(source.records):
            yield place, Samples(columns[evaluator], [record]).fields(0)
        return
    try:
        for sample in read_samples(run.out):
            yield sample["row"], sample_of(sample, evaluator)
    except FileNotFoundError:
        return
