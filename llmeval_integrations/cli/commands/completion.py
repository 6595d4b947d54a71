"""`llmeval completion`: print what makes a shell complete the command."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from llmeval_integrations.cli.commands.terminal import OK, put

_PATHS: Final = ("FILE", "DIR", "RUN", "A", "B")
"""What is called like this in a call is the path of a file or directory."""

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

    for action in _actions(call.parser):
        if action.metavar in _PATHS or action.dest == "data":
            vars(action)["complete"] = shtab.FILE
        if call.shell == "zsh" and isinstance(action.metavar, str):
            action.metavar = action.metavar.replace(":", r"\:")  # behind it zsh runs what it finds
    put(shtab.complete(call.parser, call.shell) + "\n")
    return OK


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield what a parser takes, and what those of its subcommands take."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each in action.choices.values():
                yield from _actions(each)
