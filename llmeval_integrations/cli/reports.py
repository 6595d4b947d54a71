"""Looking at runs: `llmeval show`, `runs`, `view`, `report` and `export`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from llmeval_integrations.cli.terminal import (
    OK,
    RUN,
    Commands,
    open_page,
    put,
    put_view,
    say,
    unless_closed,
)
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs import Run
from llmeval_integrations.runs.load import read_run
from llmeval_integrations.runs.run import summary_text

_TABLES: Final = {f".{name}": name for name in ("csv", "parquet", "arrow")}
"""The formats of tables, by file suffix."""


def add_commands(commands: Commands) -> None:
    """Add the five commands."""
    parser = commands.add_parser("show", help="print a run's figures and what went wrong")
    parser.add_argument("run_directory", metavar="RUN", help=RUN)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=_show)

    parser = commands.add_parser("runs", help="list the runs in a folder, with date and pass rates")
    parser.add_argument("folder", nargs="?", default="runs", metavar="DIR", help="folder (runs)")
    parser.set_defaults(run=_list_runs)

    parser = commands.add_parser(
        "view",
        help="serve a run's report on this machine, kept up to date",
        description="Serve the report of a run to this machine only. If the run is still going "
        "on, the page is updated every few seconds. Ctrl-C ends the server.",
    )
    parser.add_argument("run_directory", nargs="+", metavar="RUN", help=RUN)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (any free one)")
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    parser.set_defaults(run=_view)
    _add_writers(commands)


def _add_writers(commands: Commands) -> None:
    parser = commands.add_parser(
        "report",
        help="write a run as an HTML page, Markdown or JUnit XML",
        description="Write one run, or several side by side. The HTML page is a single file. It "
        "is written to the run's directory, the other formats to standard output, unless --out "
        "names a file.",
    )
    parser.add_argument("run_directory", nargs="+", metavar="RUN", help=RUN)
    parser.add_argument("-o", "--out", metavar="FILE", help="the file to write; - for stdout")
    parser.add_argument("--format", metavar="NAME", help="html, markdown or junit (html)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.set_defaults(run=_report)

    parser = commands.add_parser(
        "export",
        help="write a run's rows or fields as Parquet, CSV or Arrow",
        description="Write a table with a record for each row (a sample and an evaluator), or, "
        "with --table fields, for each field. The table is written as Parquet to the run's "
        "directory, unless --out names a file. Without --to, the suffix of FILE sets the format.",
    )
    parser.add_argument("run_directory", nargs="+", metavar="RUN", help=RUN)
    parser.add_argument("-o", "--out", metavar="FILE", help="the file to write; - for stdout")
    parser.add_argument("--to", choices=_TABLES.values(), help="format (by FILE's suffix)")
    parser.add_argument("--table", choices=("rows", "fields"), default="rows", help="(rows)")
    parser.set_defaults(run=_export)


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


def _report(call: argparse.Namespace) -> int:
    from llmeval_integrations.reports import formats

    known = formats()
    suffixes = {module.SUFFIX: name for name, module in known.items()}
    name = call.format or _format_of(call.out, suffixes, "html", "--format")
    if name not in known:
        raise InputError(f"no format is called {name!r}; there are {', '.join(known)}")
    out = call.out or (_default_path(call, "report.html") if name == "html" else "-")
    if call.open and (name != "html" or out == "-"):
        raise InputError("--open opens a page; leave out --format and --out -")
    runs = _read_runs(call)
    with _open_to_write(out) as file:
        known[name].write(runs, file)
    if call.open:
        open_page(Path(out).resolve().as_uri())
    return OK


def _export(call: argparse.Namespace) -> int:
    from llmeval_integrations.reports.tables import TABLES, WRITERS

    name = call.to or _format_of(call.out, _TABLES, "parquet", "--to")
    runs = _read_runs(call)
    with _open_to_write(call.out or _default_path(call, f"{call.table}.{name}")) as file:
        WRITERS[name](TABLES[call.table](runs), file)
    return OK


def _read_runs(call: argparse.Namespace) -> list[Run]:
    """Read the runs, and warn if a run may lack samples."""
    from llmeval_integrations.reports.tables import names_of

    runs = [read_run(path) for path in call.run_directory]
    for name, run in zip(names_of(runs), runs, strict=True):
        if run.incomplete:
            say(f"llmeval {call.command}: warning: {name} is incomplete: {run.incomplete}")
    return runs


def _default_path(call: argparse.Namespace, name: str) -> str:
    """Return a path in the first run's directory, or next to another tool's log."""
    first = Path(call.run_directory[0])
    return str(first / name if first.is_dir() else first.with_suffix(f".{name}"))


def _format_of(out: str | None, known: Mapping[str, str], default: str, option: str) -> str:
    """Return the format that belongs to the suffix of a file."""
    suffix = Path(out or "").suffix.lower()
    if suffix and suffix not in known:
        raise InputError(
            f"--out {out}: no format has the suffix {suffix!r}; there are {', '.join(known)}, and "
            f"{option} sets the format of any file"
        )
    return known.get(suffix, default)


@contextmanager
def _open_to_write(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        with unless_closed():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    try:
        with Path(path).open("wb") as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
    put(f"written: {path}\n")
