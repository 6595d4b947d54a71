"""Split a text into words, fold them, and reduce them to stems, to compare them."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

# fmt: off
_SIGNS: Final = {
    **dict.fromkeys("\u2018\u2019\u02bc\u2032\u00b4`", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l",
    "€": " eur ", "£": " gbp ", "$": " usd ", "¥": " jpy ",
}
# fmt: on


class _Folding(dict[int, str]):
    """The replacement of each character, computed when it is first needed."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFKD", char)
        folded = "".join(each for each in plain if not unicodedata.combining(each)).casefold()
        # 10² is not 102.
        self[code] = f"^{folded}" if folded.isdigit() and not char.isdecimal() else folded
        return self[code]


FOLDING: Final = _Folding({ord(char): folded for char, folded in _SIGNS.items()})
"""A table for `str.translate` that removes case and accents, and unifies quotes and dashes."""

BREAK: Final = "\ufdd0"
"""A character that stands between two texts of a source. Unicode keeps it out of texts."""

WORD: Final = re.compile(
    rf"\d+(?:[.,']\d+)*|{BREAK}"  # a number with its separators is one word
    r"|[\u3040-\u30ff\u3400-\u9fff]"  # Chinese and Japanese have no spaces
    r"|[^\W\d_]+(?:-[ \t\r]*\n\s*[^\W\d_]+)?"  # the end of a line may split a word
)

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_LONGEST_NAME: Final = 6

# fmt: off
_ENDINGS: Final = (
    "ations", "ation", "ungen", "mente", "ment", "ning", "ung", "ing", "ies", "ied", "ern", "ent",
    "es", "ed", "er", "en", "em", "ly", "as", "os", "s", "e", "y", "a", "o",
)
"""Endings of English, German, French and Spanish, the longer ones first."""

_CURRENCIES: Final = {"dollar": "usd", "pound": "gbp", "frank": "chf", "franc": "chf"}

STOP_WORDS: Final = frozenset(
    """
    a an the of in on at to for and or by with from as is are was were be been it its this that
    these those which into than their his her can may not
    der die das den dem des ein eine einer eines einem einen und oder von vom zu zum zur im am mit
    auf fur bei ist sind war als nach aus nicht
    le la les l un une des du de d et ou a au aux en dans par pour avec sur est sont qui que ce
    el los las una unos unas del y o al con por para es son se su
    """.split()  # noqa: SIM905 - a list would fill a page
)
"""Words without a meaning of their own."""
# fmt: on


def fold(text: str) -> str:
    """Return a text without case and accents, and with one form of quotes and dashes."""
    return text.translate(FOLDING)


def find_words(folded: str) -> list[str]:
    """Return the words and numbers of a folded text."""
    return [join_lines(word) for word in WORD.findall(folded)]


def join_lines(word: str) -> str:
    """Join a word that the end of a line splits."""
    return re.sub(r"-\s+", "", word) if "-" in word else word


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return a word without its ending; at least three letters remain."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return _CURRENCIES.get(word, word)


def is_name(text: str) -> bool:
    """Return whether a text looks like a name: all words but stop words are capitalized."""
    words = [word for word in _LETTERS.findall(text) if len(word) > 1 and word not in STOP_WORDS]
    return len(words) <= _LONGEST_NAME and all(word[0].isupper() for word in words)
