"""Make text safe to print."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def make_printable(text: str) -> str:
    r"""Escape characters that do not print, such as control characters and lone surrogates.

    Otherwise a model's output could move the cursor, forge a line or stop the program.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def one_line(text: str) -> str:
    """Return a text as one line that is safe to print."""
    return make_printable(" ".join(text.split()))


def plain_console(width: int) -> Console:
    """Return a console of rich that keeps its text, without colours, and shows nothing."""
    from rich.console import Console

    # Otherwise each text would give an empty output in a notebook.
    return Console(file=StringIO(), width=width, color_system=None, force_jupyter=False)
