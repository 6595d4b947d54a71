"""Detect the parts of a reply that only repeat a text shown to the judge."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

_ESCAPE: Final = re.compile(r"\\{1,4}(?:u([0-9a-f]{4})|x([0-9a-f]{2}))", re.IGNORECASE)
_NO_LETTERS: Final = {code: None for code in range(128) if not chr(code).isalnum()}
_RUN: Final = 3
"""The length of a run of words; shorter runs occur in many texts by chance."""
_MOST: Final = 200
"""The most runs that are looked up; a longer text is sampled at even distances."""


def decode(text: str) -> str:
    """Undo escapes of JSON, entities of HTML and full-width letters; the text stays readable."""
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def letters(text: str) -> str:
    """Return the letters and digits of a text: a copy in any formatting has the same."""
    text = decode(text).casefold()
    # For ASCII this takes a hundredth of the time, which was a third of a judgement's.
    return text.translate(_NO_LETTERS) if text.isascii() else "".join(filter(str.isalnum, text))


class Quotations:
    """The texts that a judge was shown, compared by their letters alone."""

    def __init__(self, shown: Iterable[str] = (), mark: str = "") -> None:
        """`mark` identifies the judge's own object."""
        self.mark = mark
        self._shown = tuple(shown)

    @cached_property  # reading an object with the mark does not need it
    def _texts(self) -> list[str]:
        return [letters(text) for text in self._shown]

    def mark_is_in(self, members: Mapping[str, Any]) -> bool:
        """Return whether an object has the requested mark."""
        return bool(self.mark) and self.mark in str(members.get("mark"))

    def hold(self, text: str) -> bool:
        """Return whether a text is part of one that was shown."""
        found = letters(text)
        return any(found in shown for shown in self._texts)

    def repeat(self, statement: str, reasoning: str) -> bool:
        """Return whether a statement and at least half of its reasons repeat a text."""
        if not self.hold(statement):
            return False
        words = re.findall(r"[^\W_]+", decode(reasoning).casefold())
        runs = ["".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))]
        runs = runs[:: 1 + len(runs) // _MOST]
        known = sum(any(run in text for text in self._texts) for run in runs)
        return 2 * known >= len(runs)

    def hold_all(self, values: Sequence[Any]) -> bool:
        """Return whether one text contains all the values, of which at least one is a text."""
        words = [letters(value) for value in values if isinstance(value, str)]
        others = [json.dumps(value, default=str) for value in values if not isinstance(value, str)]
        numbers = [rf"(?<![-.\w]){re.escape(each)}(?![\w.]*\d)" for each in others]
        return any(words) and any(
            all(word in plain for word in words)
            and all(re.search(number, decode(text)) for number in numbers)
            for plain, text in zip(self._texts, self._shown)
        )
