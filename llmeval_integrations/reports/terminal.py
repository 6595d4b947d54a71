"""A view as text for terminals of 60 columns or more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, chop_cells
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from llmeval_integrations.core.quote import make_printable
from llmeval_integrations.reports.view import Cell, Column, Section, Tone, View

WIDTH: Final = 110
"""Characters in a line if there is no terminal."""

NARROWEST: Final = 60
"""The fewest characters in a line that leave room for every figure."""

_STYLES: Final[dict[Tone, str]] = {
    "": "",
    "good": "green",
    "warn": "yellow",
    "bad": "red",
    "quiet": "dim",
}
_BETWEEN: Final = 2
"""Spaces between columns."""

_LEAST: Final = 14
"""The least width of a column of names or texts, unless all of them are shorter."""

_FEW: Final = 6
"""The most missing characters that a column gets before the free room is shared, so that an id of
20 characters stays whole."""

_MOST_LINES: Final = 4
"""The most lines of a text; the page shows all of them."""

_PIECE: Final = re.compile(r"/?[^/_\s]*[/_\s]?")
"""A piece that no line break divides: the first slash of a path stays with its first name."""

_SPACE: Final = "\ue000"
"""Stands for a space at which no line breaks; `make_printable` leaves no such character."""


def as_text(view: View, console: Console | None = None) -> str:
    """Write a view with the width and colours of a console, or as plain text without one."""
    if console is None:  # one that writes nothing, else a notebook would show an empty output
        console = Console(file=StringIO(), width=WIDTH, color_system=None, force_jupyter=False)
    with console.capture() as capture:
        for part in _parts(view, console.width):
            console.print(part)
    text = capture.get().strip("\n").replace(_SPACE, " ")
    return "\n".join(line.rstrip() for line in text.split("\n")) + "\n"


def _parts(view: View, width: int) -> Iterator[RenderableType]:
    yield _sentence(view.title, "bold")
    yield _sentence(view.verdict.text, _STYLES[view.verdict.tone])
    for section in view.sections:
        yield Text(f"\n{make_printable(section.title)}", "bold")
        widths = _fit_columns(section, width)
        yield _table(section, widths)
        notes = section.notes(section.columns[place] for place in widths)
        yield from (_sentence(each, "dim") for each in (section.rest(section.few), notes) if each)
    for warning in view.warnings:
        yield _sentence(warning, "yellow")


def _sentence(text: str, style: str) -> Text:
    """Write a text in which no line begins with a percent sign."""
    return Text(make_printable(text).replace(" %", f"{_SPACE}%"), style)


def _fit_columns(section: Section, width: int) -> dict[int, int]:
    """Return the places and widths of the columns that fit.

    Columns of the highest rank are dropped until the others fit. The others share the free room;
    what a column with short cells does not need is left to those with longer ones.
    """
    columns = section.columns
    cells = zip(*section.rows[: section.few])
    bounds = [*map(_bound_width, columns, cells)]
    widths = {place: least for place, (least, _) in enumerate(bounds)}
    for rank in sorted({column.rank for column in columns} - {0}, reverse=True):
        if _free_room(widths, width) < 0:
            widths = {place: each for place, each in widths.items() if columns[place].rank != rank}
    missing = {place: bounds[place][1] - each for place, each in widths.items()}
    for number, place in enumerate(sorted(missing, key=missing.__getitem__)):
        room = max(_free_room(widths, width), 0)
        share = room if missing[place] <= _FEW else room // (len(widths) - number)
        widths[place] += min(share, missing[place])
    return widths


def _bound_width(column: Column, cells: Sequence[Cell]) -> tuple[int, int]:
    """Return the least width of a column, and the one at which neither cell nor head is wrapped."""
    longest = max(cell_len(make_printable(cell.text)) for cell in cells)
    word = max(map(cell_len, column.head.split()))
    least = longest if column.is_whole else min(longest, _LEAST)
    return max(word, least), max(cell_len(column.head), longest)


def _free_room(widths: dict[int, int], width: int) -> int:
    return width - sum(widths.values()) - _BETWEEN * (len(widths) - 1)


def _table(section: Section, widths: dict[int, int]) -> Table:
    table = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, border_style="dim"
    )
    for place, room in widths.items():
        column = section.columns[place]
        table.add_column(
            _draw(column.head, "bold", column, room),
            justify="right" if column.kind == "figure" else "left",
            width=room,
            no_wrap=True,
        )
    for row in section.rows[: section.few]:
        cells = [(row[place], section.columns[place], room) for place, room in widths.items()]
        table.add_row(*(_draw(each.text, _STYLES[each.tone], of, room) for each, of, room in cells))
    return table


def _draw(text: str, style: str, column: Column, room: int) -> Text:
    """Wrap a text to its column, and cut it after the most lines of a short report."""
    lines = wrap(make_printable(text), room)
    if column.kind == "text" and len(lines) > _MOST_LINES:
        lines[_MOST_LINES - 1 :] = [f"{wrap(lines[_MOST_LINES - 1], room - 3)[0]}..."]
    return Text("\n".join(lines), style)


def wrap(text: str, width: int) -> list[str]:
    """Wrap a text between words and after `/` and `_`, or anywhere if a piece is too long."""
    lines = [""]
    for piece in _PIECE.findall(text):
        if cell_len((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        elif cell_len(piece.rstrip()) <= width:
            lines.append(piece)
        else:
            whole = lines.pop() + piece
            lines += chop_cells(whole.rstrip(), width)
            lines[-1] += whole[len(whole.rstrip()) :]
    return [line.rstrip() for line in lines]
