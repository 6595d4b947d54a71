"""Reads the directory of a run, or the log of another tool, whose content tells which one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from llmeval_integrations.core.errors import EvalError, InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.values import decode_as_python
from llmeval_integrations.runs.chunk import OWN, Samples
from llmeval_integrations.runs.columns import columns_by_evaluator
from llmeval_integrations.runs.data.source import CHUNK, open_source, parse_records
from llmeval_integrations.runs.directory import RESULTS, RunDirectory
from llmeval_integrations.runs.logs import inspect_ai, lm_eval, promptfoo
from llmeval_integrations.runs.logs.log import Log
from llmeval_integrations.runs.manifest import digest_of_file
from llmeval_integrations.runs.rows import StoredRows, fields_of, read_rows
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import Tally


def read_run(path: str | PathLike[str]) -> Run:
    """Read the directory of a run, also if the run is under way or was interrupted.

    A log of Inspect, results of promptfoo and samples of lm-evaluation-harness are runs, too.
    `results.json#2` is the second column of promptfoo's table.

    The summary is the stored one or, without one, that of the stored rows. `incomplete` tells that
    the run was not finished. Raises InputError if there is no run, or if a file is damaged.
    """
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"expected a run or its directory, got {quote(path)}")
    found = _open(path)
    return found.run(path) if isinstance(found, Log) else _read_directory(found)


def _read_directory(directory: RunDirectory) -> Run:
    results = directory.path / RESULTS
    if not directory.path.exists():
        raise InputError(f"there is no run {directory.path}: there is no such file or directory")
    if not results.is_file():
        raise InputError(f"{directory.path} holds no run: there is no {RESULTS}")
    written = directory.summary()
    add = Tally.add if written else Tally.add_stored  # a summary has the details
    tallies: dict[str, Tally] = {}
    count = 0
    rows = read_rows(results)
    while chunk := list(islice(rows, CHUNK)):
        count += len(chunk)
        for name in dict.fromkeys(row.evaluator for row in chunk):
            own = [row for row in chunk if row.evaluator == name]
            add(tallies.setdefault(name, Tally()), own)
    samples = count // max(len(tallies), 1)
    known = {"out": directory.path, "evaluators": directory.manifest()["evaluators"]}
    run = Run.of(samples, tallies, StoredRows(results, count), **known)
    if written is not None and written["samples"] == samples:
        return replace(run, summary=written)
    run.summary["incomplete"] = "it was killed or is under way"
    return run


def find_manifest(path: str | PathLike[str] | None) -> dict[str, Any]:
    """Read the manifest of a run or log; empty for a run in memory."""
    return {} if path is None else _open(path).manifest()


def read_samples(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """Read the samples that a run has kept, or all samples of a log: `row`, the place, and fields.

    The fields are those that the first evaluator saw; `sample_of` returns those of another one.
    """
    return _open(path).stored_samples()


def sample_of(sample: Mapping[str, Any], evaluator: str) -> Mapping[str, Any]:
    """Return a stored sample as an evaluator saw it, which may have columns of its own."""
    found: Mapping[str, Any] = sample.get(OWN, {}).get(evaluator, sample)
    return found


def read_texts(run: Run, evaluator: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the place of each sample and its fields as an evaluator saw them.

    If the data is a file, a run keeps only the samples that did not pass. The others are read from
    that file, unless it has changed.
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
        for place, record in enumerate(parse_records(source.records)):
            yield place, fields_of(Samples(columns[evaluator], [record]).stored(0))
        return
    with suppress(FileNotFoundError):
        for sample in read_samples(run.out):
            yield sample["row"], sample_of(sample, evaluator)


def _open(path: str | PathLike[str]) -> Log | RunDirectory:
    """Read the log of another tool, a file or a folder, or return the directory of a run."""
    file, _, number = fspath(path).rpartition("#")
    is_column = number.isdecimal() and Path(file).is_file()
    place, column = (Path(file), int(number)) if is_column else (Path(path), None)
    is_folder = place.is_dir() and not (place / RESULTS).exists() and lm_eval.files_of(place)
    if not place.is_file() and not is_folder:
        return RunDirectory(path)
    state = place.stat()
    return _read_once(place, column, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)  # 4,000 samples in 39 MB are compared in 2 s, else in 8
def _read_once(file: Path, column: int | None, *_: int) -> Log:
    try:
        log = _read(file, column)
    except EvalError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{file} cannot be read: it is damaged or of another version: {error!r}"
        ) from error
    if not log.samples or not log.evaluators:
        raise InputError(f"{file} has no samples with scores")
    return log


def _read(place: Path, column: int | None) -> Log:
    if place.is_dir():
        return lm_eval.read_files(lm_eval.files_of(place))
    if is_zipfile(place):
        return inspect_ai.read_archive(place)
    try:
        content = decode_as_python(place.read_bytes().decode())
    except (ValueError, RecursionError):
        content = next(lm_eval.parse_lines(place), None)
    if isinstance(content, dict):
        if "doc_id" in content:
            return lm_eval.read_files([place])
        if "eval" in content:
            return inspect_ai.read_document(content)
        if isinstance(content.get("results"), dict) and "results" in content["results"]:
            return promptfoo.read_document(content, column)
    raise InputError(
        f"{place} is not a run: expected a run's directory, a log of Inspect (.eval or .json), "
        "results of promptfoo (eval -o results.json) or samples of lm-evaluation-harness "
        "(samples_*.jsonl, by --log_samples)"
    )
