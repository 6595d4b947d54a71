"""Samples of lm-evaluation-harness, as `lm_eval --log_samples` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.result import Result
from llmeval_integrations.runs.files import read_object
from llmeval_integrations.runs.logs.log import Log, LoggedSample, score_of

_NAME: Final = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_NO_FILTER: Final = "none"


def read_lines(lines: Iterable[Mapping[str, Any]], path: Path) -> Log:
    """Make a log of a task's samples; `results_*.json` beside them says more of the task.

    Each metric is an evaluator, for each filter one, named as the harness names its results.
    """
    samples: dict[Any, LoggedSample] = {}
    metrics: dict[str, str] = {}
    for line in lines:
        own, suffix = line["doc_id"], line["filter"]
        sample = samples.get(own) or samples.setdefault(own, _sample(line))
        for metric in line["metrics"]:
            name = metric if suffix == _NO_FILTER else f"{metric},{suffix}"
            metrics[name] = metric
            sample.results[name] = _result(metric, line.get(metric))
    found = _NAME.fullmatch(path.name)
    task, started = found.groups() if found else (None, "")
    about: dict[str, Any] = {"started": started, "task": task}
    lower = None
    beside = path.with_name(f"results_{started}.json")
    if beside.is_file():
        results = read_object(beside)
        higher = results["higher_is_better"].get(task, {})
        lower = frozenset(name for name, metric in metrics.items() if higher.get(metric) is False)
        about["version"] = f"lm_eval {results.get('lm_eval_version')}"
        about["model"] = results.get("model_name")
        about["task_version"] = results.get("versions", {}).get(task)
        about["shots"] = results.get("n-shot", {}).get(task)
    evaluators: dict[str, dict[str, Any]] = {name: {} for name in metrics}
    kind = "samples of lm-evaluation-harness"
    return Log(kind, [*samples.values()], evaluators, about, evaluators, lower)


def _sample(line: Mapping[str, Any]) -> LoggedSample:
    requests = [*line["arguments"].values()]
    output, target = line["filtered_resps"], line["target"]
    choices = [str(each.get("arg_1")).strip() for each in requests]
    if len(requests) > 1:  # the log likelihood of each choice, and whether it is the greedy answer
        likelihoods = [float(each[0]) for each in output]
        output = choices[likelihoods.index(max(likelihoods))]
        target = choices[int(target)] if str(target).isdecimal() else target
    elif len(output) == 1:
        output = output[0]
    given = requests[0].get("arg_0") if requests else None
    fields = {"id": line["doc_id"], "output": output, "reference": target, "input": given}
    return LoggedSample(fields, {}, line.get("doc_hash"))


def _result(metric: str, value: Any) -> Result:
    """Read a metric's value; some have no figure of a single sample, only parts of the whole's."""
    score = score_of(value)
    if score is not None:
        return Result(score)
    return Result.unscored(f"{metric} has no figure for a single sample", label="no_figure")
