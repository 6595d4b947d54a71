"""What of a reply only repeats a text that the judge was shown."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

_ESCAPE: Final = re.compile(r"\\{1,4}(?:u([0-9a-f]{4})|x([0-9a-f]{2}))", re.IGNORECASE)
_BREAK: Final = re.compile(r"\\+[nrt]")
_NO_LETTERS: Final = {code: None for code in range(128) if not chr(code).isalnum()}
_RUN: Final = 3
"""Words that hang together; fewer are the same in many a text."""
_MOST: Final = 200
"""Runs of words that are looked up; those of a longer text are spread over it."""


def decode(text: str) -> str:
    """Undo escapes of JSON, entities of HTML and full-width letters; the text stays readable."""
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def letters(text: str) -> str:
    """Return the letters and digits of a text: a copy in any dress has the same."""
    text = decode(text).casefold()
    text = _BREAK.sub("", text) if "\\" in text else text
    # For English in a hundredth of the time, which was a third of what a judgement takes.
    return text.translate(_NO_LETTERS) if text.isascii() else "".join(filter(str.isalnum, text))


_letters_of_few = lru_cache(maxsize=16)(letters)  # the parts of a vote are shown the same texts


class Quotations:
    """The texts that a judge was shown, compared by their letters alone."""

    def __init__(self, shown: Iterable[str] = (), mark: str = "") -> None:
        """`mark` stands around foreign texts, and in the judge's own object."""
        self.mark = mark
        self._shown = tuple(shown)

    @cached_property  # an object with the mark is read without it
    def _texts(self) -> list[str]:
        return [_letters_of_few(text) for text in self._shown]

    def hold(self, text: str) -> bool:
        """Whether a text stands in one that was shown."""
        found = letters(text)
        return any(found in shown for shown in self._texts)

    def repeat(self, statement: str, reasoning: str) -> bool:
        """Whether a statement repeats a text with half of its reasons, or with none."""
        if not self.hold(statement):
            return False
        words = re.findall(r"[^\W_]+", decode(reasoning).casefold())
        runs = ["".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))]
        runs = runs[:: 1 + len(runs) // _MOST]
        known = sum(any(run in text for text in self._texts) for run in runs)
        return 2 * known >= len(runs)

    def hold_all(self, values: Sequence[Any]) -> bool:
        """Whether one text has all these texts and numbers, at least one text among them."""
        words = [letters(value) for value in values if isinstance(value, str)]
        others = [json.dumps(value, default=str) for value in values if not isinstance(value, str)]
        numbers = [rf"(?<![-.\w]){re.escape(each)}(?![\w.]*\d)" for each in others]
        return any(words) and any(
            all(word in plain for word in words)
            and all(re.search(number, decode(text)) for number in numbers)
            for plain, text in zip(self._texts, self._shown)
        )
