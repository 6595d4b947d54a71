"""Text that is safe to print."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def make_printable(text: str) -> str:
    r"""Escape what does not print: control characters, those that reverse text, lone surrogates.

    A model's output must not move the cursor, forge a line or stop the program.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def one_line(text: str) -> str:
    """Put a text on one line that is safe to print."""
    return make_printable(" ".join(text.split()))


def plain_console(width: int) -> Console:
    """Return a console of rich whose text is plain, captured and shown nowhere."""
    from rich.console import Console

    # Otherwise a notebook would show an empty output for each text that is captured.
    return Console(file=StringIO(), width=width, color_system=None, force_jupyter=False)
