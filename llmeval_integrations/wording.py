"""Showing a value in a message."""

from __future__ import annotations

from typing import Any, Final

MOST: Final = 200
"""The most characters of a value that a message shows."""


def shown(value: Any) -> str:
    """Write a value for a message: its repr cut short, its type where it has none.

    Works for values of any depth and length, and for objects whose own repr fails.
    """
    from reprlib import Repr

    if isinstance(value, str):
        text = repr(value[:MOST])
    else:
        short = Repr()
        short.maxlevel, short.maxstring, short.maxother, short.maxdict = 4, MOST, MOST, 8
        try:
            text = short.repr(value)
        except Exception:  # noqa: BLE001 - a repr may raise anything, and the message must come
            text = f"<{type(value).__name__}>"
    return text if len(text) <= MOST + 2 else f"{text[:MOST]}..."
