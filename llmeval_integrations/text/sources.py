"""A source text, read once, in which values are searched."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, repeat
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from llmeval_integrations.text.dates import WEEKDAYS, Day, find_dates
from llmeval_integrations.text.numbers import (
    NUMBER_WORDS,
    find_numbers,
    find_ratios,
    key,
    read_words,
)
from llmeval_integrations.text.stretches import Span, find_stretch
from llmeval_integrations.text.words import (
    BREAK,
    FOLDING,
    STOP_WORDS,
    WORD,
    find_words,
    fold,
    is_name,
    join_lines,
    stem,
)

Kind = Literal["exact", "date", "number", "words", "fuzzy", "paraphrase"]

Spans: TypeAlias = list[Span]

_SHORTEST_SQUEEZED: Final = 4
"""The shortest text that is also searched without spaces, so that `email` is `e-mail`."""

_MOST_TRIES: Final = 200
"""How many places are tried for a text without spaces."""

_FEW_WORDS: Final = 4
"""Up to so many words, all must be there. Of more words, some may be missing."""

_LONGEST_UNIT: Final = 3
"""The longest unit or currency beside a number. A source may write it in another way."""

_MAY_LACK: Final = 0.2
_MAY_LACK_BESIDE_NUMBERS: Final = 0.4
"""The shares of words that may be missing, since a paraphrase uses other words."""

_SIMILARITY: Final = 0.88
_SIMILARITY_OF_WORDS: Final = 0.8
"""The shares of letters that are equal in a text and in each word with spelling mistakes."""

_MOST_WITH_SLIPS: Final = 20
"""The most words of a text in which spelling mistakes are searched."""

_APART: Final = 100
"""The distance in words of two texts of a source, more than that of a name's words."""

_TIME: Final = re.compile(
    r"(?<=\d)(?:t|,?\s+(?:at\s+)?)(\d\d?):(\d\d)(?::\d\d(?:\.\d+)?)?\s?(?:z|utc|[+-]\d\d:?\d\d)?\b"
)
_CODE: Final = re.compile(r"0\d")
_IDENTIFIER: Final = re.compile(r"[\w./-]+")
_DIGITS: Final = re.compile(r"\d+(?:[.,]\d+)*")
_IN_BRACKETS: Final = re.compile(r"([^()]+)\(([^()]+)\)\s*")
_RUN: Final = re.compile(r"[^\W_]+")


class Found(NamedTuple):
    """How and where a value is found in a source."""

    kind: Kind
    start: int
    end: int
    """The positions in the source."""


def normalize(value: float | str | None) -> Any:
    """Return a key that values share if only their spelling differs."""
    if isinstance(value, str):
        return " ".join(find_words(fold(value)))
    return value if value is None or isinstance(value, bool) else key(value)


def common_numbers(texts: Iterable[str], share: float = 0.15) -> list[float]:
    """Return the numbers that more than this share of the texts contain.

    Finding one of them in another text is weak evidence. Pass them to `JsonGrounded(common=...)`.

    Example:
        >>> common_numbers(["1 of 20", "1 and 3", "in 2024"], share=0.5)
        [1]
    """
    sources = [Source(text).numbers for text in texts]
    counts = Counter(number for numbers in sources for number in numbers)
    return sorted(number for number, count in counts.items() if count > share * len(sources))


class Source:
    """A source with its words, numbers and dates."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = fold(text)
        found = [*WORD.finditer(self._folded)]
        if BREAK in text:  # what has to be near is in one text
            counts = (_APART if each[0] == BREAK else 1 for each in found)
            found = [*chain.from_iterable(map(repeat, found, counts))]
        self._words = [join_lines(each[0]) for each in found]
        self._starts = [each.start() for each in found]
        self._ends = [each.end() for each in found]
        self._joined = f" {' '.join(self._words)} "
        self._joined_starts = [0, *accumulate(len(word) + 1 for word in self._words)]
        self._squeezed = "".join(self._words)
        ends = accumulate(map(len, self._words), initial=0)
        self._squeezed_starts = {end: place for place, end in enumerate(ends)}
        self._stems: dict[str, Spans] = {}
        for place, word in enumerate(self._words):
            self._stems.setdefault(stem(word), []).append((place, place + 1))

    @cached_property
    def numbers(self) -> dict[float, Spans]:
        """The places of each number, in all its readings."""
        found: dict[float, Spans] = {}
        for number in (*find_numbers(self._folded), *find_ratios(self._folded)):
            for value in number.values | number.bare:
                found.setdefault(value, []).append(self._span(number.start, number.end))
        for value, start, end in read_words(self._words):
            found.setdefault(key(value), []).append((start, end))
        for spans in found.values():
            spans.sort()
        return found

    @cached_property
    def _dates(self) -> dict[Day, Spans]:
        """The places of each day and each month, in all readings."""
        found: dict[Day, Spans] = {}
        for written in find_dates(self._folded)[0]:
            for day in written.days | {(year, month, 0) for year, month, _ in written.days}:
                found.setdefault(day, []).append(self._span(written.start, written.end))
        return found

    @cached_property
    def _unique(self) -> list[str]:
        """All different words; words with digits are not split."""
        return [*dict.fromkeys(_RUN.findall(self._folded))]

    @cached_property
    def _origins(self) -> Sequence[int]:
        """The position in the text of each character of the folded text."""
        places = range(len(self._text))
        if self._text.isascii() and len(self._folded) == len(self._text):
            return places
        widths = (len(FOLDING[ord(char)]) for char in self._text)
        return [*chain.from_iterable(map(repeat, places, widths))]

    def _span(self, start: int, end: int) -> Span:
        """Return the span of words of a part of the folded text."""
        return bisect_right(self._ends, start), bisect_left(self._starts, end)

    def _locate(self, kind: Kind, span: Span | None) -> Found | None:
        if span is None:
            return None
        start, end = self._starts[span[0]], self._ends[span[1] - 1]
        origins = self._origins
        behind = origins[end] if end < len(origins) else len(self._text)  # accents come after
        return Found(kind, origins[start], max(behind, origins[end - 1] + 1))

    def find_number(self, number: float) -> Found | None:
        """Find a number in any spelling."""
        spans = self.numbers.get(key(number))
        return self._locate("number", spans[0]) if spans else None

    def find_text(self, text: str) -> Found | None:
        """Find a text exactly, as a date or number, or by its words."""
        text = text.strip()
        folded = fold(text)
        words = find_words(folded)
        if not words:  # such as stars
            start = self._text.find(text)
            return Found("exact", start, start + len(text)) if start >= 0 else None
        found = self._find_exactly(words) or self._find_parts(text, folded, words)
        # A name and its abbreviation may be in different places.
        parts = None if found else _IN_BRACKETS.fullmatch(text)
        if parts:
            first, second = map(self.find_text, parts.groups())
            found = first._replace(kind="words") if first and second else None
        return found

    def _find_exactly(self, words: Sequence[str]) -> Found | None:
        at = self._joined.find(f" {' '.join(words)} ")
        if at >= 0:
            first = bisect_left(self._joined_starts, at)
            return self._locate("exact", (first, first + len(words)))
        squeezed, starts = "".join(words), self._squeezed_starts
        for _ in range(_MOST_TRIES if len(squeezed) >= _SHORTEST_SQUEEZED else 0):
            at = self._squeezed.find(squeezed, at + 1)
            if at < 0:
                break
            start, end = starts.get(at), starts.get(at + len(squeezed))
            if start is not None and end is not None:
                return self._locate("exact", (start, end))
        return None

    def _find_parts(self, text: str, folded: str, words: list[str]) -> Found | None:
        """Find a text by its dates, numbers and words, close together."""
        kind: Kind = "number"
        needed: list[Spans] = []
        if any(map(str.isdigit, folded)):
            dates, rest = find_dates(_TIME.sub(_write_time, folded))
            if dates:
                kind = "date"
            elif _is_identifier(folded.strip()):
                return None
            needed, words = self._find_figures(rest)
            needed += map(self._spans_of_days, dict.fromkeys(each.days for each in dates))
            words = [word for word in words if not (dates and word in WEEKDAYS)]
            if not all(needed):
                return None
        words = [word for word in words if word not in STOP_WORDS] or words
        if needed and all(len(word) <= _LONGEST_UNIT for word in words):
            return self._locate(kind, find_stretch(needed))
        return self._find_words([*dict.fromkeys(words)], needed, is_name=is_name(text))

    def _find_figures(self, folded: str) -> tuple[list[Spans], list[str]]:
        """Return the places of each number of a text, and the other words.

        A number that begins with 0 is a code, which is only found in the same spelling.
        """
        numbers = [each for each in find_numbers(folded) if not _CODE.match(folded, each.start)]
        readings = dict.fromkeys(each.values for each in numbers)
        needed = [_merge(self.numbers, values) for values in readings]
        ends = [0, *(each.end for each in numbers)]
        starts = [*(each.start for each in numbers), len(folded)]
        words = find_words(" ".join(folded[end:start] for end, start in zip(ends, starts)))
        codes = dict.fromkeys(word for word in words if word[0].isdigit())
        needed += [self._stems.get(code, []) for code in codes]
        return needed, [word for word in words if not word[0].isdigit()]

    def _spans_of_days(self, days: Iterable[Day]) -> Spans:
        """Return the places of a day; its year may also be elsewhere in the source."""
        spans = _merge(self._dates, days)
        if not spans:
            spans = _merge(self._dates, [(0, *day) for year, *day in days if year in self.numbers])
        return spans

    def _find_words(
        self, words: Sequence[str], needed: list[Spans], *, is_name: bool
    ) -> Found | None:
        """Find the words of a text; those of a name or beside numbers must be close together."""
        known = {word: self._spans_of_word(word) for word in words}
        share = _MAY_LACK_BESIDE_NUMBERS if needed else _MAY_LACK
        lack = int(len(words) * share) if needed or len(words) > _FEW_WORDS else 0
        kind: Kind = "paraphrase" if lack else "words"
        if len(words) <= _MOST_WITH_SLIPS and sum(not each for each in known.values()) > lack:
            kind, edits = "fuzzy", 0
            for word in words:
                if not known[word]:
                    known[word], count = self._find_near(word)
                    edits += count
            if edits > (1 - _SIMILARITY) * sum(map(len, words)):
                return None
        width = None if needed or is_name else len(self._words)
        return self._locate(kind, find_stretch(needed, [*known.values()], lack, width))

    def _spans_of_word(self, word: str) -> Spans:
        """Return the places of a word, or of the number that it means."""
        spans = self._stems.get(stem(word))
        if spans is None and word in NUMBER_WORDS:
            spans = self.numbers.get(key(NUMBER_WORDS[word]))
        return spans or []

    def _find_near(self, word: str) -> tuple[Spans, int]:
        """Return the places of the most similar word, and how many letters differ."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import extractOne

        most = int(len(word) * (1 - _SIMILARITY_OF_WORDS))
        best = most and extractOne(
            word, self._unique, scorer=Levenshtein.distance, score_cutoff=most
        )
        if not best:
            return [], 0
        places = re.finditer(rf"(?<![^\W_]){best[0]}(?![^\W_])", self._folded)
        return [self._span(*each.span()) for each in places], best[1]


def _merge(places: Mapping[Any, Spans], keys: Iterable[Any]) -> Spans:
    """Return the spans of all these keys in order."""
    return sorted({span for each in keys for span in places.get(each, ())})


def _write_time(found: re.Match[str]) -> str:
    """Write the time after a date so that its numbers are searched; leave out midnight."""
    hour, minute = int(found[1]), int(found[2])
    return f" {hour}:{minute:02}" if hour or minute else " "


def _is_identifier(folded: str) -> bool:
    """Return whether a text is an identifier such as INV-12 or 4F-12, not a number with a unit."""
    return (
        _IDENTIFIER.fullmatch(folded) is not None
        and any(map(str.isalpha, folded))
        and (folded[0].isalpha() or len(_DIGITS.findall(folded)) > 1)
    )
