"""A view as text, right at every width from 60 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from llmeval_integrations.core.printable import make_printable, plain_console
from llmeval_integrations.reports.view import Cell, Column, Section, Tone, View

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDTH: Final = 110
"""Characters to a line where there is no terminal to ask."""

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
"""Characters of the narrowest column of names or texts, where they have as many."""

_MOST_LINES: Final = 4
"""Lines of a text; what is longer is in the page."""

_PIECE: Final = re.compile(r"[^/_\s]*[/_\s]?")


def as_text(view: View, console: Console | None = None) -> str:
    """Write a view for the given console with its width and colours, else as plain text."""
    if console is None:
        console = plain_console(WIDTH)
    with console.capture() as capture:
        for part in _parts(view, console.width):
            console.print(part)
    return "\n".join(line.rstrip() for line in capture.get().strip("\n").split("\n")) + "\n"


def _parts(view: View, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(make_printable(view.title), "bold")
    yield Text(make_printable(view.verdict.text), _STYLES[view.verdict.tone])
    for section in view.sections:
        yield Text(f"\n{make_printable(section.title)}", "bold")
        widths = lay_out(section, width)
        yield _table(section, widths)
        for sentence in (section.rest(section.few), section.notes(widths)):
            if sentence:
                yield Text(sentence, "dim")
    for warning in view.warnings:
        yield Text(make_printable(warning), "yellow")


def _table(section: Section, widths: dict[Column, int]) -> RenderableType:
    """Draw the first rows, with every cell broken to the width of its column."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    def draw(text: str, style: str, column: Column) -> Text:
        lines = wrap(text, widths[column])
        if column.kind == "text" and len(lines) > _MOST_LINES:
            last = lines[_MOST_LINES - 1][: widths[column] - 3]
            lines[_MOST_LINES - 1 :] = [f"{last.rpartition(' ')[0] or last}..."]
        return Text("\n".join(lines), style)

    table = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, border_style="dim"
    )
    for column, room in widths.items():
        is_figure = column.kind == "figure"
        head = draw(column.head, "bold", column)
        table.add_column(head, justify="right" if is_figure else "left", width=room, no_wrap=True)
    for row in section.rows[: section.few]:
        cells = zip(section.columns, row, strict=True)
        table.add_row(
            *(
                draw(make_printable(cell.text), _STYLES[cell.tone], column)
                for column, cell in cells
                if column in widths
            )
        )
    return table


def lay_out(section: Section, width: int) -> dict[Column, int]:
    """Return the columns that there is room for, each with its width.

    Columns of the highest rank go until the others fit. What room is left is dealt out: to heads
    where it is plenty, to names, to texts.
    """
    wanted = {
        column: max(map(_length, [*column.head.split(), *(cell.text for cell in cells)]))
        for column, cells in _columns(section)
    }
    widths = {}
    for column, longest in wanted.items():
        is_whole = column.kind in {"figure", "word"}
        head = max(map(_length, column.head.split()))
        widths[column] = longest if is_whole else max(head, min(longest, _LEAST))
    for rank in sorted({column.rank for column in widths} - {0}, reverse=True):
        if _spare(widths, width) >= 0:
            break
        widths = {column: room for column, room in widths.items() if column.rank != rank}
    heads = {
        column: max(_length(column.head) - room, 0)
        for column, room in widths.items()
        if column.kind in {"figure", "word"}
    }
    if sum(heads.values()) <= _spare(widths, width) // 3:
        widths |= {column: widths[column] + more for column, more in heads.items()}
    for kind in ("name", "text"):
        columns = [column for column in widths if column.kind == kind]
        has_texts = any(column.kind == "text" for column in widths)
        for number, column in enumerate(columns):
            share = max(_spare(widths, width), 0) // (len(columns) - number)
            share = share // 2 if kind == "name" and has_texts else share
            widths[column] += min(share, wanted[column] - widths[column])
    return widths


def _columns(section: Section) -> Iterator[tuple[Column, Sequence[Cell]]]:
    rows = section.rows[: section.few]
    yield from ((column, [row[at] for row in rows]) for at, column in enumerate(section.columns))


def _spare(widths: dict[Column, int], width: int) -> int:
    return width - sum(widths.values()) - _BETWEEN * (len(widths) - 1)


def _length(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(make_printable(text))


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines between words and after `/` and `_`, and only then elsewhere."""
    from rich.cells import cell_len, chop_cells

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
