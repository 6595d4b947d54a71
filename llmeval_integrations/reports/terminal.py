"""A view as text for terminals of 60 columns or more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from rich.cells import cell_len, chop_cells

from llmeval_integrations.core.escape import make_printable
from llmeval_integrations.reports.view import Cell, Column, Section, View

WIDTH: Final = 110
"""Characters in a line if there is no terminal."""

_STYLES: Final = {"bold": "1", "quiet": "2", "bad": "31", "good": "32", "warn": "33"}
"""The codes by which a terminal styles a text."""

_BETWEEN: Final = "  "
"""What stands between columns."""

_LEAST: Final = 14
"""The least width of a column of names or texts, unless all of them are shorter."""

_MOST_LINES: Final = 4
"""The most lines of a text; the page shows all of them."""

_NAME: Final = re.compile(r"[^/_\s]*[/_\s]?")
_WORD: Final = re.compile(r"\S*(?: %)?\s?")
"""A part at whose end a line may break; no line begins with a percent sign."""


def as_text(view: View, width: int = WIDTH, *, colours: bool = False) -> str:
    """Write a view with the width of a terminal, and in colours if it has them."""

    def write(text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text and style and colours else text

    lines = ("".join(write(*part) for part in line) for line in _lines(view, width))
    return "".join(f"{line.rstrip()}\n" for line in lines)


_Line: TypeAlias = list[tuple[str, str]]
"""The parts of a line, each with its style."""


def _lines(view: View, width: int) -> Iterator[_Line]:
    def wrapped(text: str, style: str) -> Iterator[_Line]:
        for line in wrap(make_printable(text), width, _WORD):
            yield [(line, style)]

    yield from wrapped(view.title, "bold")
    yield from wrapped(view.verdict.text, view.verdict.tone)
    for section in view.sections:
        yield []
        yield from wrapped(section.title, "bold")
        widths = _lay_out(section, width)
        yield from _table(section, widths)
        notes = section.notes(section.columns[place] for place in widths)
        for text in filter(None, (section.rest(section.few), notes)):
            yield from wrapped(text, "quiet")
    for warning in view.warnings:
        yield from wrapped(warning, "warn")


def _lay_out(section: Section, width: int) -> dict[int, int]:
    """Return the places and widths of the columns that fit.

    Columns of the highest rank are dropped until the others fit. The free room goes to the heads,
    if it is plenty, then to names, then to texts.
    """
    columns = section.columns
    least: list[int] = []
    most: list[int] = []
    for place, column in enumerate(columns):
        texts = [make_printable(row[place].text) for row in section.rows[: section.few]]
        longest = max(map(cell_len, texts), default=0)
        word = max(map(cell_len, column.head.split()))
        least.append(max(word, longest if column.is_whole else min(longest, _LEAST)))
        most.append(max(cell_len(column.head) if column.is_whole else word, longest))
    widths = dict(enumerate(least))
    for rank in sorted({column.rank for column in columns} - {0}, reverse=True):
        if _total(widths) > width:
            widths = {place: each for place, each in widths.items() if columns[place].rank != rank}
    whole = [place for place in widths if columns[place].is_whole]
    if sum(most[place] - widths[place] for place in whole) <= (width - _total(widths)) // 3:
        widths |= {place: most[place] for place in whole}
    names, words = ([p for p in widths if columns[p].kind == kind] for kind in ("name", "text"))
    for places, parts in ((names, 2 if words else 1), (words, 1)):
        for number, place in enumerate(places):
            share = max(width - _total(widths), 0) // (len(places) - number) // parts
            widths[place] += min(share, most[place] - widths[place])
    return widths


def _total(widths: dict[int, int]) -> int:
    return sum(widths.values()) + len(_BETWEEN) * (len(widths) - 1)


def _table(section: Section, widths: dict[int, int]) -> Iterator[_Line]:
    heads = [Cell(column.head) for column in section.columns]
    for row in (heads, *section.rows[: section.few]):
        texts = {
            place: _cut(make_printable(row[place].text), section.columns[place], room)
            for place, room in widths.items()
        }
        depth = max(map(len, texts.values()))
        for number in range(depth):
            line: _Line = []
            for place, room in widths.items():
                # A head of one line stands beside the last line of the others.
                at = number + (len(texts[place]) - depth if row is heads else 0)
                text = texts[place][at] if 0 <= at < len(texts[place]) else ""
                blank = (" " * (room - cell_len(text)), "")
                styled = (text, "bold" if row is heads else row[place].tone)
                is_right = section.columns[place].kind == "figure"
                line += [blank, styled] if is_right else [styled, blank]
                line.append((_BETWEEN, ""))
            yield line
        if row is heads:
            yield [("─" * _total(widths), "quiet")]


def _cut(text: str, column: Column, room: int) -> list[str]:
    """Wrap a text to its column, and cut it after the most lines of a short report."""
    lines = wrap(text, room)
    if column.kind == "text" and len(lines) > _MOST_LINES:
        last = lines[_MOST_LINES - 1]
        last = last if len(last) <= room - 3 else last[: room - 3].rpartition(" ")[0]
        lines[_MOST_LINES - 1 :] = [f"{last}..."]
    return lines


def wrap(text: str, width: int, pieces: re.Pattern[str] = _NAME) -> list[str]:
    """Wrap a text between words and after `/` and `_`, or anywhere if a piece is too long."""
    lines = [""]
    for piece in pieces.findall(text):
        if cell_len((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        elif cell_len(piece.rstrip()) <= width:
            lines.append(piece)
        else:
            whole = lines.pop() + piece
            lines += chop_cells(whole.rstrip(), width)
            lines[-1] += whole[len(whole.rstrip()) :]
    return [line.rstrip() for line in lines]
