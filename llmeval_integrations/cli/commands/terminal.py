"""What every command says and how it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from llmeval_integrations.core.printable import one_line

OK: Final = 0
MISSED: Final = 1
WRONG_CALL: Final = 2
INTERRUPTED: Final = 130


def put(text: str) -> None:
    """Print a text."""
    with unless_closed():
        sys.stdout.write(text)
        sys.stdout.flush()


@contextmanager
def unless_closed() -> Iterator[None]:
    """Print no more once whoever read us has gone, as `head` does."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Print one line on stderr."""
    with suppress(OSError):  # nobody reads it, or the disk is full: the exit code still says it
        sys.stderr.write(one_line(text) + "\n")
