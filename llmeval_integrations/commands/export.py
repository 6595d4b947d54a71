"""`llmeval export`: write a run's rows, or its fields, as a table for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from llmeval_integrations.commands.output import written_to
from llmeval_integrations.commands.terminal import OK, put

HELP: Final = "write a run's rows or fields as Parquet, CSV or Arrow"
DESCRIPTION: Final = """\
Write a table: a record for every row (a sample seen by an evaluator), or with --table fields one
for every field that was scored. It is written into the run's directory unless --out names a file.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the runs, the format, the table and the file."""
    parser.add_argument("run_directory", nargs="+", metavar="RUN", help="a run's directory")
    parser.add_argument("--to", metavar="NAME", default="parquet", help="parquet, csv or arrow")
    parser.add_argument("--table", choices=("rows", "fields"), default="rows", help="which (rows)")
    parser.add_argument("--out", metavar="FILE", help="write it there; - for standard output")


def run(call: argparse.Namespace) -> int:
    """Write the table."""
    from llmeval_integrations.reports import load_format
    from llmeval_integrations.reports.parts.tables import TABLES
    from llmeval_integrations.runs.stored import read_run

    to = load_format(call.to, "write_table")
    runs = [read_run(path) for path in call.run_directory]
    out = call.out or str(Path(call.run_directory[0]) / f"{call.table}{to.SUFFIX}")
    with written_to(None if out == "-" else out) as file:
        to.write_table(TABLES[call.table](runs), file)
    if out != "-":
        put(f"written: {out}\n")
    return OK
