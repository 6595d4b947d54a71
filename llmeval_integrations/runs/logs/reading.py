"""Reading logs of other tools, which are known by what is in them."""

from __future__ import annotations

from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from llmeval_integrations.core.errors import EvalError, InputError
from llmeval_integrations.json_values.numbers import decode_as_python
from llmeval_integrations.runs.files import parse_object
from llmeval_integrations.runs.logs import inspect_ai, lm_eval, promptfoo
from llmeval_integrations.runs.logs.log import Log


def is_log(path: str | PathLike[str]) -> bool:
    """Whether the path leads to a file, where a run has a directory."""
    return _split(path)[0].is_file()


def read_log(path: str | PathLike[str]) -> Log:
    """Read a log of Inspect, promptfoo or lm-evaluation-harness.

    `results.json#2` is the second column of promptfoo's table. Raises InputError where the file is
    another one, or damaged.
    """
    file, column = _split(path)
    state = file.stat()
    return _read_once(file, column, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)  # 4,000 samples in 39 MB are compared in 2 s, else in 8
def _read_once(file: Path, column: int | None, *_: int) -> Log:
    try:
        log = _read(file, column)
    except EvalError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{file} is damaged: {error!r}") from error
    if not log.samples or not log.evaluators:
        raise InputError(f"{file} has no samples with scores")
    return log


def _read(file: Path, column: int | None) -> Log:
    if is_zipfile(file):
        return inspect_ai.read_archive(file)
    content = _content(file)
    if isinstance(content, list):
        return lm_eval.read_lines(content, file)
    if "eval" in content:
        return inspect_ai.read_document(content)
    if isinstance(content.get("results"), dict) and "results" in content["results"]:
        return promptfoo.read_document(content, column)
    raise InputError(
        f"{file} is no run: expected a run's directory, a log of Inspect (.eval or .json), results "
        "of promptfoo (eval -o results.json) or samples of lm-evaluation-harness "
        "(samples_*.jsonl, by --log_samples)"
    )


def _split(path: str | PathLike[str]) -> tuple[Path, int | None]:
    """Take the number of a column off a path."""
    file, _, column = fspath(path).rpartition("#")
    if column.isdecimal() and Path(file).is_file():
        return Path(file), int(column)
    return Path(path), None


def _content(file: Path) -> dict[str, Any] | list[dict[str, Any]]:
    """Read one JSON object, or the lines of lm-evaluation-harness."""
    text = file.read_bytes()
    try:
        found = decode_as_python(text.decode())
    except (ValueError, RecursionError):
        lines = enumerate(text.splitlines(), 1)
        found = [parse_object(line, f"{file}: line {number}") for number, line in lines]
    found = [found] if isinstance(found, dict) and "doc_id" in found else found
    is_harness = isinstance(found, list) and all(
        "doc_id" in each and "metrics" in each for each in found
    )
    return found if is_harness or isinstance(found, dict) else {}
