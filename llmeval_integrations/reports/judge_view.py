"""What a run says of labels without a verdict, and of judges, as sections of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from llmeval_integrations.reports.entries import (
    Entry,
    Parts,
    count_column,
    name_columns,
    share_column,
    tabulate,
)
from llmeval_integrations.reports.view import Cell, Column, Section
from llmeval_integrations.runs.run import Run

_MOST_LABELS: Final = 20
_NO_COST: Final = (
    "A cost is not known where genai-prices (pip install 'llmeval-integrations[prices]') is "
    "missing or has no price of the model, and where a server told no tokens."
)


def label_section(evaluators: Sequence[Entry]) -> Section:
    """Count the labels of evaluators that only label, and give no verdict."""
    parts: Parts = [
        (Column("evaluator", "name"), lambda label: Cell(label.evaluator)),
        *name_columns("")[1:],
        (Column("label", "text"), lambda label: Cell(label.name, filter=label.figures["filter"])),
        *count_column("rows"),
        *share_column("share"),
    ]
    labels = [label for each in evaluators for label in _labels(each)]
    return Section("labels", "Labels", *tabulate(parts, labels), noun="label", few=21, most=21)


def _labels(each: Entry) -> Iterator[Entry]:
    rows = each.figures["n"]
    unanswered = each.figures["unscored"] + each.figures["errors"]
    if each.figures["pass_rate"] is not None or unanswered == rows:
        return
    labels = list(each.figures["labels"].items())
    for label, count in labels[:_MOST_LABELS]:
        link = {"evaluator": each.name, "label": label}
        figures = {"rows": count, "share": count / rows, "filter": link}
        yield Entry(each.run, label, figures, each.name)
    if rest := [count for _, count in labels[_MOST_LABELS:]]:
        name = f"and {len(rest):,} more label{'s' if len(rest) > 1 else ''}"
        figures = {"rows": sum(rest), "share": sum(rest) / rows, "filter": {}}
        yield Entry(each.run, name, figures, each.name)


def judge_section(evaluators: Sequence[Entry], runs: Mapping[str, Run]) -> Section:
    """Say what each judge took, and all of a run together where there are several."""
    judges = [
        each._replace(figures=each.figures["judge"])
        for each in evaluators
        if "judge" in each.figures
    ]
    for name, run in runs.items():
        shown = name if len(runs) > 1 else ""
        if sum(1 for each in judges if each.run == shown) > 1:
            judges.append(Entry(shown, "all", run.summary["judging"]))
    parts: Parts = [
        *name_columns("judge"),
        *count_column("calls"),
        *count_column("cached", rank=1),
        (Column("failed"), lambda each: _failures(each.figures.get("failed"))),
        *count_column("not_asked", alarm=True),
        *count_column("input_tokens", rank=2),
        *count_column("output_tokens", rank=2),
        (Column("cost"), lambda each: Cell(_cost(each.figures.get("cost")))),
    ]
    is_known = all(each.figures.get("cost") is not None for each in judges)
    note = "" if is_known else _NO_COST
    return Section("judges", "Judges", *tabulate(parts, judges), note, "judge", 50, 50)


def _failures(count: Any) -> Cell:
    return Cell(f"{count or 0:,}", "bad" if count else "")


def _cost(cost: float | None) -> str:
    return "not known" if cost is None else f"${cost:.4f}"
