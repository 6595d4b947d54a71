"""The runs of a report: their names, their rows, and tables for other programs to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from llmeval_integrations.core.quoting import free_name
from llmeval_integrations.fields.figures import FIGURES
from llmeval_integrations.runs.records import COLUMNS, Table, record_of, text_of
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run

_FIELD: Final[Mapping[str, type]] = {
    **dict.fromkeys(("run", "evaluator", "field"), str),
    **dict.fromkeys(("leaves", "match", "mismatch", "wrong_type", "missing", "extra"), int),
    **dict.fromkeys(("unreadable", "samples", "wrong_samples"), int),
    **dict.fromkeys(FIGURES, float),
    **dict.fromkeys(("wrong_values", "examples"), str),
}
"""The columns of a field's record, with the type of their cells."""


def names_of(runs: Sequence[Run]) -> list[str]:
    """Name each run by its directory, with a number behind a name that is taken."""
    names: list[str] = []
    for run in runs:
        name = run.out.resolve().name if run.out is not None else ""
        names.append(free_name(name or "run", names))
    return names


def describe_gaps(runs: Sequence[Run]) -> Iterator[str]:
    """Say which of the runs may lack samples, and why."""
    for name, run in zip(names_of(runs), runs, strict=True):
        if run.incomplete:
            yield f"{name} is incomplete: {run.incomplete}"


def rows_of(run: Run) -> Iterator[Row]:
    """Read the rows that the run had when it was opened; there may be more by now."""
    return islice(run.rows, len(run.rows))


def by_sample(run: Run) -> Iterator[tuple[int, list[Row]]]:
    """Read the rows sample by sample, each with its place in the data."""
    rows, width = rows_of(run), len(run.summary["evaluators"])
    return enumerate(iter(lambda: list(islice(rows, width)), []))


def rows_table(runs: Sequence[Run]) -> Table:
    """Return a record for every row; metadata are JSON text, and so is an id that is not a text."""
    records = (
        (name, *record_of(row))
        for name, run in zip(names_of(runs), runs, strict=True)
        for row in rows_of(run)
    )
    return Table({"run": str, **COLUMNS}, records)


def fields_table(runs: Sequence[Run]) -> Table:
    """Return a record for every field of every evaluator that scores field by field.

    The most frequent wrong values and the ids of examples are JSON text.
    """
    return Table(_FIELD, _fields(runs))


def _fields(runs: Sequence[Run]) -> Iterator[tuple[Any, ...]]:
    for name, run in zip(names_of(runs), runs, strict=True):
        for evaluator, summary in run.summary["evaluators"].items():
            for path, figures in summary.get("fields", {}).items():
                cells = {**figures, "run": name, "evaluator": evaluator, "field": path}
                yield tuple(
                    text_of(cells[column]) if kind is str else cells[column]
                    for column, kind in _FIELD.items()
                )


TABLES: Final[Mapping[str, Callable[[Sequence[Run]], Table]]] = {
    "rows": rows_table,
    "fields": fields_table,
}
"""What can be made a table, by name."""
