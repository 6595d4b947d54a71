"""A view as text for terminals of 60 columns or more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from llmeval_integrations.core.escape import make_printable, plain_console
from llmeval_integrations.reports.view import Column, Section, Tone, View

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

WIDTH: Final = 110
"""Characters in a line if there is no terminal."""

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

_MOST_LINES: Final = 4
"""The most lines of a text; the page shows all of them."""

_PIECE: Final = re.compile(r"[^/_\s]*[/_\s]?")

_SPACE: Final = "\ue000"
"""Stands for a space at which no line breaks; `make_printable` leaves no such character."""

_Widths: TypeAlias = dict[int, int]
"""The widths of the columns that are shown, by position."""


def as_text(view: View, console: Console | None = None) -> str:
    """Write a view with the width and colours of a console, or as plain text without one."""
    console = console or plain_console(WIDTH)
    with console.capture() as capture:
        for part in _parts(view, console.width):
            console.print(part)
    text = capture.get().strip("\n").replace(_SPACE, " ")
    return "\n".join(line.rstrip() for line in text.split("\n")) + "\n"


def _parts(view: View, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    yield _sentence(view.title, "bold")
    yield _sentence(view.verdict.text, _STYLES[view.verdict.tone])
    for section in view.sections:
        yield Text(f"\n{make_printable(section.title)}", "bold")
        widths = _lay_out(section, width)
        yield _table(section, widths)
        notes = section.notes(section.columns[place] for place in widths)
        yield from (_sentence(each, "dim") for each in (section.rest(section.few), notes) if each)
    for warning in view.warnings:
        yield _sentence(warning, "yellow")


def _sentence(text: str, style: str) -> Text:
    """Write a text in which no line begins with a percent sign."""
    from rich.text import Text

    return Text(make_printable(text).replace(" %", f"{_SPACE}%"), style)


def _table(section: Section, widths: _Widths) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, border_style="dim"
    )
    for place, room in widths.items():
        column = section.columns[place]
        side = "right" if column.kind == "figure" else "left"
        head = _draw(column.head, "bold", column, room)
        table.add_column(head, justify=side, width=room, no_wrap=True)  # type: ignore[arg-type]
    for row in section.rows[: section.few]:
        table.add_row(
            *(
                _draw(row[place].text, _STYLES[row[place].tone], section.columns[place], room)
                for place, room in widths.items()
            )
        )
    return table


def _draw(text: str, style: str, column: Column, room: int) -> Text:
    """Wrap a text to its column, and cut it after the most lines of a short report."""
    from rich.text import Text

    lines = wrap(make_printable(text), room)
    if column.kind == "text" and len(lines) > _MOST_LINES:
        last = lines[_MOST_LINES - 1]
        last = last if len(last) <= room - 3 else last[: room - 3].rpartition(" ")[0]
        lines[_MOST_LINES - 1 :] = [f"{last}..."]
    return Text("\n".join(lines), style)


def _lay_out(section: Section, width: int) -> _Widths:
    """Drop the columns of the highest rank until the others fit, and distribute the free room.

    If there is plenty of room, heads take one line; then names grow, then texts.
    """
    columns = section.columns
    least: _Widths = {}
    most: _Widths = {}
    for place, column in enumerate(columns):
        texts = [make_printable(row[place].text) for row in section.rows[: section.few]]
        longest = max(map(_length, texts), default=0)
        word = max(map(_length, column.head.split()))
        is_whole = column.kind in {"figure", "word"}
        least[place] = max(word, longest if is_whole else min(longest, _LEAST))
        most[place] = max(_length(column.head) if is_whole else word, longest)
    shown = [*least]
    for rank in sorted({column.rank for column in columns} - {0}, reverse=True):
        if _free_room({place: least[place] for place in shown}, width) < 0:
            shown = [place for place in shown if columns[place].rank != rank]
    widths = {place: least[place] for place in shown}
    whole = [place for place in shown if columns[place].kind in {"figure", "word"}]
    if sum(most[place] - widths[place] for place in whole) <= _free_room(widths, width) // 3:
        widths |= {place: most[place] for place in whole}
    names, words = ([p for p in shown if columns[p].kind == kind] for kind in ("name", "text"))
    for places, parts in ((names, 2 if words else 1), (words, 1)):
        for number, place in enumerate(places):
            share = max(_free_room(widths, width), 0) // (len(places) - number) // parts
            widths[place] += min(share, most[place] - widths[place])
    return widths


def _free_room(widths: _Widths, width: int) -> int:
    return width - sum(widths.values()) - _BETWEEN * (len(widths) - 1)


def _length(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def wrap(text: str, width: int) -> list[str]:
    """Wrap a text between words and after `/` and `_`, or anywhere if a piece is too long."""
    from rich.cells import chop_cells

    lines = [""]
    for piece in _PIECE.findall(text):
        if _length((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        elif _length(piece.rstrip()) <= width:
            lines.append(piece)
        else:
            whole = lines.pop() + piece
            lines += chop_cells(whole.rstrip(), width)
            lines[-1] += whole[len(whole.rstrip()) :]
    return [line.rstrip() for line in lines]
