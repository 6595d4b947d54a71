"""A view as text, right at every width from 60 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from llmeval_integrations.core.printable import make_printable, plain_console
from llmeval_integrations.reports.view import Column, Section, Tone, View

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

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
    from rich.text import Text

    if console is None:
        console = plain_console(WIDTH)
    lines = [Text(make_printable(view.title), "bold")]
    lines.append(Text(make_printable(view.verdict.text), _STYLES[view.verdict.tone]))
    for section in view.sections:
        lines += [Text(""), Text(make_printable(section.title), "bold")]
        lines += _table(section, console.width)
        said = (section.rest(section.few), section.note)
        lines += [Text(sentence, "dim") for sentence in said if sentence]
    lines += [Text(make_printable(warning), "yellow") for warning in view.warnings]
    with console.capture() as capture:
        for line in lines:
            console.print(line)
    return "\n".join(line.rstrip() for line in capture.get().strip("\n").split("\n")) + "\n"


def _table(section: Section, width: int) -> Iterator[Text]:
    """Yield the lines of a table: the heads, a rule, the first rows."""
    from rich.text import Text

    shown = section.rows[: section.few]
    texts = [[make_printable(cell.text) for cell in row] for row in shown]
    widths = _lay_out(section.columns, texts, width)
    heads = [(column.head, "bold") for column in section.columns]
    yield from _row(section.columns, heads, widths)
    yield Text("─" * min(width, sum(widths.values()) + _BETWEEN * (len(widths) - 1)), "dim")
    for row, cells in zip(shown, texts):
        styled = [(text, _STYLES[cell.tone]) for cell, text in zip(row, cells)]
        yield from _row(section.columns, styled, widths)


def _row(
    columns: Sequence[Column], cells: Sequence[tuple[str, str]], widths: dict[int, int]
) -> Iterator[Text]:
    from rich.cells import cell_len
    from rich.text import Text

    wrapped = [
        _cut(wrap(cells[place][0], room), room) if columns[place].kind == "text"
        else wrap(cells[place][0], room)
        for place, room in widths.items()
    ]  # fmt: skip
    for parts in zip_longest(*wrapped, fillvalue=""):
        line = Text()
        for part, (place, room) in zip(parts, widths.items()):
            line.append(" " * _BETWEEN if line else "")
            space = " " * (room - cell_len(part))
            before, after = (space, "") if columns[place].kind == "figure" else ("", space)
            line.append(before).append(part, cells[place][1]).append(after)
        yield line


def _lay_out(
    columns: Sequence[Column], texts: Sequence[Sequence[str]], width: int
) -> dict[int, int]:
    """Return the columns that there is room for, by their places, each with its width."""
    from rich.cells import cell_len

    wanted: dict[int, int] = {}
    least: dict[int, int] = {}
    for place, column in enumerate(columns):
        head = max(map(cell_len, column.head.split()))
        longest = max((cell_len(row[place]) for row in texts), default=0)
        wanted[place] = max(head, longest)
        is_whole = column.kind in {"figure", "word"}
        least[place] = max(head, longest if is_whole else min(longest, _LEAST))
    for rank in sorted({column.rank for column in columns} - {0}, reverse=True):
        if sum(least.values()) + _BETWEEN * (len(least) - 1) <= width:
            break
        least = {place: room for place, room in least.items() if columns[place].rank != rank}
    return _widen(columns, least, wanted, width)


def _widen(
    columns: Sequence[Column], least: dict[int, int], wanted: dict[int, int], width: int
) -> dict[int, int]:
    """Deal out the room that is left: to heads where it is plenty, to names, to texts."""
    from rich.cells import cell_len

    widths = dict(least)
    spare = width - sum(widths.values()) - _BETWEEN * (len(widths) - 1)
    kinds = {place: columns[place].kind for place in widths}
    heads = {
        place: max(cell_len(columns[place].head) - widths[place], 0)
        for place, kind in kinds.items()
        if kind in {"figure", "word"}
    }
    if sum(heads.values()) <= spare // 3:
        for place, more in heads.items():
            widths[place] += more
            spare -= more
    for kind in ("name", "text"):
        places = [place for place in widths if kinds[place] == kind]
        parts = 2 if kind == "name" and "text" in kinds.values() else 1
        for number, place in enumerate(places):
            share = max(spare, 0) // (len(places) - number) // parts
            more = min(share, wanted[place] - widths[place])
            widths[place] += more
            spare -= more
    return widths


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


def _cut(lines: list[str], width: int) -> list[str]:
    """Leave out what a short report has no room for."""
    if len(lines) <= _MOST_LINES:
        return lines
    last = lines[_MOST_LINES - 1]
    words = last if len(last) <= width - 3 else last[: width - 3].rpartition(" ")[0]
    return [*lines[: _MOST_LINES - 1], f"{words}..."]
