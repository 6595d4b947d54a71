"""Values and names in a message."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

MOST: Final = 200
"""The most characters of a value that a message shows."""


def add_article(field: str) -> str:
    """Write a field's name with its article, if it takes one: a reference, an input, contexts."""
    if field.endswith("s"):
        return field
    return f"{'an' if field[:1] in 'aeiou' else 'a'} {field}"


def hint(word: object, known: Collection[str], there_are: str = "there are") -> str:
    """Word what somebody may have meant, and what there is."""
    from difflib import get_close_matches

    close = get_close_matches(str(word), known, 1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"{meant}{there_are} {', '.join(known) or 'none'}"


def quote(value: Any) -> str:
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


def shorten(text: str, longest: int) -> str:
    """Cut a text to at most `longest` characters."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def shorten_middle(text: str, longest: int) -> str:
    """Cut a text to at most `longest` characters, and keep its beginning and its end."""
    if len(text) <= longest:
        return text
    end = longest // 2
    return f"{text[: longest - end - 3]}...{text[-end:]}"


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with a number behind it where it is taken."""
    taken = set(taken)
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate
