"""Text that is safe to print."""

from __future__ import annotations


def printable(text: str) -> str:
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
    return printable(" ".join(text.split()))
