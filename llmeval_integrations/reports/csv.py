"""The rows of a run, or another of its tables, as CSV."""

from __future__ import annotations

import csv
from codecs import StreamWriter, getwriter
from collections.abc import Sequence
from typing import Any, BinaryIO, Final

from llmeval_integrations.reports.tables import rows_table
from llmeval_integrations.runs.records import Table
from llmeval_integrations.runs.run import Run

SUFFIX: Final = ".csv"

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a formula begins; a spreadsheet for Chinese or Japanese takes full-width signs, too."""


def write(runs: Sequence[Run], out: BinaryIO) -> None:
    """Write the rows."""
    write_table(rows_table(runs), out)


def write_table(table: Table, out: BinaryIO) -> None:
    """Write the records in UTF-8, with the names of the columns first.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    writer = csv.writer(_Lines(getwriter("utf-8")(out, "backslashreplace")))
    writer.writerow(table.columns)
    writer.writerows(map(_cell, record) for record in table.records)


class _Lines:
    """Ends records by a line feed; until Python 3.13 `lineterminator` leaves a bare return bare."""

    def __init__(self, out: StreamWriter) -> None:
        self._out = out

    def write(self, record: str) -> None:
        self._out.write(record.removesuffix("\r\n") + "\n")


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(_FORMULA) else cell
    return str(cell).lower() if isinstance(cell, bool) else cell
