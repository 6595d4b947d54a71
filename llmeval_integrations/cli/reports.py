"""Looking at runs: `llmeval show`, `runs`, `view`, `report` and `export`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from llmeval_integrations.cli import terminal
from llmeval_integrations.cli.terminal import OK, RUN, Commands, open_page, put, put_view, say
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs import Run
from llmeval_integrations.runs.run import summary_text
from llmeval_integrations.runs.stored import read_run

if TYPE_CHECKING:
    from llmeval_integrations.reports import Ability

_LAST_PORT: Final = 65535
_PAGE: Final = "report.html"

_OTHER_SUFFIXES: Final = {".htm": ".html", ".feather": ".arrow"}
"""Feather's second version is an Arrow file."""


def add_commands(commands: Commands) -> None:
    """Add the five commands."""
    parser = commands.add_parser("show", help="print a run's figures and what went wrong")
    parser.add_argument("run_directory", metavar="RUN", help=RUN)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=_show)

    parser = commands.add_parser("runs", help="list the runs in a folder, with date and pass rates")
    parser.add_argument("folder", nargs="?", default="runs", metavar="DIR", help="which (runs)")
    parser.set_defaults(run=_list_runs)

    parser = commands.add_parser(
        "view",
        help="serve a run's report on this machine, kept up to date",
        description="Serve the report of a run to this machine alone. The page takes over what a "
        "run under way adds every few seconds. Ctrl-C ends it.",
    )
    parser.add_argument("run_directory", nargs="+", metavar="RUN", help=RUN)
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="(any free one)")
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    parser.set_defaults(run=_view)
    _add_writers(commands)


def _add_writers(commands: Commands) -> None:
    parser = commands.add_parser(
        "report",
        help="write a run as an HTML page, Markdown, JUnit XML or CSV",
        description="Write one run, or several beside each other. The page is one file that needs "
        "nothing else. It is written into the run's directory, the other formats to standard "
        "output, unless --out names a file.",
    )
    parser.add_argument("--format", metavar="NAME", help="html, markdown, junit or csv (html)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.set_defaults(run=_write, table=None)
    others = [parser]
    parser = commands.add_parser(
        "export",
        help="write a run's rows or fields as Parquet, CSV or Arrow",
        description="Write a table with a record for every row (a sample and an evaluator), or "
        "with --table fields for every field. It is written into the run's directory, as Parquet, "
        "unless --out names a file. Without --to the suffix of FILE tells the format.",
    )
    help_to = "parquet, csv or arrow (by FILE's suffix)"
    parser.add_argument("--to", dest="format", metavar="NAME", help=help_to)
    parser.add_argument("--table", choices=("rows", "fields"), default="rows", help="which (rows)")
    parser.set_defaults(run=_write, open=False)
    for each in (*others, parser):
        each.add_argument("run_directory", nargs="+", metavar="RUN", help=RUN)
        each.add_argument("-o", "--out", metavar="FILE", help="write it there; - for stdout")


def _show(call: argparse.Namespace) -> int:
    from llmeval_integrations.reports.run_view import view_of_run

    run = read_run(call.run_directory)
    if call.json:
        put(summary_text(run.summary))
    else:
        put_view(view_of_run(run))
    return OK


def _list_runs(call: argparse.Namespace) -> int:
    from llmeval_integrations.reports.index import index_view

    put_view(index_view(call.folder))
    return OK


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {_LAST_PORT}")
    return int(text)


def _view(call: argparse.Namespace) -> int:
    from llmeval_integrations.reports.server import Server

    with Server(call.run_directory, call.port) as server:
        try:
            put(f"{server.address} shows {', '.join(call.run_directory)}; end it with Ctrl-C\n")
            if call.open:
                open_page(server.address)
            server.serve_forever()
        except KeyboardInterrupt:
            put("\n")
    return OK


def _write(call: argparse.Namespace) -> int:
    """Write a report or, where a table is named, a table."""
    from llmeval_integrations.reports import load_format
    from llmeval_integrations.reports.tables import TABLES, describe_gaps

    ability: Ability = "write_table" if call.table else "write"
    format_ = load_format(call.format or _format_of(call.out, ability), ability)
    runs = [read_run(path) for path in call.run_directory]
    for warning in describe_gaps(runs):
        say(f"llmeval {call.command}: warning: {warning}")
    for run in runs if call.table == "fields" else ():
        if not any(figures.get("fields") for figures in run.summary["evaluators"].values()):
            say(f"llmeval export: warning: {run.out} has no fields")
    out = call.out or "-"
    if call.out is None and (call.table or format_.SUFFIX == ".html"):
        name = f"{call.table}{format_.SUFFIX}" if call.table else _PAGE
        first = Path(call.run_directory[0])  # a directory, or another tool's log
        out = str(first / name if first.is_dir() else first.with_suffix(f".{name}"))
    if call.open and (format_.SUFFIX != ".html" or out == "-"):
        raise InputError("--open opens a page; leave out --format and --out -")
    with _open_to_write(out) as file:
        if call.table:
            format_.write_table(TABLES[call.table](runs), file)
        else:
            format_.write(runs, file)
    if out != "-":
        put(f"written: {out}\n")
    if call.open:
        open_page(Path(out).resolve().as_uri())
    return OK


def open_report(run: Run) -> None:
    """Write the page of a run into its directory, and open it in the browser."""
    from llmeval_integrations.reports import html

    path = Path(run.out or "") / _PAGE
    with _open_to_write(str(path)) as file:
        html.write([run], file)
    open_page(path.resolve().as_uri())


def _format_of(out: str | None, ability: Ability) -> str:
    """Return the format that the suffix of a file tells."""
    from llmeval_integrations.reports import formats

    suffix = Path(out or "").suffix.lower()
    suffix = _OTHER_SUFFIXES.get(suffix, suffix)
    reports = {each.SUFFIX: name for name, each in formats("write").items()}
    tables = {each.SUFFIX: name for name, each in formats("write_table").items()}
    known, option, default = (reports, "--format", "html")
    if ability == "write_table":
        known, option, default = (tables, "--to", "parquet")
    if not suffix or suffix in known:
        return known.get(suffix, default)
    raise InputError(
        f"--out {out}: llmeval export --to {tables[suffix]} writes such a table"
        if suffix in tables
        else f"--out {out}: no format has the suffix {suffix!r}; there are {', '.join(known)}, and "
        f"{option} names one for any file"
    )


@contextmanager
def _open_to_write(path: str) -> Iterator[BinaryIO]:
    """Open a file that takes this path once all is written; a pipe or a device as it is."""
    if path == "-":
        with terminal.unless_closed():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    is_file = Path(path).is_file() or not Path(path).exists()
    target = Path(os.path.realpath(path) if is_file else path)  # a link stays
    new = target.with_name(f"{target.name}.{os.getpid()}.new") if is_file else target
    try:
        with new.open("wb") as file:
            yield file
        new.replace(target)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if is_file:
            with suppress(OSError):
                new.unlink(missing_ok=True)
