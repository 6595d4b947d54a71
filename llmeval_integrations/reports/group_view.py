"""What a run says of groups, as sections of cells: repeats of tasks, and flaky groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from llmeval_integrations.reports.entries import (
    Entry,
    Parts,
    count_column,
    name_columns,
    share_column,
    tabulate,
)
from llmeval_integrations.reports.view import NOTHING, Cell, Column, Section
from llmeval_integrations.runs.numbers import figure, percents
from llmeval_integrations.runs.records import text_of

_OF_REPEATS: Final = (
    "pass@k is the chance that at least one of k rows of a group passes, pass^k that all of them "
    "do; without bias, with 95 % intervals over groups."
)


def group_sections(evaluators: Sequence[Entry]) -> Iterator[Section]:
    """Yield the sections of evaluators whose rows come in groups."""
    grouped = [
        each._replace(figures=each.figures["groups"])
        for each in evaluators
        if "groups" in each.figures
    ]
    repeats = [
        each._replace(figures=repeat)
        for each in grouped
        for repeat in each.figures["repeats"]
        if each.figures["flaky"]  # else every rate is the pass rate
    ]
    parts: Parts = [
        *name_columns("evaluator"),
        *count_column("k"),
        *count_column("tasks", "groups", rank=3),
        *share_column("pass_at_k", "pass@k"),
        (Column("95 % interval", rank=1), _interval("pass_at_k_ci95")),
        *share_column("pass_hat_k", "pass^k"),
        (Column("95 % interval", rank=1), _interval("pass_hat_k_ci95")),
    ]
    yield Section("repeats", "Repeats", *tabulate(parts, repeats), _OF_REPEATS, few=20, most=20)
    yield _flaky(grouped)


def _interval(key: str) -> Callable[[Entry], Cell]:
    def read(entry: Entry) -> Cell:
        interval = entry.figures[key]
        return Cell(NOTHING if interval is None else percents(interval), "quiet")

    return read


def _flaky(grouped: Sequence[Entry]) -> Section:
    groups = [
        Entry(each.run, text_of(group["group"]), group, each.name)
        for each in grouped
        for group in each.figures["flaky_groups"]
    ]
    name, run = name_columns("group")
    parts: Parts = [
        name,
        (Column("evaluator", "name"), lambda group: Cell(group.evaluator)),
        run,
        (Column("passed"), lambda group: Cell(figure(group.figures["passes"]), "warn")),
        *count_column("n", "of"),
    ]
    counts = [
        f"{each.figures['flaky']:,} of {each.figures['n']:,} in "
        f"{', '.join(filter(None, (each.name, each.run)))}"
        for each in grouped
        if each.figures["flaky"]
    ]
    return Section(
        "flaky",
        "Flaky groups",
        *tabulate(parts, groups),
        f"Groups of which some rows passed and some did not: {'; '.join(counts)}.",
        noun="flaky group",
        left_out=sum(e.figures["flaky"] - len(e.figures["flaky_groups"]) for e in grouped),
        elsewhere="summary.json",
    )
