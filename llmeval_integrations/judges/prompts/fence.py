"""Telling a judge, and ourselves, where foreign text begins and ends.

A mark that is drawn anew for each call stands on both sides of the text. Whoever wrote the text
could not know the mark, so nothing in the text can end it, and what a judge quotes with its marks
is known to be a quotation.
"""

from __future__ import annotations

import secrets


def new_fence() -> str:
    """Draw a mark: 16 hexadecimal digits that no text can foresee."""
    return secrets.token_hex(8)


def fenced(name: str, text: str, fence: str) -> str:
    """Put a text between its marks."""
    return f"<{name} {fence}>\n{text}\n</{name} {fence}>"
