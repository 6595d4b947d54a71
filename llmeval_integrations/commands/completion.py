"""`llmeval completion`: print what makes a shell complete the command."""

from __future__ import annotations

import argparse
from typing import Final

from llmeval_integrations.commands.terminal import OK, put

HELP: Final = "print a script that makes a shell complete llmeval"
DESCRIPTION: Final = """\
Print the script for a shell; for bash, for example, into
~/.local/share/bash-completion/completions/llmeval.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="which shell")


def run(call: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    put(shtab.complete(call.parser, call.shell) + "\n")
    return OK
