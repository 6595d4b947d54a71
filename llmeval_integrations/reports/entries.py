"""Columns that know how to read their cells, so that a table is a list of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.core.figures import format_within
from llmeval_integrations.reports.view import NOTHING, Cell, Column
from llmeval_integrations.runs.numbers import figure, percent
from llmeval_integrations.runs.run import Run


class Entry(NamedTuple):
    """What a row of a table is about."""

    run: str
    """The run's name; empty where there is only one."""

    name: str
    """The evaluator, field, tool, group or label."""

    figures: Mapping[str, Any]
    evaluator: str = ""


Parts: TypeAlias = Sequence[tuple[Column, Callable[[Entry], Cell]]]
"""Columns, each with what reads its cell of an entry."""


def evaluators_of(runs: Mapping[str, Run]) -> Iterator[Entry]:
    """Yield the evaluators, each run by run."""
    names = dict.fromkeys(name for run in runs.values() for name in run.summary["evaluators"])
    for evaluator in names:
        for name, run in runs.items():
            if evaluator in run.summary["evaluators"]:
                shown = name if len(runs) > 1 else ""
                yield Entry(shown, evaluator, run.summary["evaluators"][evaluator], evaluator)


def tabulate(parts: Parts, entries: Iterable[Entry]) -> tuple[list[Column], list[list[Cell]]]:
    """Return the columns, and a row of cells for each entry."""
    columns = [column for column, _ in parts]
    return columns, [[read(entry) for _, read in parts] for entry in entries]


def name_columns(head: str) -> Parts:
    """Return the columns of what an entry is called, and of its run where there are several."""
    return [
        (Column(head, "name"), lambda entry: Cell(entry.name)),
        (Column("run", "name", optional=True), lambda entry: Cell(entry.run)),
    ]


def count_column(key: str, head: str = "", *, rank: int = 0, alarm: bool = False) -> Parts:
    """Return the column of a count; one that should be 0 is left out where it is, else red."""

    def read(entry: Entry) -> Cell:
        count = entry.figures.get(key)
        return Cell(figure(count), ("bad" if count else "quiet") if alarm else "")

    return [(Column(head or key.replace("_", " "), rank=rank, optional=alarm), read)]


def share_column(key: str, head: str = "", *, rank: int = 0) -> Parts:
    """Return the column of a share, as a percentage."""
    return [(Column(head or key, rank=rank), lambda entry: Cell(share(entry.figures[key])))]


def share(value: float | None) -> str:
    """Write a share as a percentage, a dash where there is none."""
    return NOTHING if value is None else percent(value)


SHARES: Final[Parts] = [
    *share_column("precision"),
    *share_column("recall"),
    *share_column("f1", "F1"),
]


def score(value: float | None) -> str:
    """Write a score with three decimals, or four digits where these would say little."""
    if value is None:
        return NOTHING
    is_usual = value == 0 or 0.1 <= abs(value) < 10
    return format_within((0, 1), value, "f", 3) if is_usual else figure(value)
