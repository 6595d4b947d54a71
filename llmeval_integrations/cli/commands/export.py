"""`llmeval export`: write a run's rows, or its fields, as a table for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from llmeval_integrations.cli.commands.output import written_to
from llmeval_integrations.cli.commands.terminal import OK, put, say
from llmeval_integrations.core.errors import InputError
from llmeval_integrations.runs import Run

HELP: Final = "write a run's rows or fields as Parquet, CSV or Arrow"
DESCRIPTION: Final = """\
Write a table: a record for every row (a sample seen by an evaluator), or with --table fields one
for every field that was scored. It is written into the run's directory, as Parquet, unless --out
names a file; the suffix of that tells the format where --to does not.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the runs, the format, the table and the file."""
    parser.add_argument(
        "run_directory",
        nargs="+",
        metavar="RUN",
        help="a run's directory, or a log of another tool",
    )
    parser.add_argument("--to", metavar="NAME", help="parquet, csv or arrow (by FILE's suffix)")
    parser.add_argument("--table", choices=("rows", "fields"), default="rows", help="which (rows)")
    parser.add_argument("--out", metavar="FILE", help="write it there; - for standard output")


def run(call: argparse.Namespace) -> int:
    """Write the table."""
    from llmeval_integrations.reports import load_format
    from llmeval_integrations.reports.rows import incomplete
    from llmeval_integrations.reports.tables import TABLES
    from llmeval_integrations.runs.stored import read_run

    to = load_format(call.to or _format_of(call.out), "write_table")
    runs = [read_run(path) for path in call.run_directory]
    for each in incomplete(runs):
        say(f"llmeval export: warning: {each}")
    if call.table == "fields":
        _warn_of_no_fields(runs)
    first, name = Path(call.run_directory[0]), f"{call.table}{to.SUFFIX}"
    out = call.out or str(first / name if first.is_dir() else first.with_suffix(f".{name}"))
    with written_to(None if out == "-" else out) as file:
        to.write_table(TABLES[call.table](runs), file)
    if out != "-":
        put(f"written: {out}\n")
    return OK


def _warn_of_no_fields(runs: Iterable[Run]) -> None:
    for run in runs:
        if not any(figures.get("fields") for figures in run.summary["evaluators"].values()):
            say(f"llmeval export: warning: {run.out} has no fields")


def _format_of(out: str | None) -> str:
    """Tell the format by the name of the file, Parquet where that has no suffix."""
    from llmeval_integrations.reports import formats

    suffix = "" if out is None else Path(out).suffix.lower()
    known = {table.SUFFIX: name for name, table in formats("write_table").items()}
    known[".feather"] = "arrow"  # its second version is an Arrow file
    if suffix and suffix not in known:
        raise InputError(
            f"--out {out}: no table has the suffix {suffix!r}; there are {', '.join(known)}, "
            "and --to names a format for any file"
        )
    return known.get(suffix, "parquet")
