"""HTML in which every text is escaped unless it is known to be HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from llmeval_integrations.core.printable import make_printable

_VOID: Final = ("meta", "br", "input")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: object) -> Html:
    """Write an element; text in it is escaped, and what does not print is written out.

    In the names of attributes `_` stands for `-`, and one at the end is dropped: `class_`.
    An attribute that is None is left out, one that is True has no value.
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{text(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Html:
    """Put parts behind each other."""
    return Html("".join(map(text, parts)))


def text(value: str) -> Html:
    """Escape a text; HTML stays what it is."""
    return value if isinstance(value, Html) else Html(escape(make_printable(value)))
