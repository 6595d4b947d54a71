"""A run as Markdown, short enough for a comment under a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from llmeval_integrations.printable import one_line
from llmeval_integrations.reports.parts.names import names_of
from llmeval_integrations.runs.numbers import figures_of, samples_of
from llmeval_integrations.runs.run import Run
from llmeval_integrations.runs.summary import Finding

SUFFIX: Final = ".md"

_ACTIVE: Final = re.compile(r"[^\w ,;()%='\"-]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", re.ASCII)
_LONGEST: Final = 120
_MOST_FINDINGS: Final = 50


def write(runs: Sequence[Run], out: BinaryIO) -> None:
    """Write the figures of each run, and what was found in rows that did not pass."""
    out.writelines(
        "\n".join([*_lines(name, run), ""]).encode()
        for name, run in zip(names_of(runs), runs, strict=True)
    )


def quoted(text: str) -> str:
    """Write a text as code that stays in its cell, on one line, whatever is in it.

    Every character that Markdown or HTML could act on is written by its number; inside of a code
    element no name or number becomes a mention or a link.
    """
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return f"<code>{_ACTIVE.sub(lambda found: f'&#{ord(found[0])};', one_line(cut))}</code>"


def _lines(name: str, run: Run) -> Iterator[str]:
    yield f"### {quoted(name)}: {samples_of(run)}"
    yield ""
    yield "| evaluator | passed | 95 % interval | mean | scored | unscored | errors |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for evaluator, figures in run.summary["evaluators"].items():
        yield _row([quoted(evaluator), *figures_of(figures)])
    yield ""
    found = [(who, each) for who, findings in run.findings.items() for each in findings]
    if found:
        yield from _findings(found[:_MOST_FINDINGS])


def _findings(found: Sequence[tuple[str, Finding]]) -> Iterator[str]:
    yield "<details><summary>What went wrong</summary>"
    yield ""
    yield "| evaluator | found | rows | most often, or for example |"
    yield "| --- | --- | ---: | --- |"
    for evaluator, finding in found:
        kind = f"error: {finding.kind}" if finding.is_error else finding.kind
        reason = quoted(finding.reason) if finding.reason else ""
        yield _row([quoted(evaluator), quoted(kind), f"{finding.count:,}", reason])
    yield ""
    yield "</details>"
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
