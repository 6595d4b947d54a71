"""Samples of lm-evaluation-harness, as `lm_eval --log_samples` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.result import Result
from llmeval_integrations.runs.files import parse_object, read_object
from llmeval_integrations.runs.logs.log import Log, LoggedSample, score_of

_NAME: Final = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\d.*)\.jsonl")
_NO_FILTER: Final = "none"
_NO_METRIC: Final = Result(None, None, "no_metric", answered=True)
"""The result of a metric that the sample's task does not have."""


def files_of(folder: Path) -> list[Path]:
    """Return the newest file of samples of each task in a folder."""
    found = (_NAME.fullmatch(name) for name in sorted(each.name for each in folder.iterdir()))
    return [*{each[1]: folder / each[0] for each in found if each}.values()]


def read_files(files: Sequence[Path]) -> Log:
    """Read the samples of one or more tasks.

    Each metric with a filter is an evaluator. It has the name that the harness gives it. Raises
    InputError without the results of the same run, which tell whether higher scores are better.
    """
    samples: dict[Any, LoggedSample] = {}
    names: dict[str, None] = {}
    lower: set[str] = set()
    about: dict[str, Any] = {"started": ""}
    for file in files:
        found = _NAME.fullmatch(file.name)
        task, started = found.groups() if found else (file.stem, "DATE")
        results = _read_results(file.with_name(f"results_{started}.json"))
        about["version"] = f"lm_eval {results.get('lm_eval_version')}"
        about["model"] = results.get("model_name")
        about["started"] = max(started, about["started"])
        is_higher_better = results["higher_is_better"].get(task, {})
        for line in parse_lines(file):
            sample_id = line["doc_id"] if len(files) == 1 else f"{task} ({line['doc_id']})"
            if sample_id not in samples:
                samples[sample_id] = _sample(sample_id, line)
            for metric in line["metrics"]:
                name = metric if line["filter"] == _NO_FILTER else f"{metric},{line['filter']}"
                names[name] = None
                if is_higher_better.get(metric) is False:
                    lower.add(name)
                samples[sample_id].results[name] = _result(metric, line.get(metric))
    evaluators: dict[str, dict[str, Any]] = {name: {} for name in names}
    kind = "samples of lm-evaluation-harness"
    return Log(kind, [*samples.values()], evaluators, about, evaluators, frozenset(lower))


def _read_results(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(
            f"there is no {path}, which lm_eval writes beside its samples; it tells whether "
            "higher scores are better"
        )
    return read_object(path)


def parse_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Parse the lines of a file; raises InputError for a line that is not an object."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            yield parse_object(line, f"{file}: line {number}")


def _sample(sample_id: Any, line: Mapping[str, Any]) -> LoggedSample:
    requests = [*line["arguments"].values()]
    output, target = line["filtered_resps"], line["target"]
    choices = [str(each.get("arg_1")).strip() for each in requests]
    if len(requests) > 1:  # each output is the log likelihood of a choice, and whether it is greedy
        likelihoods = [float(each[0]) for each in output]
        output = choices[likelihoods.index(max(likelihoods))]
        place = int(target) if str(target).isdecimal() else len(choices)
        target = choices[place] if place < len(choices) else target  # a number may be the answer
    elif len(output) == 1:
        output = output[0]
    given = requests[0].get("arg_0") if requests else None
    fields = {"id": sample_id, "output": output, "reference": target, "input": given}
    return LoggedSample(fields, {}, _NO_METRIC)


def _result(metric: str, value: Any) -> Result:
    """Read a value. Some metrics have no figure for one sample, only a part of the total."""
    if isinstance(value, (list, dict)):
        return Result(None, None, "no_figure", answered=True)
    score = score_of(value)
    if score is None:
        return Result.unscored(f"{metric} is {value!r}", label="not_scored")
    return Result(score)
