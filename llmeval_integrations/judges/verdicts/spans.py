"""Keeping some parts of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MASK: Final = "\ufffc"
"""Stands for each character that is not the judge's."""


def cut(text: str, spans: Sequence[tuple[int, int]], *, same_length: bool = False) -> str:
    """Return the spans of a text with one MASK between them, or as many as keep its length."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        if same_length:
            pieces.append(MASK * (start - position))
        elif pieces:
            pieces.append(MASK)
        pieces.append(text[start:end])
        position = end
    return "".join(pieces)
