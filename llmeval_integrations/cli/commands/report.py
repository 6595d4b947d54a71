"""`llmeval report`: write a run as a page, or for another program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from llmeval_integrations.cli.commands.output import written_to
from llmeval_integrations.cli.commands.terminal import OK, open_page, put, say
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs import Run

PAGE: Final = "report.html"
"""The file of a run's page in its directory."""

HELP: Final = "write a run as an HTML page, Markdown, JUnit XML or CSV"
DESCRIPTION: Final = """\
Write one run, or several beside each other. The page stands in one file that needs nothing but
itself; it is written into the run's directory, the other formats to standard output, unless --out
names a file.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the runs, the format and the file."""
    parser.add_argument(
        "run_directory",
        nargs="+",
        metavar="RUN",
        help="a run's directory, or a log of another tool",
    )
    parser.add_argument("--format", metavar="NAME", help="html, markdown, junit or csv (html)")
    parser.add_argument("--out", metavar="FILE", help="write it there; - for standard output")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def run(call: argparse.Namespace) -> int:
    """Write the report."""
    from llmeval_integrations.reports import load_format
    from llmeval_integrations.reports.rows import incomplete
    from llmeval_integrations.runs.stored import read_run

    report = load_format(call.format or _format_of(call.out))
    runs = [read_run(path) for path in call.run_directory]
    for each in incomplete(runs):
        say(f"llmeval report: warning: {each}")
    out = call.out
    if out is None and report.SUFFIX == ".html":
        first = Path(call.run_directory[0])
        out = str(first / PAGE if first.is_dir() else first.with_suffix(f".{PAGE}"))
    if call.open and (report.SUFFIX != ".html" or out == "-"):
        raise InputError("--open opens a page; leave out --format and --out -")
    with written_to(None if out == "-" else out) as file:
        report.write(runs, file)
    if out not in {None, "-"}:
        put(f"written: {out}\n")
    if call.open:
        open_page(Path(out).resolve().as_uri())
    return OK


def write_page(run: Run) -> str:
    """Write the page of a run into its directory; return its address."""
    from llmeval_integrations.reports import html

    path = Path(run.out or "") / PAGE
    with written_to(str(path)) as file:
        html.write([run], file)
    return path.resolve().as_uri()


def _format_of(out: str | None) -> str:
    """Tell the format by the name of the file, HTML where that has no suffix."""
    from llmeval_integrations.reports import formats

    suffix = "" if out is None else Path(out).suffix.lower()
    if suffix in {"", ".htm"}:
        return "html"
    known = {report.SUFFIX: name for name, report in formats("write").items()}
    if suffix in known:
        return known[suffix]
    tables = {table.SUFFIX: name for name, table in formats("write_table").items()}
    raise InputError(
        f"--out {out}: llmeval export --to {tables[suffix]} writes such a table"
        if suffix in tables
        else f"--out {out}: no format has the suffix {suffix!r}; there are {', '.join(known)}, "
        "and --format names one for any file"
    )
