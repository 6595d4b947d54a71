"""What a report says before it is drawn: sections of cells, every figure rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

Tone = Literal["", "good", "warn", "bad", "quiet"]
"""What a colour says of a cell."""

Kind = Literal["figure", "word", "name", "text"]
"""Figures and our own words are never cut, a name breaks after `/` and `_`, a text anywhere."""

NOTHING: Final = "–"
"""What stands for a figure that there is not."""


class Bar(NamedTuple):
    """A share as a bar, with its interval as a line over it."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """One place of a table."""

    text: str
    tone: Tone = ""

    others: Sequence[str] = ()
    """Further lines, which a short report leaves out."""

    bar: Bar | None = None

    filter: Mapping[str, str] = field(default_factory=dict)
    """The samples that a page shows for it: by `evaluator`, `label`, `run` or `sample`."""


@dataclass(frozen=True)
class Column:
    """What stands in the cells of a table that are below each other."""

    head: str
    kind: Kind = "figure"

    rank: int = 0
    """Where there is no room for all columns those of the highest rank go first; 0 stays."""

    optional: bool = False
    """Whether the column is left out where no cell of it says anything."""


@dataclass(frozen=True)
class Section:
    """A table under a heading."""

    name: str
    """What a page's links call it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    note: str = ""
    """What its words mean."""

    noun: str = "row"
    """What a row is."""

    few: int = 6
    """The rows of a short report."""

    most: int = 15
    """The rows that a page shows before more are asked for."""

    left_out: int = 0
    """How many rows there are beyond these."""

    elsewhere: str = ""
    """Where all rows are."""

    def rest(self, shown: int) -> str:
        """Say how many rows there are beyond those that are shown; nothing where there are none."""
        rest = max(len(self.rows) - shown, 0) + self.left_out
        if not rest:
            return ""
        where = f": {self.elsewhere}" if self.elsewhere else ""
        return f"and {rest:,} more {self.noun}{'s' if rest > 1 else ''}{where}"

    def drop_empty(self) -> Section:
        """Return the section without the optional columns that say nothing."""
        kept = [
            place
            for place, column in enumerate(self.columns)
            if not column.optional
            or any(row[place].text not in {"", "0", NOTHING} for row in self.rows)
        ]
        return replace(
            self,
            columns=[self.columns[place] for place in kept],
            rows=[[row[place] for place in kept] for row in self.rows],
        )


@dataclass(frozen=True)
class View:
    """A run, or two runs compared, as a report says it."""

    title: str
    verdict: Cell
    sections: Sequence[Section]
    warnings: Sequence[str] = field(default_factory=tuple)
