"""`llmeval view`: show the report of a run in a browser, also while it is under way."""

from __future__ import annotations

import argparse
from typing import Final

from llmeval_integrations.cli.commands.terminal import OK, open_page, put

HELP: Final = "serve a run's report on this machine, kept up to date"
DESCRIPTION: Final = """\
Serve the report of a run, which may be under way, to this machine alone; the page takes over what
is new every few seconds. Ctrl-C ends it.
"""

_LAST_PORT: Final = 65535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the runs and the port."""
    parser.add_argument(
        "run_directory",
        nargs="+",
        metavar="RUN",
        help="a run's directory, or a log of another tool",
    )
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="any free one by default"
    )
    parser.add_argument("--open", action="store_true", help="open it in a browser")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {_LAST_PORT}")
    return int(text)


def run(call: argparse.Namespace) -> int:
    """Serve until interrupted."""
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
