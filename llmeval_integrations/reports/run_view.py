"""One run, and the list of runs in a folder, as sections of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, Final

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import OTHER
from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.reports.field_view import field_sections
from llmeval_integrations.reports.tables import name_runs
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
)
from llmeval_integrations.runs.acceptance import acceptance
from llmeval_integrations.runs.cells import text_of
from llmeval_integrations.runs.directory import RESULTS, RunDirectory
from llmeval_integrations.runs.numbers import NOTHING, percent, percents, write_count
from llmeval_integrations.runs.run import Run

_OF_REPEATS: Final = (
    "pass@k is the chance that at least one of k rows of a group passes; pass^k is the chance that "
    "all of them pass. Both are unbiased, with 95 % intervals over groups."
)
_NO_COST: Final = (
    "A cost is not known if genai-prices (pip install 'llmeval-integrations[prices]') is missing "
    "or has no price for the model, if a model at an address of its own has no `price`, or if a "
    "server did not report tokens."
)
_TO_REVIEW: Final = 100
"""The most values that are listed for a review."""

_NAME: Final = Column("evaluator", "name", kind="name")
_MINUTE: Final = len("2026-01-31T12:30")
_OF_INDEX: Final = [
    Column("run", "run", kind="name"),
    Column("date (UTC)", "date", kind="word", rank=1),
    Column("data", "data", kind="name", rank=2),
    Column("samples", "samples"),
    Column("pass rates", "rates", kind="text"),
]


def view_of_run(run: Run, name: str = "") -> View:
    """Return the report of one run; a run in memory has no name."""
    if not name and run.out is not None:
        [name] = name_runs([run])
    evaluators: list[Row] = [
        {**figures, "name": each} for each, figures in run.summary["evaluators"].items()
    ]
    causes = sorted(_causes(run), key=lambda cause: -cause["samples"])
    sections = [
        rates(evaluators),
        _list_causes(causes),
        *(_review(run, each) for each in evaluators if "confidence" in each),
        *_groups([each for each in evaluators if each.get("groups", {}).get("flaky")]),
        *field_sections(run, evaluators),
        _labels(run, [each for each in evaluators if each["labels"] and each["pass_rate"] is None]),
        _judges(run, evaluators),
    ]
    warnings = [f"the run is incomplete: {run.incomplete}"] if run.incomplete else []
    about = f"{name}: " if name else ""
    return View(
        f"{about}{write_count(run.summary['samples'], 'sample')}",
        _verdict(evaluators, causes),
        [each for each in sections if each.rows],
        [f"{about}{each}" for each in (*warnings, *run.warnings)],
    )


def _tone(rate: float | None) -> Tone:
    if rate is None:
        return "quiet"
    return "good" if rate >= 0.9 else "warn" if rate >= 0.5 else "bad"


def _verdict(evaluators: Sequence[Row], causes: Sequence[Row]) -> Cell:
    """Write in a few sentences how good the outputs are, and what is wrong most often."""
    parts = []
    tone: Tone = ""
    if rated := [each for each in evaluators if each["pass_rate"] is not None]:
        worst = min(rated, key=itemgetter("pass_rate"))
        rows = write_count(worst["rated"], "sample")
        lowest = ", the lowest rate" if len(rated) > 1 else ""
        verb = "passes" if rows == "1 sample" else "pass"
        parts = [f"{percent(worst['pass_rate'])} of {rows} {verb} {worst['name']}{lowest}."]
        tone = _tone(worst["pass_rate"])
    if unreadable := sum(each["samples"] for each in causes if each["is_unreadable"]):
        verb = "is" if unreadable == 1 else "are"
        parts.append(f"{write_count(unreadable, 'output')} {verb} not JSON.")
    invented, misread = (
        sum(each.get(key, 0) for each in evaluators) for key in ("invented", "misread")
    )
    if wrong := invented + misread:
        origins = f"{invented:,} not in the source (invented), {misread:,} in it (misread)"
        parts.append(f"{write_count(wrong, 'wrong value')}: {origins}.")
    if lost := sum(each["unscored"] + each["errors"] for each in evaluators):
        parts.append(f"Left out of rates: {write_count(lost, 'row')} without a result.")
    return Cell(" ".join(parts) or "No evaluator gave a verdict.", tone)


def rates(evaluators: Sequence[Row]) -> Section:
    """Show the pass rate and the mean score of each evaluator."""
    columns = [
        _NAME,
        Column("passed", "pass_rate", percent, tone=_tone, interval="pass_rate_ci95"),
        Column("95 % interval", "pass_rate_ci95", percents, rank=1, tone=mute),
        Column("mean score", "mean", score, rank=2),
        Column("scored", "scored", rank=3, tone=mute),
        Column("unscored", "unscored", optional=True, tone=alarm),
        Column("errors", "errors", optional=True, tone=alarm),
    ]
    return Section.of("evaluators", "Evaluators", columns, evaluators, few=50, most=50)


def _causes(run: Run) -> Iterator[Row]:
    """Yield the causes why outputs did not pass.

    If several evaluators report the same defect of an output that is not JSON, it counts once.
    """
    found: dict[tuple[str, str], list[Any]] = {}
    for evaluator, findings in run.findings.items():
        for each in findings:
            kind = f"error: {each.kind}" if each.is_error else each.kind
            key = kind, "" if each.is_defect else evaluator
            found.setdefault(key, []).append((evaluator, each))
    for (kind, evaluator), reports in found.items():
        label, names = reports[0][1].kind, [each for each, _ in reports]
        link = {"label": label, "evaluator": evaluator} if evaluator else {"label": label}
        yield {
            "cause": kind if evaluator else f"{kind}: {DEFECTS[label]}",
            "samples": max(each.count for _, each in reports),
            "by": f"all {len(names)}" if 1 < len(names) == len(run.findings) else ", ".join(names),
            "reason": reports[0][1].reason,
            "is_unreadable": not evaluator,
            "link": {} if label == OTHER else link,
        }


def _list_causes(causes: Sequence[Row]) -> Section:
    columns = [
        Column("cause", "cause", kind="text"),
        Column("samples", "samples"),
        Column("found by", "by", kind="name", rank=1, tone=mute),
        Column("example", "reason", kind="text", rank=2, tone=mute),
    ]
    return Section.of("causes", "What went wrong", columns, causes, 100, noun="cause", most=8)


def _review(run: Run, figures: Row) -> Section:
    """List the values of which a model was least sure, and which need a review."""
    found = acceptance(run, figures["name"], review=_TO_REVIEW)
    accepted = 0 if found.overall.confidence is None else found.overall.accepted
    columns = [
        Column("sample", "sample", kind="name"),
        Column("field", "pointer", lambda pointer: pointer or "(the whole)", "name"),
        Column("confidence", "confidence", score),
    ]
    rows = []
    for each in found.review:
        link = {"evaluator": figures["name"], "sample": text_of(each.id)}
        rows.append({**each._asdict(), "sample": link["sample"], "link": link})
    note = (
        "The values of which the model was least sure come first. Confidence above which at most "
        f"1 % of samples or groups have a wrong accepted value (95 % sure): {found.overall}."
    )
    return Section.of(
        "review",
        f"To review: {figures['name']}",
        columns,
        rows,
        noun="value",
        note=note,
        most=5,
        left_out=figures["confidence"]["n"] - accepted - len(rows),
        elsewhere="llmeval threshold RUN --review N",
    )


def _groups(evaluators: Sequence[Row]) -> Iterator[Section]:
    """Yield the repeats of tasks, and the groups that are flaky."""
    columns = [
        _NAME,
        Column("k", "k"),
        Column("groups", "tasks", rank=3),
        Column("pass@k", "pass_at_k", percent),
        Column("95 % interval", "pass_at_k_ci95", percents, rank=1, tone=mute),
        Column("pass^k", "pass_hat_k", percent),
        Column("95 % interval", "pass_hat_k_ci95", percents, rank=1, tone=mute),
    ]
    # If no group is flaky, every rate equals the pass rate.
    repeats = ({**each, **repeat} for each in evaluators for repeat in each["groups"]["repeats"])
    yield Section.of("repeats", "Repeats", columns, repeats, note=_OF_REPEATS, few=20, most=20)
    columns = [
        Column("group", "group", text_of, "name"),
        _NAME,
        Column("passed", "passes", tone=lambda _: "warn"),
        Column("of", "n"),
    ]
    groups = [{**each, **group} for each in evaluators for group in each["groups"]["flaky_groups"]]
    yield Section.of(
        "flaky",
        "Flaky groups",
        columns,
        groups,
        len(groups),
        noun="flaky group",
        note="Groups in which some rows passed and some did not.",
        left_out=sum(each["groups"]["flaky"] for each in evaluators) - len(groups),
        elsewhere="summary.json",
    )


def _labels(run: Run, evaluators: Sequence[Row]) -> Section:
    """Count the labels of evaluators that give labels but no verdict, without unscored rows."""
    columns = [
        Column("label", "label", kind="text"),
        _NAME,
        Column("rows", "rows"),
        Column("share", "share", percent),
    ]
    labels = []
    for each in evaluators:
        name, answers = each["name"], each["n"] - each["unscored"] - each["errors"]
        unscored = {found.kind: found.count for found in run.findings[name] if not found.is_error}
        for label, count in each["labels"].items():
            if (rows := count - unscored.get(label, 0)) > 0:
                link = {"evaluator": name, "label": label}
                share = rows / answers
                labels.append({**link, "name": name, "rows": rows, "share": share, "link": link})
    return Section.of("labels", "Labels", columns, labels, 20, noun="label", few=20, most=20)


def _judges(run: Run, evaluators: Sequence[Row]) -> Section:
    """Show the calls, tokens and cost of each judge, and the totals of several judges."""
    judges = [{**each["judge"], "name": each["name"]} for each in evaluators if "judge" in each]
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
    note = "" if all(each.get("cost") is not None for each in judges) else _NO_COST
    return Section.of("judges", "Judges", columns, judges, note=note, noun="judge", few=50, most=50)


def index_view(folder: str | PathLike[str]) -> View:
    """Return date, data and pass rates of the runs in a folder and up to two levels below it.

    Raises InputError if the folder does not exist.
    """
    if not Path(folder).is_dir():
        raise InputError(f"there is no folder {folder}")
    patterns = (RESULTS, f"*/{RESULTS}", f"*/*/{RESULTS}")
    found = {file.parent for pattern in patterns for file in Path(folder).glob(pattern)}
    rows = sorted(map(_index_row, sorted(found)), key=lambda row: row["date"], reverse=True)
    verdict = write_count(len(rows), "run")
    if not rows:
        verdict += "; llmeval run DATA -e EVALUATOR --out DIR keeps one."
    section = Section.of("runs", "Runs", _OF_INDEX, rows, noun="run", few=20, most=20)
    return View(str(folder), Cell(verdict), [section] if rows else [])


def _index_row(path: Path) -> Row:
    directory = RunDirectory(path)
    manifest: Mapping[str, Any] = {}
    summary: Mapping[str, Any] = {}
    with suppress(InputError):  # a damaged file is ignored
        manifest = directory.manifest()
    with suppress(InputError):
        summary = directory.summary() or {}
    rates = [
        f"{name} {percent(each['pass_rate'])}"
        for name, each in summary.get("evaluators", {}).items()
    ]
    date = str(manifest.get("started", ""))[:_MINUTE].replace("T", " ")
    return {
        "run": str(path),
        "date": date or NOTHING,
        "data": Path(manifest.get("data", {}).get("path", "")).name or NOTHING,
        "samples": summary.get("samples"),
        "rates": "; ".join(rates) or "not finished",
    }
