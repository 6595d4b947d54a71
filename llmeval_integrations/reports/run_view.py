"""One run, or several beside each other, as sections of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

from llmeval_integrations.json_values.defects import DEFECTS
from llmeval_integrations.reports.causes import Cause, describe_unreadable, rank_causes
from llmeval_integrations.reports.entries import (
    Entry,
    Parts,
    count_column,
    evaluators_of,
    name_columns,
    score,
    share,
    tabulate,
)
from llmeval_integrations.reports.field_view import field_sections
from llmeval_integrations.reports.group_view import group_sections
from llmeval_integrations.reports.judge_view import judge_section, label_section
from llmeval_integrations.reports.rows import names_of
from llmeval_integrations.reports.view import NOTHING, Bar, Cell, Column, Section, Tone, View
from llmeval_integrations.runs.numbers import counted, figure, percent, percents
from llmeval_integrations.runs.run import Run

Runs = Mapping[str, Run]
"""Runs by name."""

_GOOD: Final = 0.9
_FAIR: Final = 0.5
"""The rates from which a rate is green, and yellow."""

_MOST_CAUSES: Final = 100
_LONGEST_REASON: Final = 200


def view_of(runs: Runs) -> View:
    """Return what a report says of these runs."""
    causes = {name: rank_causes(run.findings) for name, run in runs.items()}
    evaluators = [*evaluators_of(runs)]
    sections = [
        Section("evaluators", "Evaluators", *tabulate(_EVALUATORS, evaluators), few=50, most=50),
        _causes(runs, causes),
        *group_sections(evaluators),
        *field_sections(evaluators),
        label_section(evaluators),
        judge_section(evaluators, runs),
    ]
    return View(
        _title(runs),
        _verdict(evaluators, causes),
        [each.drop_empty() for each in sections if each.rows],
        [*_warnings(runs)],
    )


def view_of_run(run: Run) -> View:
    """Return what a report says of one run."""
    return view_of({names_of([run])[0]: run})


def _title(runs: Runs) -> str:
    """Name the runs and their samples; one in memory has no name."""
    named = {name: counted(run.summary["samples"], "sample") for name, run in runs.items()}
    if all(run.out is None for run in runs.values()) and len(runs) == 1:
        return ", ".join(named.values())
    return ", ".join(f"{name}: {samples}" for name, samples in named.items())


def _warnings(runs: Runs) -> Iterator[str]:
    for name, run in runs.items():
        if run.incomplete:
            yield f"{name}: the run is incomplete: {run.incomplete}"
        yield from (f"{name}: {warning}" for warning in run.warnings)


def _verdict(evaluators: Sequence[Entry], causes: Mapping[str, Sequence[Cause]]) -> Cell:
    """Say in a sentence how good the outputs are, and what is wrong most often."""
    rated = [
        (each.figures["pass_rate"], each)
        for each in evaluators
        if each.figures["pass_rate"] is not None
    ]
    parts = []
    tone: Tone = ""
    if rated:
        rate, worst = min(rated, key=itemgetter(0))
        rows = worst.figures["n"] - worst.figures["unscored"] - worst.figures["errors"]
        where = f" in {worst.run}" if worst.run else ""
        lowest = ", the lowest rate" if len(rated) > 1 else ""
        parts.append(
            f"{percent(rate)} of {counted(rows, 'sample')} pass {worst.name}{where}{lowest}."
        )
        tone = _tone(rate)
    for name, found in causes.items():
        where = f" in {name}" if len(causes) > 1 else ""
        if unreadable := describe_unreadable(found):
            parts.append(f"{unreadable}{where}.")
    lost = [
        counted(total, noun)
        for key, noun in (("unscored", "unscored row"), ("errors", "error"))
        if (total := sum(each.figures[key] for each in evaluators))
    ]
    if lost:
        verb = "counts" if len(lost) == 1 and lost[0].startswith("1 ") else "count"
        parts.append(f"{' and '.join(lost)} {verb} in no rate.")
    return Cell(" ".join(parts) or "No evaluator gave a verdict.", tone)


def _tone(rate: float) -> Tone:
    return "good" if rate >= _GOOD else "warn" if rate >= _FAIR else "bad"


def _rate(each: Entry) -> Cell:
    rate = each.figures["pass_rate"]
    if rate is None:
        return Cell(NOTHING, "quiet")
    interval = each.figures["pass_rate_ci95"]  # rows of one group alone have none
    return Cell(share(rate), _tone(rate), bar=Bar(rate, *interval) if interval else None)


def _interval(each: Entry) -> Cell:
    interval = each.figures["pass_rate_ci95"]
    return Cell(percents(interval) if interval else NOTHING, "quiet")


_EVALUATORS: Final[Parts] = [
    *name_columns("evaluator"),
    (Column("passed"), _rate),
    (Column("95 % interval", rank=1), _interval),
    (Column("mean score", rank=2), lambda each: Cell(score(each.figures["mean"]))),
    (Column("scored", rank=3), lambda each: Cell(figure(each.figures["scored"]), "quiet")),
    *count_column("unscored", alarm=True),
    *count_column("errors", alarm=True),
]


def _causes(runs: Runs, causes: Mapping[str, Sequence[Cause]]) -> Section:
    columns = [
        Column("cause", "text"),
        Column("run", "name", optional=True),
        Column("samples"),
        Column("found by", "name", rank=1),
        Column("most often, or for example", "text", rank=2),
    ]
    ranked = sorted(
        ((name, each) for name, found in causes.items() for each in found),
        key=lambda pair: -pair[1].count,
    )
    rows = [
        [
            _cause(each, name if len(causes) > 1 else ""),
            Cell(name if len(causes) > 1 else ""),
            Cell(figure(each.count)),
            Cell(_by(each, runs[name]), "quiet"),
            Cell(_cut(each.reason), "quiet"),
        ]
        for name, each in ranked[:_MOST_CAUSES]
    ]
    left_out = len(ranked) - len(rows)
    return Section(
        "causes", "What went wrong", columns, rows, noun="cause", most=8, left_out=left_out
    )


def _cause(cause: Cause, run: str) -> Cell:
    """Name a cause, and lead to its samples."""
    link = {"label": cause.label, **({"run": run} if run else {})}
    if not cause.is_unreadable:
        link["evaluator"] = cause.evaluators[0]
    link = link if cause.can_be_filtered else {}
    if cause.is_error:
        return Cell(f"error: {cause.label}", "bad", filter=link)
    meaning = f": {DEFECTS[cause.label]}" if cause.is_unreadable else ""
    return Cell(f"{cause.label}{meaning}", filter=link)


def _by(cause: Cause, run: Run) -> str:
    count = len(cause.evaluators)
    is_all = 1 < count == len(run.summary["evaluators"])
    return f"all {count}" if is_all else ", ".join(cause.evaluators)


def _cut(text: str) -> str:
    """Show that a reason was cut, as a run's findings are."""
    return text if len(text) < _LONGEST_REASON else f"{text[: _LONGEST_REASON - 3]}..."
