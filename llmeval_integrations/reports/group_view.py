"""What a run says of groups, as sections of cells: repeats of tasks, and flaky groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from llmeval_integrations.reports.view import NOTHING, Cell, Column, Section
from llmeval_integrations.runs.numbers import figure, percent, percents
from llmeval_integrations.runs.records import text_of

_OF_REPEATS: Final = (
    "pass@k is the chance that at least one of k rows of a group passes, pass^k that all of them "
    "do; without bias, with 95 % intervals over groups."
)

Named = Sequence[tuple[Sequence[Cell], Mapping[str, Any]]]
"""The cells that name an evaluator and its run, each with its figures."""


def group_sections(names: Sequence[Column], evaluators: Named) -> Iterator[Section]:
    """Yield the sections of evaluators whose rows come in groups."""
    grouped = [(cells, each["groups"]) for cells, each in evaluators if "groups" in each]
    yield _repeats(names, grouped)
    yield _flaky(names, grouped)


def _repeats(names: Sequence[Column], grouped: Named) -> Section:
    columns = [
        *names,
        Column("k"),
        Column("groups", rank=3),
        *(Column("pass@k"), Column("95 % interval", rank=1)),
        *(Column("pass^k"), Column("95 % interval", rank=1)),
    ]
    rows = [
        [*cells, Cell(figure(each["k"])), Cell(figure(each["tasks"]), "quiet"), *_rates(each)]
        for cells, groups in grouped
        for each in groups["repeats"]
        if groups["flaky"]  # else every rate is the pass rate
    ]
    return Section("repeats", "Repeats", columns, rows, _OF_REPEATS, few=20, most=20)


def _rates(each: Mapping[str, Any]) -> Iterator[Cell]:
    for name in ("pass_at_k", "pass_hat_k"):
        interval = each[f"{name}_ci95"]
        yield Cell(percent(each[name]))
        yield Cell(NOTHING if interval is None else percents(interval), "quiet")


def _flaky(names: Sequence[Column], grouped: Named) -> Section:
    columns = [
        Column("group", "name"),
        *names,
        *(Column("passed"), Column("of")),
    ]
    rows = [
        [
            Cell(text_of(each["group"])),
            *cells,
            Cell(figure(each["passes"]), "warn"),
            Cell(figure(each["n"])),
        ]
        for cells, groups in grouped
        for each in groups["flaky_groups"]
    ]
    counts = [
        f"{groups['flaky']:,} of {groups['n']:,} in {', '.join(cell.text for cell in cells)}"
        for cells, groups in grouped
        if groups["flaky"]
    ]
    return Section(
        "flaky",
        "Flaky groups",
        columns,
        rows,
        f"Groups of which some rows passed and some did not: {'; '.join(counts)}.",
        noun="flaky group",
        left_out=sum(groups["flaky"] - len(groups["flaky_groups"]) for _, groups in grouped),
        elsewhere="summary.json",
    )
