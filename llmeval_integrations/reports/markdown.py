"""Runs as Markdown, short enough for a comment under a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import BinaryIO, Final

from llmeval_integrations.core.printable import one_line
from llmeval_integrations.reports.comparison_view import views_of_comparisons
from llmeval_integrations.reports.rows import names_of
from llmeval_integrations.reports.run_view import view_of
from llmeval_integrations.reports.view import Cell, Column, Section, View
from llmeval_integrations.runs.run import Run

SUFFIX: Final = ".md"

_ACTIVE: Final = re.compile(r"[^\w ,;()%='\"-]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", re.ASCII)
_PLAIN: Final = re.compile(r"(?!.*www\.)(?!.*(?<!\w)_|.*_(?!\w))[\w .,:;%$+±–→()-]*", re.ASCII)
"""A sentence of which nothing acts: no mention, no link, no markup."""

_LONGEST: Final = 120
_LONGEST_SENTENCE: Final = 500
_OPEN: Final = ("evaluators", "differences")
"""The sections that are not folded."""


def write(runs: Sequence[Run], out: BinaryIO) -> None:
    """Write what a report says of the runs, and of each further one compared with the first."""
    named = dict(zip(names_of(runs), runs, strict=True))
    views = [view_of({name: run}) for name, run in named.items()]
    out.writelines(
        "\n".join([*_lines(view), ""]).encode() for view in (*views, *views_of_comparisons(named))
    )


def quote(text: str, longest: int = _LONGEST) -> str:
    """Write a text as code that stays in its cell, on one line, whatever is in it.

    Every character that Markdown or HTML could act on is written by its number; inside of a code
    element no name or number becomes a mention or a link.
    """
    cut = text if len(text) <= longest else f"{text[:longest]}..."
    return f"<code>{_ACTIVE.sub(lambda found: f'&#{ord(found[0])};', one_line(cut))}</code>"


def _lines(view: View) -> Iterator[str]:
    yield f"### {_sentence(view.title)}"
    yield ""
    yield _sentence(view.verdict.text)
    yield ""
    for section in view.sections:
        if section.name in _OPEN:
            yield from _table(section)
        else:
            yield f"<details><summary>{section.title}</summary>"
            yield ""
            yield from _table(section)
            yield "</details>"
            yield ""
    for warning in view.warnings:
        yield f"- {_sentence(warning)}"
    if view.warnings:
        yield ""


def _table(section: Section) -> Iterator[str]:
    yield _row([column.head for column in section.columns])
    yield _row(["---:" if column.kind == "figure" else "---" for column in section.columns])
    for row in section.rows[: section.most]:
        yield _row([*map(_cell, section.columns, row)])
    yield ""
    for sentence in (section.rest(section.most), section.note):
        if sentence:
            yield sentence
            yield ""


def _sentence(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else quote(text, _LONGEST_SENTENCE)


def _cell(column: Column, cell: Cell) -> str:
    if column.kind in {"figure", "word"}:
        return escape(cell.text)  # which we wrote
    return "<br>".join(map(quote, filter(None, (cell.text, *cell.others))))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
