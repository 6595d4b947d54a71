"""What every command says and how it ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from llmeval_integrations.core.printable import one_line

if TYPE_CHECKING:
    from llmeval_integrations.reports.view import View

Commands: TypeAlias = "argparse._SubParsersAction[Any]"  # noqa: SLF001 - it has no public name
"""What a module adds its commands to."""

OK: Final = 0
MISSED: Final = 1
WRONG_CALL: Final = 2
INTERRUPTED: Final = 130

RUN: Final = "a run's directory, or a log of another tool"
"""What the commands that read runs take."""


def put(text: str) -> None:
    """Print a text."""
    with unless_closed():
        sys.stdout.write(text)
        sys.stdout.flush()


def put_view(view: View) -> None:
    """Print a view, in a terminal with its width and colours."""
    from rich.console import Console

    from llmeval_integrations.reports.terminal import as_text

    put(as_text(view, Console() if sys.stdout.isatty() else None))


def say(text: str) -> None:
    """Print one line on stderr."""
    with suppress(OSError):  # nobody reads it, or the disk is full: the exit code still says it
        sys.stderr.write(one_line(text) + "\n")


def open_page(address: str) -> None:
    """Open a page in the browser, or say where it is."""
    import webbrowser

    if not webbrowser.open(address):
        say(f"llmeval: no browser could be started; open {address}")


@contextmanager
def unless_closed() -> Iterator[None]:
    """Print no more once the reader has gone, as `head` does."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
