"""A source that values are looked for in, read once."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
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
from llmeval_integrations.text.words import (
    FOLDING,
    STOP_WORDS,
    WORD,
    find_words,
    fold,
    join_lines,
    stem,
)

Kind = Literal["exact", "date", "number", "words", "fuzzy", "paraphrase"]
Spans: TypeAlias = list[tuple[int, int]]
"""Stretches of words: the position of the first one, and that behind the last one."""

_FEW_WORDS: Final = 4
"""Up to so many words have to be there, each of them; of more, a share."""

_TIME: Final = re.compile(
    r"(?<=\d)(?:t|,?\s+(?:at\s+)?)(\d\d?):(\d\d)(?::\d\d(?:\.\d+)?)?\s?(?:z|utc|[+-]\d\d:?\d\d)?\b"
)

_RUN: Final = re.compile(r"[^\W_]+")

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_LONGEST_NAME: Final = 6
_ROOM_IN_NAMES: Final = 8

_IN_BRACKETS: Final = re.compile(r"([^()]*\w[^()]*)\(([^()]*\w[^()]*)\)\s*")

_CODE: Final = re.compile(r"0\d")
_IDENTIFIER: Final = re.compile(r"[^\W\d_][\w./-]*\d[\w./-]*|\d[\w./-]*[^\W\d_][\w./-]*\d[\w./-]*")

_MAY_LACK: Final = 0.2
_MAY_LACK_BESIDE_NUMBERS: Final = 0.4
_LONGEST_UNIT: Final = 3
_SIMILARITY: Final = 0.88
_SIMILARITY_OF_WORDS: Final = 0.8
_SHORTEST_SQUEEZED: Final = 4
_MOST_PLACES: Final = 200


class Found(NamedTuple):
    """How a value is found in a source, and where."""

    kind: Kind
    start: int
    end: int
    """Positions in the text of the source."""


def normalize(value: float | str | None) -> Any:
    """Return what values have in common that are the same but for how they are written."""
    if isinstance(value, str):
        return " ".join(find_words(fold(value)))
    return value if value is None or isinstance(value, bool) else key(value)


class Source:
    """A text, with its words, numbers and dates."""

    def __init__(self, text: str) -> None:
        folded = fold(text)
        self._folded = folded
        self._text = text
        self._origins: Sequence[int] = range(len(text))
        if len(folded) != len(text) or not text.isascii():
            widths = [len(FOLDING[ord(char)]) for char in text]
            self._origins = [*chain.from_iterable(map(repeat, range(len(text)), widths))]
        found = [*WORD.finditer(folded)]
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
        self._numbers: dict[float, Spans] = {}
        for number in (*find_numbers(folded), *find_ratios(folded)):
            for value in number.values | number.bare:
                self._numbers.setdefault(value, []).append(self._span(number.start, number.end))
        for value, start, end in read_words(self._words):
            self._numbers.setdefault(key(value), []).append((start, end))
        self._dates: dict[Day, Spans] = {}
        for written in find_dates(folded)[0]:
            span = self._span(written.start, written.end)
            for day in written.days | {(year, month, 0) for year, month, _ in written.days}:
                self._dates.setdefault(day, []).append(span)
        for spans in (*self._numbers.values(), *self._dates.values()):
            spans.sort()

    def _span(self, start: int, end: int) -> tuple[int, int]:
        """Return the words of a stretch of the folded text."""
        return bisect_right(self._ends, start), bisect_left(self._starts, end)

    def _found(self, kind: Kind, span: tuple[int, int]) -> Found:
        start, end = self._starts[span[0]], self._ends[span[1] - 1]
        behind = self._origins[end] if end < len(self._origins) else len(self._text)
        return Found(kind, self._origins[start], behind)

    def find_number(self, number: float) -> Found | None:
        """Find a number, in whatever form it is written."""
        spans = self._numbers.get(key(number))
        return self._found("number", spans[0]) if spans else None

    def find_text(self, text: str) -> Found | None:
        """Find a text: as it is, as a date or number, or by its words."""
        folded = fold(text)
        words = find_words(folded)
        if not words:  # such as stars
            start = self._text.find(text.strip())
            return Found("exact", start, start + len(text.strip())) if start >= 0 else None
        found = self._find_exactly(words) or self._find_parts(text, folded, words)
        if not found and (
            parts := _IN_BRACKETS.fullmatch(text)
        ):  # such as a name and its short form
            first, second = map(self.find_text, parts.groups())
            found = first and second and first._replace(kind="words")
        return found

    def _find_exactly(self, words: Sequence[str]) -> Found | None:
        at = self._joined.find(f" {' '.join(words)} ")
        if at >= 0:
            first = bisect_left(self._joined_starts, at)
            return self._found("exact", (first, first + len(words)))
        squeezed, starts = "".join(words), self._squeezed_starts
        at = -1
        for _ in range(_MOST_PLACES if len(squeezed) >= _SHORTEST_SQUEEZED else 0):
            at = self._squeezed.find(squeezed, at + 1)
            if at < 0:
                break
            start, end = starts.get(at), starts.get(at + len(squeezed))
            if start is not None and end is not None:
                return self._found("exact", (start, end))
        return None

    def _find_parts(self, text: str, folded: str, words: list[str]) -> Found | None:
        """Find a text by its dates, numbers and words, which stand together."""
        needed: list[Spans] = []
        kind: Kind = "number"
        if any(map(str.isdigit, folded)):
            dates, rest = find_dates(_TIME.sub(_write_time, folded))
            numbers = [each for each in find_numbers(rest) if not _CODE.match(rest, each.start)]
            kind = "date" if dates else "number"
            needed += [self._spans_of(each.days) for each in dates]
            needed += [_merge(self._numbers, each.values) for each in numbers]
            for each in reversed(numbers):
                rest = f"{rest[: each.start]} {rest[each.end :]}"
            words = [word for word in find_words(rest) if not (dates and word in WEEKDAYS)]
            needed += [self._stems.get(word, []) for word in words if word[0].isdigit()]
            words = [word for word in words if not word[0].isdigit()]
            if not all(needed):
                return None
        if needed and kind == "number" and _IDENTIFIER.fullmatch(folded.strip()):
            return None
        words = [word for word in words if word not in STOP_WORDS] or words
        if needed and all(len(word) <= _LONGEST_UNIT for word in words):
            span = _find_stretch(needed, [], _width(len(needed)), 0)
            return self._found(kind, span) if span else None
        return self._find_words([*dict.fromkeys(words)], needed, is_name=_is_name(text))

    def _spans_of(self, days: Iterable[Day]) -> Spans:
        """Return where a day stands; without its year where the year stands elsewhere."""
        spans = _merge(self._dates, days)
        if not spans:
            spans = _merge(self._dates, [(0, *day) for year, *day in days if year in self._numbers])
        return spans

    def _find_words(
        self, words: Sequence[str], needed: list[Spans], *, is_name: bool
    ) -> Found | None:
        """Find the words of a text; those of a name, and those beside numbers, stand together."""
        known = {word: self._spans_of_word(word) for word in words}
        share = _MAY_LACK_BESIDE_NUMBERS if needed else _MAY_LACK
        lack = int(len(words) * share) if needed or len(words) > _FEW_WORDS else 0
        if is_name and not needed:
            width = len(words) + _ROOM_IN_NAMES
        else:
            width = _width(len(words) + len(needed)) if needed else len(self._words)
        kind: Kind = "paraphrase" if lack else "words"
        if sum(not spans for spans in known.values()) > lack:
            kind, edits = "fuzzy", 0
            for word in words:
                if not known[word]:
                    known[word], count = self._find_near(word)
                    edits += count
            if edits > (1 - _SIMILARITY) * sum(map(len, words)):
                return None
        span = _find_stretch(needed, [*known.values()], width, lack)
        return self._found(kind, span) if span else None

    def _spans_of_word(self, word: str) -> Spans:
        """Return where a word stands, or the number that it says."""
        spans = self._stems.get(stem(word))
        if spans is None and word in NUMBER_WORDS:
            spans = self._numbers.get(key(NUMBER_WORDS[word]))
        return spans or []

    def _find_near(self, word: str) -> tuple[Spans, int]:
        """Return where the most similar word stands, and by how many letters it differs."""
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

    @cached_property
    def _unique(self) -> list[str]:
        """All different words, those with digits in them as wholes."""
        return [*dict.fromkeys(_RUN.findall(self._folded))]


def _merge(places: Mapping[Any, Spans], keys: Iterable[Any]) -> Spans:
    """Return all stretches of these keys in order."""
    return sorted({span for each in keys for span in places.get(each, ())})


def _width(words: int) -> int:
    """Return how many words beside one of a text its others may stand in the source."""
    return 3 * words + 15


def _find_stretch(
    needed: Sequence[Spans], wanted: Sequence[Spans], width: int, lack: int
) -> tuple[int, int] | None:
    """Return a stretch that has all that is needed, and all but `lack` of what is wanted."""
    present = sorted(filter(None, wanted), key=len)
    lack -= len(wanted) - len(present)
    if lack < 0:
        return None
    anchors = [min(needed, key=len)] if needed else present[: lack + 1]
    for anchor in sorted({span for spans in anchors for span in spans[:_MOST_PLACES]}):
        missing = 0
        parts = [anchor]
        for number, spans in enumerate((*needed, *present)):
            near = _nearest(spans, anchor)
            if abs(near[0] - anchor[0]) <= width:
                parts.append(near)
            elif number < len(needed) or missing == lack:
                break
            else:
                missing += 1
        else:
            return min(parts)[0], max(end for _, end in parts)
    return None


def _nearest(spans: Spans, place: tuple[int, int]) -> tuple[int, int]:
    behind = bisect_left(spans, place)
    near = spans[max(behind - 1, 0) : behind + 1]
    return min(near, key=lambda span: abs(span[0] - place[0]))


def _write_time(found: re.Match[str]) -> str:
    """Write the time of day behind a date so that its numbers are looked for; not midnight."""
    hour, minute = int(found[1]), int(found[2])
    return f" {hour}:{minute:02}" if hour or minute else " "


def _is_name(text: str) -> bool:
    """Whether a text is like a name: all its words but stop words begin with a capital letter."""
    words = [word for word in _LETTERS.findall(text) if len(word) > 1 and word not in STOP_WORDS]
    return len(words) <= _LONGEST_NAME and all(word[0].isupper() for word in words)
