"""What a run holds as tables, for other programs to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from llmeval_integrations.fields.figures import FIGURES
from llmeval_integrations.reports.rows import names_of, rows_of
from llmeval_integrations.runs.records import COLUMNS, Table, record_of, text_of
from llmeval_integrations.runs.run import Run

_COUNTS: Final = (
    "leaves",
    "match",
    "mismatch",
    "wrong_type",
    "missing",
    "extra",
    "unreadable",
    "samples",
    "wrong_samples",
)
_LISTS: Final = ("wrong_values", "examples")


def rows_table(runs: Sequence[Run]) -> Table:
    """Return a record for every row; metadata are JSON text, and so is an id that is not a text."""
    return Table({"run": str, **COLUMNS}, _rows(runs))


def fields_table(runs: Sequence[Run]) -> Table:
    """Return a record for every field of every evaluator that scores field by field.

    The most frequent wrong values and the ids of examples are JSON text.
    """
    names = dict.fromkeys(("run", "evaluator", "field"), str)
    figures = {**dict.fromkeys(_COUNTS, int), **dict.fromkeys(FIGURES, float)}
    return Table({**names, **figures, **dict.fromkeys(_LISTS, str)}, _fields(runs))


TABLES: Final[Mapping[str, Callable[[Sequence[Run]], Table]]] = {
    "rows": rows_table,
    "fields": fields_table,
}
"""What can be made a table, by name."""


def _rows(runs: Sequence[Run]) -> Iterator[tuple[Any, ...]]:
    for name, run in zip(names_of(runs), runs, strict=True):
        for row in rows_of(run):
            yield (name, *record_of(row))


def _fields(runs: Sequence[Run]) -> Iterator[tuple[Any, ...]]:
    for name, run in zip(names_of(runs), runs, strict=True):
        for evaluator, summary in run.summary["evaluators"].items():
            for path, figures in summary.get("fields", {}).items():
                known = (figures[column] for column in (*_COUNTS, *FIGURES))
                lists = (text_of(figures[column]) for column in _LISTS)
                yield (name, evaluator, path, *known, *lists)
