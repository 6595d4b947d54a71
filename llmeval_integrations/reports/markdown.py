"""Runs as Markdown, short enough for a comment under a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import BinaryIO, Final

from llmeval_integrations.core.quote import one_line
from llmeval_integrations.reports.comparison_view import views_of_comparisons
from llmeval_integrations.reports.run_view import view_of_run
from llmeval_integrations.reports.tables import name_runs
from llmeval_integrations.reports.view import Cell, Column, Section, View
from llmeval_integrations.runs.run import Run

SUFFIX: Final = ".md"

_ACTIVE: Final = re.compile(r"[^\w ,;()%='\"-]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_PLAIN: Final = re.compile(
    r"(?!.*(?:www\.|://))(?!.*(?<!\w)_|.*_(?!\w))"
    r"(?:[\w .,:;%$+±–→()'^/-]|(?<=\w)(?:@k\b|\[\w+\]'))*",
    re.ASCII,
)
"""A sentence in which nothing acts: no mention, no link, no markup; `pass@k` is none."""

_LONGEST: Final = 120
_LONGEST_SENTENCE: Final = 500


def write(runs: Sequence[Run], out: BinaryIO) -> None:
    """Write the report of each run, and the comparison of each further run with the first."""
    named = name_runs(runs)
    views = [view_of_run(run, name) for name, run in named.items()]
    out.writelines(
        "\n\n".join([*_blocks(view), ""]).encode()
        for view in (*views, *views_of_comparisons(named))
    )


def quote(text: str, longest: int = _LONGEST) -> str:
    """Write any text as code on one line that stays in its cell.

    Every character that Markdown or HTML could act on is written as its number. Inside a code
    element no name or number becomes a mention or a link.
    """
    cut = text if len(text) <= longest else f"{text[:longest]}..."
    return f"<code>{_ACTIVE.sub(lambda found: f'&#{ord(found[0])};', one_line(cut))}</code>"


def _blocks(view: View) -> Iterator[str]:
    yield f"### {_sentence(view.title)}"
    yield _sentence(view.verdict.text)
    for number, section in enumerate(view.sections):
        if number:  # only the first section is not folded
            yield f"<details><summary>{_sentence(section.title)}</summary>"
        yield "\n".join(_table(section))
        notes = section.rest(section.most), section.notes(section.columns)
        yield from (_sentence(each) for each in notes if each)
        if number:
            yield "</details>"
    if view.warnings:
        yield "\n".join(f"- {_sentence(warning)}" for warning in view.warnings)


def _table(section: Section) -> Iterator[str]:
    heads = [column.head for column in section.columns]
    rules = ["---:" if column.kind == "figure" else "---" for column in section.columns]
    rows = ([*map(_cell, section.columns, row)] for row in section.rows[: section.most])
    for cells in (heads, rules, *rows):
        yield f"| {' | '.join(cells)} |"


def _sentence(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else quote(text, _LONGEST_SENTENCE)


def _cell(column: Column, cell: Cell) -> str:
    if column.is_whole:
        return escape(cell.text)  # our own words
    return "<br>".join(map(quote, filter(None, (cell.text, *cell.others))))
