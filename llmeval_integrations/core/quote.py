"""Quote values and names in messages, choose names, and make text safe to print."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from llmeval_integrations.core.limits import MAX_NAMES

MAX_QUOTE: Final = 200
"""The longest quoted value in characters."""

OTHER: Final = "(other)"
"""The name of all things whose own names are too many to be counted each by itself."""

_MANY: Final = 20
"""More words are not listed if one of them is meant: there are about fifty evaluators."""


def add_article(field: str) -> str:
    """Return a field's name with its article: a reference, an input, contexts."""
    if field.endswith("s"):
        return field
    return f"{'an' if field[:1] in 'aeiou' else 'a'} {field}"


def hint(word: object, known: Collection[str], there_are: str = "there are") -> str:
    """Return a hint with the most similar known word, and with all known words if they are few."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, 1) if isinstance(word, str) else []
    guess = f"did you mean {close[0]!r}?" if close else ""
    if guess and (len(known) == 1 or len(known) > _MANY):
        return guess
    return f"{guess} {there_are} {', '.join(known) or 'none'}".lstrip()


def quote(value: Any) -> str:
    """Return the repr of a value, shortened, or its type if the repr fails."""
    from reprlib import Repr

    if isinstance(value, str):
        text = repr(value[:MAX_QUOTE])
    else:
        short = Repr()
        short.maxlevel, short.maxstring, short.maxother, short.maxdict = 4, MAX_QUOTE, MAX_QUOTE, 8
        try:
            text = short.repr(value)
        except Exception:  # noqa: BLE001 - a repr may raise anything
            text = f"<{type(value).__name__}>"
    return text if len(text) <= MAX_QUOTE + 2 else f"{text[:MAX_QUOTE]}..."


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


def shorten(text: str, longest: int) -> str:
    """Shorten a text to at most `longest` characters."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def shorten_middle(text: str, longest: int) -> str:
    """Shorten a text to at most `longest` characters; keep its beginning and its end."""
    if len(text) <= longest:
        return text
    end = longest // 2
    return f"{text[: longest - end - 3]}...{text[-end:]}"


def name_or_other(name: str, known: Collection[str]) -> str:
    """Return the name under which a thing is counted: OTHER if too many others are known."""
    return name if name in known or len(known) < MAX_NAMES else OTHER


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with a number added if it is already taken."""
    taken = set(taken)
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate
