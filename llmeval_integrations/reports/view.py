"""The content of a report, independent of its format: sections of cells, with rounded figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from llmeval_integrations.core.figures import format_within
from llmeval_integrations.runs.numbers import NOTHING, figure
from llmeval_integrations.stats.intervals import Interval

Tone = Literal["", "good", "warn", "bad", "quiet"]
"""The meaning of a cell's colour."""

Kind = Literal["figure", "word", "name", "text"]
"""Figures and our own words are never cut, names break after `/` and `_`, texts anywhere."""

Row: TypeAlias = Mapping[str, Any]
"""The values of a table's row, by key; `link` filters the samples for its first cell."""


@dataclass(frozen=True)
class Cell:
    """One cell of a table; a short report shows only its first line."""

    text: str
    tone: Tone = ""
    others: Sequence[str] = ()  # further lines
    bar: tuple[float, Interval] | None = None  # a share and its interval, drawn as a bar

    filter: Mapping[str, str] = field(default_factory=dict)
    """The samples that a page shows for the cell: by `evaluator`, `label`, `run` or `sample`."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its head, and how its cells are written.

    If there is not enough room, columns of the highest rank are dropped first, those of rank 0
    never. An optional column is left out if all cells are empty, or all names are the same.
    """

    head: str
    key: str
    write: Callable[[Any], str] = lambda value: value if isinstance(value, str) else figure(value)
    kind: Kind = "figure"
    rank: int = 0
    optional: bool = False
    tone: Callable[[Any], Tone] = lambda value: "quiet" if value is None else ""
    note: str = ""  # the meaning of the figures
    interval: str = ""  # the key of the interval, if a share is drawn as a bar

    @property
    def is_whole(self) -> bool:
        """Whether no cell is cut or wrapped."""
        return self.kind in {"figure", "word"}

    def cell(self, row: Row) -> Cell:
        """Read the cell of a row; each of several texts is a line."""
        value, interval = row.get(self.key), row.get(self.interval)
        lines = value if self.kind == "text" and isinstance(value, list) else [value]
        text, *others = map(self.write, lines)
        return Cell(text, self.tone(value), others, (row[self.key], interval) if interval else None)

    def is_idle(self, cells: Sequence[Cell]) -> bool:
        """Return whether an optional column with these cells is left out."""
        texts = {cell.text for cell in cells}
        is_same = self.kind == "name" and len(texts) == 1
        return self.optional and (is_same or texts <= {"", "0", NOTHING})


@dataclass(frozen=True)
class Section:
    """A table with a heading; a report shows its first rows."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    noun: str = "row"  # the word for a row
    note: str = ""
    few: int = 6  # the rows in a short report
    most: int = 15  # the rows that a page shows at first
    left_out: int = 0  # further rows, which are found `elsewhere`
    elsewhere: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        columns: Sequence[Column],
        rows: Iterable[Row],
        limit: int = 200,
        **options: Any,
    ) -> Section:
        """Make a table of the first rows, without empty optional columns."""
        every = [*rows]
        rows = every[:limit]
        table = [[column.cell(row) for row in rows] for column in columns]
        table[0] = [replace(cell, filter=row.get("link", {})) for cell, row in zip(table[0], rows)]
        kept = [each for each in zip(columns, table) if not each[0].is_idle(each[1])]
        cells = [*zip(*(cells for _, cells in kept))]
        options = {"left_out": len(every) - len(rows), **options}
        return cls(name, title, [column for column, _ in kept], cells, **options)

    def rest(self, count: int) -> str:
        """Say how many rows there are beyond `count`; empty if there are none."""
        rest = max(len(self.rows) - count, 0) + self.left_out
        where = f": {self.elsewhere}" if self.elsewhere else ""
        return f"and {rest:,} more {self.noun}{'s' if rest > 1 else ''}{where}" if rest else ""

    def notes(self, columns: Iterable[Column]) -> str:
        """Explain the table and the given columns."""
        return " ".join(filter(None, (self.note, *(column.note for column in columns))))


@dataclass(frozen=True)
class View:
    """The report of a run or of a comparison."""

    title: str
    verdict: Cell
    sections: Sequence[Section]
    warnings: Sequence[str] = ()


def alarm(count: Any) -> Tone:
    """Colour a count that should be 0."""
    return "bad" if count else "quiet"


def mute(_: Any) -> Tone:
    """Colour a cell of minor importance."""
    return "quiet"


def score(value: float | None) -> str:
    """Write a score with three decimals, or a small or large one with four digits."""
    if value is None:
        return NOTHING
    is_usual = value == 0 or 0.1 <= abs(value) < 10
    return format_within((0, 1), value, "f", 3) if is_usual else figure(value)
