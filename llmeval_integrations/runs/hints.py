"""Helping with a name that is not known."""

from __future__ import annotations

from collections.abc import Collection


def hint(word: object, known: Collection[str]) -> str:
    """Word what somebody may have meant, and what there is."""
    from difflib import get_close_matches

    close = get_close_matches(str(word), known, 1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"{meant}there are {', '.join(known)}"
