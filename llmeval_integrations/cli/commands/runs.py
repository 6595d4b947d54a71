"""`llmeval runs`: list the runs in a folder."""

from __future__ import annotations

import argparse
from typing import Final

from llmeval_integrations.cli.commands.terminal import OK, put_view

HELP: Final = "list the runs in a folder, with date, data and pass rates"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder."""
    parser.add_argument(
        "folder", nargs="?", default="runs", metavar="DIR", help="where to look (runs)"
    )


def run(call: argparse.Namespace) -> int:
    """List them, the newest first."""
    from llmeval_integrations.reports.index_view import index_view

    put_view(index_view(call.folder))
    return OK
