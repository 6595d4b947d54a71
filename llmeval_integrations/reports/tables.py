"""The runs of a report: their names, their rows, and tables for other programs."""

from __future__ import annotations

import csv
from codecs import getwriter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any, BinaryIO, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import free_name
from llmeval_integrations.matching.node import FIGURES
from llmeval_integrations.runs.cells import COLUMNS, batch_of, cell_of, schema, text_of
from llmeval_integrations.runs.rows import Row
from llmeval_integrations.runs.run import Run

_FIELD: Final[Mapping[str, type]] = {
    **dict.fromkeys(("run", "evaluator", "field"), str),
    **dict.fromkeys(("leaves", "match", "mismatch", "wrong_type", "missing", "extra"), int),
    **dict.fromkeys(("unreadable", "samples", "wrong_samples"), int),
    **dict.fromkeys(FIGURES, float),
    **dict.fromkeys(("wrong_values", "examples"), str),
}
"""The columns of a field's record, with the types of their cells."""

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The first characters of a formula; Chinese and Japanese spreadsheets accept full-width signs."""

_AT_A_TIME: Final = 1_000


def name_runs(runs: Sequence[Run]) -> dict[str, Run]:
    """Name each run after its directory; a name that is taken gets a number."""
    named: dict[str, Run] = {}
    for run in runs:
        name = run.out.resolve().name if run.out is not None else ""
        named[free_name(name or "run", named)] = run
    return named


def rows_of(run: Run) -> Iterator[Row]:
    """Read the rows that the run had when it was opened; it may have more by now."""
    return islice(run.rows, len(run.rows))


class Table(NamedTuple):
    """Columns, and records that can be read once."""

    columns: Mapping[str, type]  # the names and the types of the cells; a cell may be None
    records: Iterator[tuple[Any, ...]]


def rows_table(runs: Sequence[Run]) -> Table:
    """Return a record for every row; metadata and ids that are not text become JSON text."""
    records = (
        (name, *(cell_of(row, column) for column in COLUMNS))
        for name, run in name_runs(runs).items()
        for row in rows_of(run)
    )
    return Table({"run": str, **COLUMNS}, records)


def fields_table(runs: Sequence[Run]) -> Table:
    """Return a record for every field of every evaluator that scores field by field.

    The most frequent wrong values and the ids of examples are JSON text. Raises InputError if there
    is no such evaluator.
    """
    if not any("fields" in each for run in runs for each in run.summary["evaluators"].values()):
        raise InputError("no evaluator of the run compares fields, as json_fields does")
    cells = (
        {**figures, "run": name, "evaluator": evaluator, "field": path}
        for name, run in name_runs(runs).items()
        for evaluator, summary in run.summary["evaluators"].items()
        for path, figures in summary.get("fields", {}).items()
    )
    records = (
        tuple(text_of(each[key]) if kind is str else each[key] for key, kind in _FIELD.items())
        for each in cells
    )
    return Table(_FIELD, records)


TABLES: Final[Mapping[str, Callable[[Sequence[Run]], Table]]] = {
    "rows": rows_table,
    "fields": fields_table,
}
"""The tables that can be exported, by name."""


def write_csv(table: Table, out: BinaryIO) -> None:
    """Write the column names and the records in UTF-8.

    A text that a spreadsheet would read as a formula gets an apostrophe in front.
    """
    writer = csv.writer(getwriter("utf-8")(out, "backslashreplace"), lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(map(_cell, record) for record in table.records)


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        # Until Python 3.13, `csv` leaves a carriage return in a cell without quotes.
        text = cell.replace("\r\n", "\n").replace("\r", "\n")
        return f"'{text}" if text.startswith(_FORMULA) else text
    return str(cell).lower() if isinstance(cell, bool) else cell


def _write_batches(make: str, table: Table, out: BinaryIO) -> None:
    """Write the records in batches, with the writer that pyarrow has for a format."""
    columns = schema(table.columns)
    module, _, name = make.rpartition(".")
    with getattr(import_module(module), name)(out, columns) as writer:
        while part := list(islice(table.records, _AT_A_TIME)):
            writer.write_batch(batch_of(zip(*part), columns))


WRITERS: Final[Mapping[str, Callable[[Table, BinaryIO], None]]] = {
    "arrow": partial(_write_batches, "pyarrow.ipc.new_file"),
    "csv": write_csv,
    "parquet": partial(_write_batches, "pyarrow.parquet.ParquetWriter"),
}
"""The functions that write a table, by format, which is also the suffix of its files."""
