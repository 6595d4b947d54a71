"""Telling a quotation by the words around a label, which are those of the text it comes from."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import msgspec

from llmeval_integrations.judges.verdicts.spans import MASK

_CLAUSE: Final = 1
_LINE: Final = 2
_FOREIGN: Final = 3
"""What stands between two words: any mark, the end of a line, what is not the judge's."""

# The number of a list is not a word.
_WORD = re.compile(r"\d{1,2}[.)](?=\s)|(?P<word>[^\W_]+(?:['’][^\W_]+)*)")
_MARK = re.compile(r"[^\s*_`]")
_MANY = 8  # words; nobody writes as many telling ones in the same order by chance
_LONGEST = 24  # words; what is longer counts as a whole line
# What judgements share says nothing of where one comes from.
_COMMON_WORDS = """pass passed fail failed high medium low level final overall my the our is so
    thus therefore hence and finally in conclusion"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())


class Words(msgspec.Struct, frozen=True):
    """The words of a text."""

    words: list[str]
    """In small letters."""

    starts: list[int]
    """Where each begins."""

    breaks: list[int]
    """What stands before each, and at last behind the last one; 0 is a space."""

    @classmethod
    def of(cls, text: str) -> Words:
        words: list[str] = []
        starts: list[int] = []
        breaks = [_LINE]
        end = 0
        for found in _WORD.finditer(text):
            if not found["word"]:
                continue
            if words:
                breaks.append(_break(text[end : found.start()]))
            words.append(found["word"].casefold())
            starts.append(found.start())
            end = found.end()
        breaks.append(_LINE)
        return cls(words, starts, breaks)

    def runs_at(self, position: int, names: frozenset[str]) -> Iterator[str]:
        """Yield the runs that end or begin with the label at a position of the text.

        Each goes to a break and has a telling word, or has very many.
        """
        index = bisect_left(self.starts, position)
        if index == len(self.words):
            return
        for run, telling, broken in self._runs(index, _COMMON | names):
            if telling and (broken or telling == _MANY):
                yield run

    def all_runs(self, names: frozenset[str], *, whole_lines: bool = False) -> Iterator[str]:
        """Yield the runs around each label by which a part of the text is known again.

        With `whole_lines` only runs of lines that were copied as a whole.
        """
        common = _COMMON | names
        for index, word in enumerate(self.words):
            if word not in names:
                continue
            for run, telling, broken in self._runs(index, common):
                if whole_lines:
                    if telling and broken == _LINE:
                        yield run
                elif telling > 1 or (telling and broken):
                    yield run

    def _runs(self, index: int, common: frozenset[str]) -> Iterator[tuple[str, int, int]]:
        """Yield runs of words up to a word, and from it on, with their telling words and breaks."""
        for step in (-1, 1):
            run, telling = self.words[index], 0
            last = index + step * _LONGEST
            for place in range(index + step, last + step, step):
                between = self.breaks[place + (step < 0)]
                if not 0 <= place < len(self.words) or between == _FOREIGN:
                    break
                word = self.words[place]
                telling += word not in common
                if not telling and abs(place - index) > _MANY:
                    break
                run = f"{word} {run}" if step < 0 else f"{run} {word}"
                yield run, telling, _LINE if place == last else self.breaks[place + (step > 0)]


@lru_cache(maxsize=32)
def names_in(labels: tuple[str, ...]) -> frozenset[str]:
    """Return the words that labels are made of."""
    return frozenset(word for label in labels for word in Words.of(label).words)


def has_telling_word(text: str, names: frozenset[str]) -> bool:
    """Whether a text has a word that not all judgements share."""
    words = (found["word"] for found in _WORD.finditer(text) if found["word"])
    return any(word.casefold() not in _COMMON | names for word in words)


def _break(between: str) -> int:
    if MASK in between:
        return _FOREIGN
    if "\n" in between:
        return _LINE
    return _CLAUSE if _MARK.search(between) else 0
