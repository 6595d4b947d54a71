"""Looking at runs: `llmeval show`, `runs`, `view`, `report`, `export` and `threshold`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from llmeval_integrations.cli.gates import parse_share
from llmeval_integrations.cli.terminal import (
    MISSED,
    OK,
    RUN,
    Commands,
    open_page,
    put,
    put_run,
    put_view,
    say,
    unless_closed,
)
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import make_printable
from llmeval_integrations.runs import Run
from llmeval_integrations.runs.acceptance import acceptance
from llmeval_integrations.runs.files import open_file
from llmeval_integrations.runs.load import read_run


def add_commands(commands: Commands) -> None:
    """Add the six commands."""
    parser = commands.add_parser(
        "show",
        help="print a run's figures and what went wrong",
        description="Print a run's figures and what went wrong, as at the end of `llmeval run`.",
    )
    parser.add_argument("run_directory", metavar="RUN", help=RUN)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=_show)

    parser = commands.add_parser(
        "runs",
        help="list the runs in a folder, with date and pass rates",
        description="List the runs in a folder with date, data and pass rates, the newest first.",
    )
    parser.add_argument("folder", nargs="?", default="runs", metavar="DIR", help="folder (runs)")
    parser.set_defaults(run=_list_runs)

    parser = commands.add_parser(
        "view",
        help="serve a run's report on this machine, kept up to date",
        description="Serve the report of a run to this machine only. If the run is still going "
        "on, the page is updated every few seconds. Finished runs are compared with the first "
        "one. Ctrl-C ends the server.",
    )
    parser.add_argument("run_directory", nargs="+", metavar="RUN", help=RUN)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (any free one)")
    parser.add_argument("--open", action="store_true", help="open the report in a browser")
    parser.set_defaults(run=_view)
    _add_writers(commands)
    _add_threshold(commands)


def _add_writers(commands: Commands) -> None:
    parser = commands.add_parser(
        "report",
        help="write a run as an HTML page, Markdown or JUnit XML",
        description="Write one run, or several and their comparison with the first. The HTML page "
        "is a single file. It is written to the run's directory, the other formats to standard "
        "output, unless --out names a file.",
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
    to = "parquet, csv or arrow (parquet)"
    parser.add_argument("--to", dest="format", metavar="NAME", help=to)
    parser.add_argument("--table", choices=("rows", "fields"), default="rows", help="(rows)")
    parser.set_defaults(run=_export)


def _add_threshold(commands: Commands) -> None:
    parser = commands.add_parser(
        "threshold",
        help="find the confidence above which values need no review",
        description="Print the lowest safe confidence, overall and by field: if values with at "
        "least this confidence are accepted, at most --errors of the samples have a wrong value "
        "among them. Exact tests in sequence make this hold with the probability --sure. The run "
        "needs json_fields with confidence. Exit 1 if no overall threshold is found.",
    )
    add = parser.add_argument
    add("run_directory", metavar="RUN", help=RUN)
    add("--evaluator", metavar="NAME", help="the json_fields to use, if several have confidences")
    allowed = "wrong samples allowed (1%%)"
    add("--errors", type=parse_share, default=0.01, metavar="P%", help=allowed)
    add("--sure", type=parse_share, default=0.95, metavar="P%", help="probability of this (95%%)")
    add("--review", type=int, default=0, metavar="N", help="list the N least sure values below it")
    parser.set_defaults(run=_print_thresholds)


def _show(call: argparse.Namespace) -> int:
    put_run(read_run(call.run_directory), as_json=call.json)
    return OK


def _list_runs(call: argparse.Namespace) -> int:
    from llmeval_integrations.reports.run_view import index_view

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
    name = _choose_format(call, {module.SUFFIX: name for name, module in known.items()}, "html")
    out = call.out or (_default_path(call, "report.html") if name == "html" else "-")
    if call.open and (name != "html" or out == "-"):
        raise InputError("--open opens a page; leave out --format and --out -")
    page = BytesIO()  # so that an error leaves the file as it was
    known[name].write(_read_runs(call), page)
    _write(call, out, lambda file: file.write(page.getvalue()))
    if call.open:
        open_page(Path(out).resolve().as_uri())
    return OK


def _export(call: argparse.Namespace) -> int:
    from llmeval_integrations.reports.tables import TABLES, WRITERS
    from llmeval_integrations.runs.cells import import_pyarrow

    name = _choose_format(call, {f".{name}": name for name in WRITERS}, "parquet")
    if name != "csv":
        import_pyarrow()  # an error is raised before an empty file is made
    out = call.out or _default_path(call, f"{call.table}.{name}")
    _write(call, out, partial(WRITERS[name], TABLES[call.table](_read_runs(call))))
    return OK


def _choose_format(call: argparse.Namespace, known: Mapping[str, str], default: str) -> str:
    """Return the format that the call names, or the one of its file's suffix."""
    suffix = Path(call.out or "").suffix.lower()
    name: str = call.format or (known.get(suffix, suffix) if suffix else default)
    if name not in known.values():
        formats = ", ".join(f"{name} ({suffix})" for suffix, name in known.items())
        raise InputError(f"{name!r} is not a format; there are {formats}")
    return name


def _default_path(call: argparse.Namespace, name: str) -> str:
    """Return a path in the first run's directory, or next to another tool's log."""
    first = call.run_directory[0]
    return f"{first}/{name}" if Path(first).is_dir() else f"{first}.{name}"


def _read_runs(call: argparse.Namespace) -> list[Run]:
    """Read the runs, and warn if one may lack samples."""
    from llmeval_integrations.reports.tables import name_runs

    runs = [*map(read_run, call.run_directory)]
    for name, run in name_runs(runs).items():
        if run.incomplete:
            say(f"llmeval {call.command}: warning: {name} is incomplete: {run.incomplete}")
    return runs


def _write(call: argparse.Namespace, out: str, write: Callable[[BinaryIO], object]) -> None:
    """Write to a file, or to standard output."""
    if out == "-":
        with unless_closed():
            write(sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    # A file that the caller names may be a link, one in the directory of a run may be planted.
    with Path(out).open("wb") if call.out else open_file(Path(out), "wb") as file:
        write(file)
    put(f"written: {out}\n")


def _print_thresholds(call: argparse.Namespace) -> int:
    from llmeval_integrations.reports.view import score

    run = read_run(call.run_directory)
    found = acceptance(run, call.evaluator, errors=call.errors, sure=call.sure, review=call.review)
    thresholds = {"all fields": found.overall, **found.fields}
    width = max(map(len, thresholds))
    lines = [f"{path:<{width}}  {each}" for path, each in thresholds.items()]
    if found.review:
        lines += ["", "to review, the least sure first:"]
        lines += [f"{score(each.confidence)}  {each.id}  {each.pointer}" for each in found.review]
    put("\n".join(map(make_printable, lines)) + "\n")
    return MISSED if found.overall.confidence is None else OK
