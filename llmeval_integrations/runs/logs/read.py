"""Reads logs of other tools. Their content tells which tool wrote them."""

from __future__ import annotations

from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from zipfile import is_zipfile

from llmeval_integrations.core.errors import EvalError, InputError
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.runs.directory import RESULTS
from llmeval_integrations.runs.logs import inspect_ai, lm_eval, promptfoo
from llmeval_integrations.runs.logs.log import Log


def find_log(path: str | PathLike[str]) -> Log | None:
    """Read a log of Inspect, promptfoo or lm-evaluation-harness; None if there is no such file.

    A folder of samples of lm-evaluation-harness is a log, too. `results.json#2` is the second
    column of promptfoo's table. Raises InputError for a file that is damaged or no log.
    """
    file, _, number = fspath(path).rpartition("#")
    is_column = number.isdecimal() and Path(file).is_file()
    place, column = (Path(file), int(number)) if is_column else (Path(path), None)
    is_folder = place.is_dir() and not (place / RESULTS).exists() and lm_eval.files_of(place)
    if not place.is_file() and not is_folder:
        return None
    state = place.stat()
    return _read_once(place, column, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)  # 4,000 samples in 39 MB are compared in 2 s, else in 8
def _read_once(file: Path, column: int | None, *_: int) -> Log:
    try:
        log = _read(file, column)
    except EvalError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
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
