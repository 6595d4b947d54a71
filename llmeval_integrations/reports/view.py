"""What a report says before it is drawn: sections of cells, every figure rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from llmeval_integrations.core.figures import format_within
from llmeval_integrations.runs.numbers import figure, percent, percents
from llmeval_integrations.stats.intervals import Interval

Tone = Literal["", "good", "warn", "bad", "quiet"]
"""What a colour says of a cell."""

Kind = Literal["figure", "word", "name", "text"]
"""Figures and our own words are never cut, a name breaks after `/` and `_`, a text anywhere."""

NOTHING: Final = "–"
"""What stands for a figure that there is not."""

Row: TypeAlias = Mapping[str, Any]
"""What a row of a table is about, by name; `link` has the samples that its first cell leads to."""


@dataclass(frozen=True)
class Cell:
    """One place of a table; a short report leaves out all but its first line."""

    text: str
    tone: Tone = ""
    others: Sequence[str] = ()
    bar: tuple[float, Interval] | None = None
    """A share that is drawn as a bar, with its interval."""

    filter: Mapping[str, str] = field(default_factory=dict)
    """The samples that a page shows for it: by `evaluator`, `label`, `run` or `sample`."""


@dataclass(frozen=True)
class Column:
    """What stands in the cells of a table that are below each other."""

    head: str
    key: str
    write: Callable[[Any], str] = lambda value: value if isinstance(value, str) else figure(value)
    kind: Kind = "figure"
    rank: int = 0
    """Where there is no room for all columns those of the highest rank go first; 0 stays."""

    optional: bool = False
    """Whether the column is left out where no cell says anything, or all names are the same."""

    has_lines: bool = False
    """Whether a cell has several values, each in its line."""

    tone: Callable[[Any], Tone] = lambda value: "quiet" if value is None else ""
    note: str = ""
    """What its figures mean."""

    interval: str = ""
    """The key of the interval of a share that is drawn as a bar."""

    def cell(self, row: Row) -> Cell:
        """Read the cell of a row."""
        value = row.get(self.key)
        text, *others = map(self.write, row[self.key] if self.has_lines else [value])
        interval = row.get(self.interval)
        return Cell(text, self.tone(value), others, (row[self.key], interval) if interval else None)

    def is_idle(self, cells: Sequence[Cell]) -> bool:
        """Whether these cells say nothing, so that the column is left out."""
        texts = {cell.text for cell in cells}
        is_same = self.kind == "name" and len(texts) == 1
        return self.optional and (is_same or texts <= {"", "0", NOTHING})


@dataclass(frozen=True)
class Section:
    """A table under a heading, of which a report shows the first rows."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    noun: str = "row"
    """What a row is."""

    note: str = ""
    few: int = 6
    """The rows of a short report."""

    most: int = 15
    """The rows that a page shows before more are asked for."""

    left_out: int = 0
    """How many rows there are beyond these, which `elsewhere` are."""

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
        """Make a table of the first rows, without optional columns that say nothing."""
        every = [*rows]
        rows = every[:limit]
        table = [[column.cell(row) for row in rows] for column in columns]
        table[0] = [replace(cell, filter=row.get("link", {})) for cell, row in zip(table[0], rows)]
        kept = [each for each in zip(columns, table) if not each[0].is_idle(each[1])]
        cells = [*zip(*(cells for _, cells in kept))]
        options = {"left_out": len(every) - len(rows), **options}
        return cls(name, title, [column for column, _ in kept], cells, **options)

    def rest(self, count: int) -> str:
        """Say how many rows there are beyond so many; nothing where there are none."""
        rest = max(len(self.rows) - count, 0) + self.left_out
        where = f": {self.elsewhere}" if self.elsewhere else ""
        return f"and {rest:,} more {self.noun}{'s' if rest > 1 else ''}{where}" if rest else ""

    def notes(self, columns: Iterable[Column]) -> str:
        """Say what the table means, and what these of its columns do."""
        return " ".join(filter(None, (self.note, *(column.note for column in columns))))


@dataclass(frozen=True)
class View:
    """A run, or two runs compared, as a report says it."""

    title: str
    verdict: Cell
    sections: Sequence[Section]
    warnings: Sequence[str] = ()


def alarm(count: Any) -> Tone:
    """Colour a count that should be 0."""
    return "bad" if count else "quiet"


def mute(_: Any) -> Tone:
    """Colour what is said beside."""
    return "quiet"


def share(value: float | None) -> str:
    """Write a share as a percentage, a dash where there is none."""
    return NOTHING if value is None else percent(value)


def shares(interval: Interval | None) -> str:
    """Write the interval of a share; a single group has none."""
    return NOTHING if interval is None else percents(interval)


def score(value: float | None) -> str:
    """Write a score with three decimals, or four digits where these would say little."""
    if value is None:
        return NOTHING
    is_usual = value == 0 or 0.1 <= abs(value) < 10
    return format_within((0, 1), value, "f", 3) if is_usual else figure(value)
