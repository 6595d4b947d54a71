"""One run as sections of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.reports.field_view import field_sections
from llmeval_integrations.reports.grounding import describe_origins, origins_of
from llmeval_integrations.reports.tables import names_of
from llmeval_integrations.reports.view import (
    Cell,
    Column,
    Row,
    Section,
    Tone,
    View,
    alarm,
    mute,
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
_NAME: Final = Column("evaluator", "name", kind="name")


def view_of_run(run: Run, name: str = "") -> View:
    """Return what a report says of one run; one in memory has no name."""
    name = name or (names_of([run])[0] if run.out is not None else "")
    evaluators: list[Row] = [
        {**figures, "name": name} for name, figures in run.summary["evaluators"].items()
    ]
    causes = sorted(_causes(run), key=lambda cause: -cause["samples"])
    origins = origins_of(run)
    sections = [
        _rates(evaluators),
        _rank(causes),
        *_groups([each for each in evaluators if "groups" in each]),
        *field_sections(evaluators, origins),
        _labels(evaluators),
        _judges(run, evaluators),
    ]
    warnings = [f"the run is incomplete: {run.incomplete}"] if run.incomplete else []
    about = f"{name}: " if name else ""
    return View(
        f"{about}{counted(run.summary['samples'], 'sample')}",
        _verdict(evaluators, [_describe_unreadable(causes), describe_origins(origins)]),
        [each for each in sections if each.rows],
        [f"{about}{each}" for each in (*warnings, *run.warnings)],
    )


def _tone(rate: float | None) -> Tone:
    if rate is None:
        return "quiet"
    return "good" if rate >= 0.9 else "warn" if rate >= 0.5 else "bad"


def _rates(evaluators: Sequence[Row]) -> Section:
    columns = [
        _NAME,
        Column("passed", "pass_rate", share, tone=_tone),
        Column("95 % interval", "pass_rate_ci95", shares, rank=1, tone=mute),
        Column("mean score", "mean", score, rank=2),
        Column("scored", "scored", rank=3, tone=mute),
        Column("unscored", "unscored", optional=True, tone=alarm),
        Column("errors", "errors", optional=True, tone=alarm),
    ]
    return Section.of("evaluators", "Evaluators", columns, evaluators, few=50, most=50)


def _verdict(evaluators: Sequence[Row], others: Sequence[str]) -> Cell:
    """Say in a sentence how good the outputs are, and what is wrong most often."""
    parts = []
    tone: Tone = ""
    rated = [each for each in evaluators if each["pass_rate"] is not None]
    if rated:
        worst = min(rated, key=itemgetter("pass_rate"))
        rows = counted(worst["n"] - worst["unscored"] - worst["errors"], "sample")
        lowest = ", the lowest rate" if len(rated) > 1 else ""
        parts = [f"{percent(worst['pass_rate'])} of {rows} pass {worst['name']}{lowest}."]
        tone = _tone(worst["pass_rate"])
    lost = [
        counted(total, noun)
        for key, noun in (("unscored", "unscored row"), ("errors", "error"))
        if (total := sum(each[key] for each in evaluators))
    ]
    verb = "counts" if len(lost) == 1 and lost[0].startswith("1 ") else "count"
    parts += [f"{each}." for each in others if each]
    parts += [f"{' and '.join(lost)} {verb} in no rate."] if lost else []
    return Cell(" ".join(parts) or "No evaluator gave a verdict.", tone)


def _describe_unreadable(causes: Sequence[Row]) -> str:
    """Say how many outputs are not JSON, nothing where all are."""
    counts = {each["label"]: each["samples"] for each in causes if each["is_unreadable"]}
    count = sum(count for label, count in counts.items() if label not in _IS_JSON)
    what = "empty, refused or not JSON" if {"empty", "refused"} & counts.keys() else "not JSON"
    return f"{counted(count, 'output')} {'is' if count == 1 else 'are'} {what}" if count else ""


def _causes(run: Run) -> Iterator[Row]:
    """Yield why outputs did not pass.

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
        label, names = reports[0][1].kind, [each for each, _ in reports]
        link = {"label": label, "evaluator": evaluator} if evaluator else {"label": label}
        yield {
            "cause": kind if evaluator else f"{kind}: {DEFECTS[label]}",
            "label": label,
            "samples": max(each.count for _, each in reports),
            "by": f"all {len(names)}" if 1 < len(names) == len(run.findings) else ", ".join(names),
            "reason": reports[0][1].reason,
            "is_unreadable": not evaluator,
            "link": {} if label == OTHER else link,
        }


def _rank(causes: Sequence[Row]) -> Section:
    columns = [
        Column("cause", "cause", kind="text"),
        Column("samples", "samples"),
        Column("found by", "by", kind="name", rank=1, tone=mute),
        Column("most often, or for example", "reason", kind="text", rank=2, tone=mute),
    ]
    options = {"noun": "cause", "most": 8, "left_out": max(len(causes) - _MOST_CAUSES, 0)}
    return Section.of("causes", "What went wrong", columns, causes[:_MOST_CAUSES], **options)


def _groups(evaluators: Sequence[Row]) -> Iterator[Section]:
    """Yield the repeats of tasks, and the groups that are flaky."""
    flaky = [each for each in evaluators if each["groups"]["flaky"]]
    columns = [
        _NAME,
        Column("k", "k"),
        Column("groups", "tasks", rank=3),
        Column("pass@k", "pass_at_k", share),
        Column("95 % interval", "pass_at_k_ci95", shares, rank=1, tone=mute),
        Column("pass^k", "pass_hat_k", share),
        Column("95 % interval", "pass_hat_k_ci95", shares, rank=1, tone=mute),
    ]
    # Where no group is flaky every rate is the pass rate.
    repeats = ({**each, **repeat} for each in flaky for repeat in each["groups"]["repeats"])
    yield Section.of("repeats", "Repeats", columns, repeats, note=_OF_REPEATS, few=20, most=20)
    columns = [
        Column("group", "group", text_of, "name"),
        _NAME,
        Column("passed", "passes", tone=lambda _: "warn"),
        Column("of", "n"),
    ]
    groups = [{**each, **group} for each in flaky for group in each["groups"]["flaky_groups"]]
    counts = "; ".join(
        f"{each['groups']['flaky']:,} of {each['groups']['n']:,} in {each['name']}"
        for each in flaky
    )
    options = {
        "note": f"Groups of which some rows passed and some did not: {counts}.",
        "noun": "flaky group",
        "left_out": sum(each["groups"]["flaky"] for each in flaky) - len(groups),
        "elsewhere": "summary.json",
    }
    yield Section.of("flaky", "Flaky groups", columns, groups, **options)


def _labels(evaluators: Sequence[Row]) -> Section:
    """Count the labels of evaluators that only label, and give no verdict."""
    columns = [
        Column("label", "label", kind="text"),
        _NAME,
        Column("rows", "rows"),
        Column("share", "share", share),
    ]
    labels = [
        {
            "name": each["name"],
            "label": label,
            "rows": count,
            "share": count / each["n"],
            "link": {"evaluator": each["name"], "label": label},
        }
        for each in evaluators
        if each["pass_rate"] is None
        for label, count in each["labels"].items()
    ]
    left_out = max(len(labels) - _MOST_LABELS, 0)
    options = {"noun": "label", "few": 20, "most": 20, "left_out": left_out}
    return Section.of("labels", "Labels", columns, labels[:_MOST_LABELS], **options)


def _judges(run: Run, evaluators: Sequence[Row]) -> Section:
    """Say what each judge took, and all together where there are several."""
    judges: list[Mapping[str, Any]] = [
        {**each["judge"], "name": each["name"]} for each in evaluators if "judge" in each
    ]
    if len(judges) > 1:
        judges.append({**run.summary["judging"], "name": "all"})
    columns = [
        Column("judge", "name", kind="name"),
        Column("calls", "calls"),
        Column("cached", "cached", rank=1),
        Column("failed", "failed", lambda count: f"{count or 0:,}", tone=alarm),
        Column("not asked", "not_asked", optional=True, tone=alarm),
        Column("input tokens", "input_tokens", rank=2),
        Column("output tokens", "output_tokens", rank=2),
        Column("cost", "cost", lambda cost: "not known" if cost is None else f"${cost:.4f}"),
    ]
    is_known = all(each.get("cost") is not None for each in judges)
    note = "" if is_known else _NO_COST
    return Section.of("judges", "Judges", columns, judges, note=note, noun="judge", few=50, most=50)
