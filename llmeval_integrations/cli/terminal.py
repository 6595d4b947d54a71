"""Output and exit codes of all commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from llmeval_integrations.core.quote import one_line
from llmeval_integrations.runs.rows import write_document

if TYPE_CHECKING:
    from llmeval_integrations.reports.view import View
    from llmeval_integrations.runs import Run

Commands: TypeAlias = "argparse._SubParsersAction[Any]"  # noqa: SLF001 - it has no public name
"""The object to which a module adds its commands."""

OK: Final = 0
MISSED: Final = 1
WRONG_CALL: Final = 2
INTERRUPTED: Final = 130

_PLAIN: Final = str.maketrans({"─": "-", "–": "-", "→": "->", "±": "+-"})

RUN: Final = "a run's directory, or a log of another tool"
"""The help text of a run."""


def replace_unwritable(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that the encoding of an output lacks, as that of pipes on Windows does."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return text.encode("ascii", "backslashreplace").decode(), error.end


def put(text: str) -> None:
    """Print a text."""
    with unless_closed():
        sys.stdout.write(text)
        sys.stdout.flush()


def put_view(view: View) -> None:
    """Print a view; a terminal's width and colours are used."""
    from rich.console import Console

    from llmeval_integrations.reports.terminal import NARROWEST, as_text

    console = Console() if sys.stdout.isatty() else None
    if console is not None:
        console.width = max(console.width, NARROWEST)  # lines that break cut no figure
    put(as_text(view, console))


def put_run(run: Run, *, as_json: bool) -> None:
    """Print the summary of a run."""
    if as_json:
        put(write_document(run.summary))
    else:
        from llmeval_integrations.reports.run_view import view_of_run

        put_view(view_of_run(run))


def say(text: str) -> None:
    """Print one line on stderr."""
    with suppress(OSError):  # stderr is closed, or the disk is full: the exit code remains
        sys.stderr.write(one_line(text) + "\n")


def open_page(address: str) -> None:
    """Open a page in the browser, or print its address."""
    import webbrowser

    if not webbrowser.open(address):
        say(f"llmeval: no browser could be started; open {address}")


@contextmanager
def unless_closed() -> Iterator[None]:
    """Stop printing once the reader, such as `head`, has closed the pipe."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
