"""`llmeval show`: print what a run came to."""

from __future__ import annotations

import argparse
from typing import Final

from llmeval_integrations.cli.commands.terminal import OK, put, put_view
from llmeval_integrations.runs.run import summary_text
from llmeval_integrations.runs.stored import read_run

HELP: Final = "print a run's figures and what went wrong"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the run and the form of the answer."""
    parser.add_argument(
        "run_directory", metavar="RUN", help="a run's directory, or a log of another tool"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(call: argparse.Namespace) -> int:
    """Print the tables that `llmeval run` printed."""
    from llmeval_integrations.reports.run_view import view_of_run

    found = read_run(call.run_directory)
    if call.json:
        put(summary_text(found.summary))
    else:
        put_view(view_of_run(found))
    return OK
