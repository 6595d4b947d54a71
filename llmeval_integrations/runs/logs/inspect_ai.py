"""Logs of Inspect: `.eval` archives, and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from llmeval_integrations.core.errors import EvalError, InputError, MissingDependencyError
from llmeval_integrations.core.result import Result
from llmeval_integrations.json_values.values import read_number
from llmeval_integrations.messages.reply import text_of_blocks
from llmeval_integrations.runs.files import parse_object
from llmeval_integrations.runs.logs.log import NOT_SCORED, Log, LoggedSample, score_of

_GRADES: Final = {
    "C": Result(1.0, True, "correct"),
    "P": Result(0.5, False, "partial"),
    "I": Result(0.0, False, "incorrect"),
    "N": Result(0.0, False, "no_answer"),
}
"""The meaning of the letters in Inspect."""

_WORDS: Final = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def read_archive(path: Path) -> Log:
    """Read an `.eval` file; raises InputError if it is damaged."""
    try:
        with ZipFile(path) as archive:
            names = dict.fromkeys(archive.namelist())  # a sample that was retried is there twice
            samples = (_read(archive, name) for name in names if name.startswith("samples/"))
            # Inspect writes the header when it ends.
            header = "header.json" if "header.json" in names else "_journal/start.json"
            return read_document({**_read(archive, header), "samples": samples})
    except EvalError:
        raise
    except Exception as error:  # zlib and zstd have errors of their own
        raise InputError(f"{path} is damaged: {error}") from error


def _read(archive: ZipFile, name: str) -> dict[str, Any]:
    place = f"{archive.filename}: {name}"
    try:
        return parse_object(archive.read(name), place)
    except NotImplementedError as error:  # Python reads zstd from 3.14 on
        try:
            import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401 - Inspect brings it
        except ModuleNotFoundError:
            raise MissingDependencyError(
                f"{archive.filename} is compressed with zstd, which this Python cannot read; run: "
                "pip install 'llmeval-integrations[inspect]', or convert the log: inspect log "
                f"convert --to json --output-dir DIRECTORY {archive.filename}"
            ) from error
    return parse_object(archive.read(name), place)


def read_document(document: Mapping[str, Any]) -> Log:
    """Read Inspect's `EvalLog` in JSON."""
    about = document["eval"]
    are_repeats = ((about.get("config") or {}).get("epochs") or 1) > 1
    samples = [_sample(each, are_repeats=are_repeats) for each in document.get("samples") or ()]
    scorers = {each["name"].rpartition("/")[2]: each for each in about.get("scorers") or ()}
    found = dict.fromkeys([name for each in samples for name in each.results] + [*scorers])
    names = [name for name in found if not any(each.startswith(f"{name}/") for each in found)]
    made_by = {name: scorers.get(name.partition("/")[0], {}) for name in names}
    status = document.get("status", "started")
    return Log(
        "log of Inspect",
        samples,
        {name: scorer.get("options") or {} for name, scorer in made_by.items()},
        {
            "version": f"inspect_ai {(about.get('packages') or {}).get('inspect_ai')}",
            "started": str(about.get("created", "")),
            **{key: about.get(key) for key in ("task", "task_args", "model")},
        },
        rates={name for name, each in made_by.items() if "accuracy" in str(each.get("metrics"))},
        incomplete=None if status == "success" else f"Inspect calls its status {status!r}",
    )


def _sample(sample: Mapping[str, Any], *, are_repeats: bool) -> LoggedSample:
    sample_id, epoch, given = sample["id"], sample.get("epoch", 1), sample["input"]
    target, error = sample.get("target"), sample.get("error")
    if not isinstance(given, str):  # messages; the user's last one is the question
        said = [each.get("content") for each in given or () if each.get("role") == "user"]
        given = text_of_blocks(said[-1]) if said else ""
    fields = {
        "id": sample_id if epoch == 1 else f"{sample_id} (epoch {epoch})",
        "output": (sample.get("output") or {}).get("completion", ""),
        "input": given,
        **({"reference": target} if target else {}),
        **({"group": sample_id} if are_repeats else {}),
    }
    otherwise = f"SampleError: {error.get('message')}" if error else NOT_SCORED
    return LoggedSample(fields, dict(_results(sample.get("scores") or {})), otherwise)


def _results(scores: Mapping[str, Any]) -> Iterator[tuple[str, Result]]:
    """Yield the results. A score with several values gives several results."""
    for name, score in scores.items():
        value = score.get("value")
        if isinstance(value, (dict, list)):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            yield from ((f"{name}/{part}", _result(each, score)) for part, each in parts)
        else:
            yield name, _result(value, score)


def _result(value: Any, score: Mapping[str, Any]) -> Result:
    """Read a value as Inspect does. Text that is not a grade is a label without a score."""
    metadata = score.get("metadata") or {}
    reason, label, passed = score.get("explanation"), metadata.get("label"), metadata.get("passed")
    if value is None or (isinstance(value, float) and math.isnan(value)):
        label = score.get("reason") or "unscored"
        return Result.unscored(reason or "Inspect has no value", label=label, **metadata)
    if isinstance(value, str):
        if grade := _GRADES.get(value):
            return Result(grade.score, grade.passed, grade.label, reason, metadata)
        number = _WORDS.get(value.lower(), read_number(value))
        if number is None:
            return Result(None, None, value, reason, metadata, answered=True)
        value = number
    figure = score_of(value)
    if figure is None:
        return Result.unscored(f"{value!r} is not a finite number", label="no_number", **metadata)
    if not isinstance(passed, bool):
        passed = value if isinstance(value, bool) else None
    return Result(figure, passed, label, reason, metadata)
