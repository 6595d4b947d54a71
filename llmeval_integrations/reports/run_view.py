"""One run, or several beside each other, as sections of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.reports.field_view import (
    Origins,
    describe_origins,
    field_sections,
    origins_of,
)
from llmeval_integrations.reports.tables import names_of
from llmeval_integrations.reports.view import (
    RUN,
    Cell,
    Column,
    Row,
    Section,
    Tone,
    View,
    alarm,
    score,
    share,
    shares,
)
from llmeval_integrations.runs.numbers import counted, percent
from llmeval_integrations.runs.records import text_of
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import OTHER

_MOST_CAUSES: Final = 100
_MOST_LABELS: Final = 20
_IS_JSON: Final = ("number_out_of_range", "too_deep")
"""Defects of a text that is JSON all the same, so that not every evaluator reports them."""

_OF_REPEATS: Final = (
    "pass@k is the chance that at least one of k rows of a group passes, pass^k that all of them "
    "do; without bias, with 95 % intervals over groups."
)
_NO_COST: Final = (
    "A cost is not known where genai-prices (pip install 'llmeval-integrations[prices]') is "
    "missing or has no price of the model, and where a server told no tokens."
)


def view_of_run(run: Run) -> View:
    """Return what a report says of one run."""
    return view_of({names_of([run])[0]: run})


def view_of(runs: Mapping[str, Run]) -> View:
    """Return what a report says of these runs, by name."""
    evaluators = [*_evaluators(runs)]
    names = {name: name if len(runs) > 1 else "" for name in runs}
    causes = [cause for name, run in runs.items() for cause in _causes(names[name], run)]
    origins = {names[name]: origins_of(run) for name, run in runs.items()}
    sections = [
        Section.of("evaluators", "Evaluators", _EVALUATORS, evaluators, few=50, most=50),
        _rank(causes),
        *_groups([each for each in evaluators if "groups" in each]),
        *field_sections(evaluators, origins),
        _labels(evaluators),
        _judges(evaluators, runs),
    ]
    samples = {name: counted(run.summary["samples"], "sample") for name, run in runs.items()}
    has_name = len(runs) > 1 or any(run.out is not None for run in runs.values())
    title = ", ".join(f"{name}: {each}" if has_name else each for name, each in samples.items())
    warnings = [f"{name}: {each}" for name, run in runs.items() for each in _doubts(run)]
    verdict = _verdict(evaluators, causes, origins)
    return View(title, verdict, [each for each in sections if each.rows], warnings)


def _evaluators(runs: Mapping[str, Run]) -> Iterator[Row]:
    """Yield the figures of evaluators, each run by run."""
    for name in dict.fromkeys(name for run in runs.values() for name in run.summary["evaluators"]):
        for run_name, run in runs.items():
            if figures := run.summary["evaluators"].get(name):
                shown = run_name if len(runs) > 1 else ""
                yield {**figures, "run": shown, "name": name, "evaluator": name}


def _doubts(run: Run) -> Iterator[str]:
    if run.incomplete:
        yield f"the run is incomplete: {run.incomplete}"
    yield from run.warnings


def _tone(rate: float | None) -> Tone:
    if rate is None:
        return "quiet"
    return "good" if rate >= 0.9 else "warn" if rate >= 0.5 else "bad"


_EVALUATORS: Final = [
    Column("evaluator", "name", kind="name"),
    RUN,
    Column("passed", "pass_rate", share, tone=_tone),
    Column("95 % interval", "pass_rate_ci95", shares, rank=1, tone=lambda _: "quiet"),
    Column("mean score", "mean", score, rank=2),
    Column("scored", "scored", rank=3, tone=lambda _: "quiet"),
    Column("unscored", "unscored", optional=True, tone=alarm),
    Column("errors", "errors", optional=True, tone=alarm),
]


def _verdict(
    evaluators: Sequence[Row], causes: Sequence[Row], origins: Mapping[str, Origins]
) -> Cell:
    """Say in a sentence how good the outputs are, and what is wrong most often."""
    parts = []
    tone: Tone = ""
    rated = [each for each in evaluators if each["pass_rate"] is not None]
    if rated:
        worst = min(rated, key=itemgetter("pass_rate"))
        rows = counted(worst["n"] - worst["unscored"] - worst["errors"], "sample")
        where = f" in {worst['run']}" if worst["run"] else ""
        lowest = ", the lowest rate" if len(rated) > 1 else ""
        parts.append(
            f"{percent(worst['pass_rate'])} of {rows} pass {worst['name']}{where}{lowest}."
        )
        tone = _tone(worst["pass_rate"])
    for name, found in origins.items():
        where = f" in {name}" if name else ""
        unreadable = _describe_unreadable([each for each in causes if each["run"] == name])
        parts += [f"{each}{where}." for each in (unreadable, describe_origins(found)) if each]
    lost = [
        counted(total, noun)
        for key, noun in (("unscored", "unscored row"), ("errors", "error"))
        if (total := sum(each[key] for each in evaluators))
    ]
    if lost:
        verb = "counts" if len(lost) == 1 and lost[0].startswith("1 ") else "count"
        parts.append(f"{' and '.join(lost)} {verb} in no rate.")
    return Cell(" ".join(parts) or "No evaluator gave a verdict.", tone)


def _describe_unreadable(causes: Sequence[Row]) -> str:
    """Say how many outputs are not JSON, nothing where all are."""
    counts = {each["label"]: each["samples"] for each in causes if each["is_unreadable"]}
    count = sum(count for label, count in counts.items() if label not in _IS_JSON)
    what = "empty, refused or not JSON" if {"empty", "refused"} & counts.keys() else "not JSON"
    return f"{counted(count, 'output')} {'is' if count == 1 else 'are'} {what}" if count else ""


def _causes(name: str, run: Run) -> Iterator[Row]:
    """Yield why outputs of a run did not pass.

    Several evaluators report the same defect of an output that is not JSON: it counts once.
    """
    found: dict[tuple[str, str], list[Any]] = {}
    for evaluator, findings in run.findings.items():
        for each in findings:
            is_unreadable = each.kind in DEFECTS and not each.is_error
            kind = f"error: {each.kind}" if each.is_error else each.kind
            key = kind, "" if is_unreadable else evaluator
            found.setdefault(key, []).append((evaluator, each))
    for (kind, evaluator), reports in found.items():
        label = reports[0][1].kind
        names = [each for each, _ in reports]
        is_unreadable = evaluator == ""
        link = {"label": label, "run": name, "evaluator": evaluator}
        yield {
            "cause": f"{kind}: {DEFECTS[label]}" if is_unreadable else kind,
            "label": label,
            "run": name,
            "samples": max(each.count for _, each in reports),
            "by": f"all {len(names)}" if 1 < len(names) == len(run.findings) else ", ".join(names),
            "reason": reports[0][1].reason,
            "is_unreadable": is_unreadable,
            "link": {key: value for key, value in link.items() if value and label != OTHER},
        }


def _rank(causes: list[Row]) -> Section:
    causes.sort(key=lambda cause: -cause["samples"])
    columns = [
        Column("cause", "cause", kind="text"),
        RUN,
        Column("samples", "samples"),
        Column("found by", "by", kind="name", rank=1, tone=lambda _: "quiet"),
        Column("most often, or for example", "reason", kind="text", rank=2, tone=lambda _: "quiet"),
    ]
    shown, left_out = causes[:_MOST_CAUSES], max(len(causes) - _MOST_CAUSES, 0)
    said = {"noun": "cause", "most": 8, "left_out": left_out}
    return Section.of("causes", "What went wrong", columns, shown, **said)


def _groups(evaluators: Sequence[Row]) -> Iterator[Section]:
    """Yield the repeats of tasks, and the groups that are flaky."""
    flaky = [each for each in evaluators if each["groups"]["flaky"]]
    columns = [
        Column("evaluator", "name", kind="name"),
        RUN,
        Column("k", "k"),
        Column("groups", "tasks", rank=3),
        Column("pass@k", "pass_at_k", share),
        Column("95 % interval", "pass_at_k_ci95", shares, rank=1),
        Column("pass^k", "pass_hat_k", share),
        Column("95 % interval", "pass_hat_k_ci95", shares, rank=1),
    ]
    # Where no group is flaky every rate is the pass rate.
    repeats = ({**each, **repeat} for each in flaky for repeat in each["groups"]["repeats"])
    yield Section.of("repeats", "Repeats", columns, repeats, note=_OF_REPEATS, few=20, most=20)
    columns = [
        Column("group", "group", text_of, "name"),
        Column("evaluator", "name", kind="name"),
        RUN,
        Column("passed", "passes", tone=lambda _: "warn"),
        Column("of", "n"),
    ]
    groups = [{**each, **group} for each in flaky for group in each["groups"]["flaky_groups"]]
    counts = "; ".join(
        f"{each['groups']['flaky']:,} of {each['groups']['n']:,} in "
        f"{', '.join(filter(None, (each['name'], each['run'])))}"
        for each in flaky
    )
    said = {
        "note": f"Groups of which some rows passed and some did not: {counts}.",
        "noun": "flaky group",
        "left_out": sum(each["groups"]["flaky"] for each in flaky) - len(groups),
        "elsewhere": "summary.json",
    }
    yield Section.of("flaky", "Flaky groups", columns, groups, **said)


def _labels(evaluators: Sequence[Row]) -> Section:
    """Count the labels of evaluators that only label, and give no verdict."""
    columns = [
        Column("label", "label", kind="text"),
        Column("evaluator", "evaluator", kind="name", rank=1),
        RUN,
        Column("rows", "rows"),
        Column("share", "share", share),
    ]
    labels = [
        {
            **each,
            "label": label,
            "rows": count,
            "share": count / each["n"],
            "link": {"evaluator": each["name"], "label": label},
        }
        for each in evaluators
        if each["pass_rate"] is None
        for label, count in each["labels"].items()
    ]
    shown, left_out = labels[:_MOST_LABELS], max(len(labels) - _MOST_LABELS, 0)
    said = {"noun": "label", "few": 20, "most": 20, "left_out": left_out}
    return Section.of("labels", "Labels", columns, shown, **said)


def _judges(evaluators: Sequence[Row], runs: Mapping[str, Run]) -> Section:
    """Say what each judge took, and all of a run together where there are several."""
    judges = [{**each, **each["judge"]} for each in evaluators if "judge" in each]
    for name, run in runs.items():
        shown = name if len(runs) > 1 else ""
        if sum(each["run"] == shown for each in judges) > 1:
            judges.append({**run.summary["judging"], "run": shown, "name": "all"})
    columns = [
        Column("judge", "name", kind="name"),
        RUN,
        Column("calls", "calls"),
        Column("cached", "cached", rank=1),
        Column("failed", "failed", lambda count: f"{count or 0:,}", tone=alarm),
        Column("not asked", "not_asked", optional=True, tone=alarm),
        Column("input tokens", "input_tokens", rank=2),
        Column("output tokens", "output_tokens", rank=2),
        Column("cost", "cost", lambda cost: "not known" if cost is None else f"${cost:.4f}"),
    ]
    is_known = all(each.get("cost") is not None for each in judges)
    said = {"note": "" if is_known else _NO_COST, "noun": "judge", "few": 50, "most": 50}
    return Section.of("judges", "Judges", columns, judges, **said)
