"""Counting the n-grams of a text: in a hash table, or, where the text is long, by sorting."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, count
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from llmeval_integrations.text.tokenizers import Tokenizer, Tokens

if TYPE_CHECKING:
    import numpy as np

MOST_HASHED: Final = 5_000
"""The tokens in all n-grams up to which a hash table fits the processor's cache. Few outputs have
more, so that few runs import numpy, which takes 0.1 s."""

_FEW: Final = 20_000
"""The characters in all n-grams up to which there never are so many that sorting is faster."""

_WIDEST: Final = 5
"""The tokens of an n-gram up to which it takes the more of it the wider it is."""

_SAMPLE: Final = 500
"""The characters whose tokens tell about how many there are in the text."""

_LONG: Final = 20_000
"""The characters from which counting n-grams by their text costs less than collecting them."""

_LONGEST_HASHED: Final = 256
"""The bytes up to which a word is cheaper to hash together with others than by itself."""

_FACTORS: Final = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
"""Odd, and with bits in no order."""

_SPACES: Final = bytes.maketrans(b"\t\n\v\f\r\x1c\x1d\x1e\x1f", b" " * 9)
_WIDE_SPACES: Final = "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What else is white space for `str.split`."""


class Ngrams(Protocol):
    """How many n-grams a text has, and which."""

    tokens: int
    total: int
    unique: int

    def most_common(self, most: int) -> list[list[Any]]:
        """List text and count of those that repeat, the first before others as frequent."""


def count_ngrams(text: str, n: int, tokenizer: Tokenizer) -> Ngrams:
    """Count the n-grams of a text in the way that is fastest for so many."""
    width = min(n, _WIDEST)
    if len(text) * width > _FEW and _has_many(text, width, tokenizer):
        with suppress(ImportError):  # without numpy it only takes longer
            return SortedNgrams(tokenizer(text), n)
    return HashedNgrams(tokenizer(text), n, long=len(text) > _LONG)


def _has_many(text: str, n: int, tokenizer: Tokenizer) -> bool:
    """Tell from its first characters whether a text has many tokens."""
    of_sample = sum(map(len, tokenizer(text[:_SAMPLE]).parts()))
    return of_sample / _SAMPLE * len(text) * n > MOST_HASHED


class HashedNgrams:
    """N-grams in a set, or in a counter."""

    def __init__(self, tokens: Tokens, n: int, *, long: bool) -> None:
        self._tokens = tokens
        self._n = n
        # Of a text the garbage collector keeps no track, as it does of each of many tuples.
        self._by_text = long and tokens.pieces is not None
        # Counting costs more than collecting, and less than going through a long text again.
        self._seen: set[Hashable] | Counter[Hashable] = Counter() if long else set()
        for ngrams in self._some_at_a_time():
            self._seen.update(ngrams)
        self.total = max(self.tokens - n + 1, 0)
        self.unique = len(self._seen)

    def _some_at_a_time(self) -> Iterator[Iterable[Hashable]]:
        """Yield the n-grams that end in each part, and count the tokens."""
        self.tokens = 0
        before: list[Any] = []
        for part in self._tokens.parts():
            self.tokens += len(part)
            tokens = before + part if before else part
            behind = [tokens]
            for _ in range(self._n - 1):
                behind.append(behind[-1][1:])
            ngrams = zip(*behind)
            yield map(self._tokens.text, ngrams) if self._by_text else ngrams
            before = tokens[max(len(tokens) - self._n + 1, 0) :]

    def most_common(self, most: int) -> list[list[Any]]:
        """List text and count of those that repeat, the first before others as frequent."""
        counts = self._seen
        if not isinstance(counts, Counter):
            counts = Counter()
            for ngrams in self._some_at_a_time():
                counts.update(ngrams)
        repeated = [(ngram, count) for ngram, count in counts.items() if count > 1]
        repeated.sort(key=itemgetter(1), reverse=True)
        return [[self._text(ngram), count] for ngram, count in repeated[:most]]

    def _text(self, ngram: Any) -> str:
        return str(ngram) if self._by_text else self._tokens.text(ngram)


class SortedNgrams:
    """N-grams as sorted numbers, one for each; raises ImportError where there is no numpy."""

    def __init__(self, tokens: Tokens, n: int) -> None:
        import numpy as np

        self._n = n
        self._numbered: NumberedTokens | NumberedWords = (
            NumberedTokens(tokens) if tokens.pieces is None else NumberedWords(tokens.pieces())
        )
        numbers = self._numbered.numbers
        self.tokens = len(numbers)
        self.total = max(self.tokens - n + 1, 0)
        self._keys = _keys(numbers, n) if self.total else numbers[:0]
        # np.unique would put them into a hash table, and be slower than a set.
        self._runs = _run_starts(np.sort(self._keys))
        self.unique = len(self._runs)

    def most_common(self, most: int) -> list[list[Any]]:
        """List text and count of those that repeat, the first before others as frequent."""
        import numpy as np

        if not self.total:
            return []
        counts = np.diff(self._runs, append=self.total).astype(np.int64)
        firsts = np.minimum.reduceat(np.argsort(self._keys), self._runs)
        repeated = counts > 1
        counts, firsts = counts[repeated], firsts[repeated]
        best = np.argsort(firsts - counts * self.total)[:most]  # by count, then by place
        return [
            [self._numbered.text(first, first + self._n), count]
            for first, count in zip(firsts[best].tolist(), counts[best].tolist())
        ]


class NumberedTokens:
    """A number for each token of any kind: how many others came before the first of its kind."""

    def __init__(self, tokens: Tokens) -> None:
        import numpy as np

        number_of: defaultdict[Any, int] = defaultdict(count().__next__)
        parts = [
            np.fromiter(map(number_of.__getitem__, part), np.int64)
            for part in chain([()], tokens.parts())  # the first, where there are no tokens
        ]
        self.numbers = np.concatenate(parts)
        self._tokens = tokens
        self._known = list(number_of)

    def text(self, start: int, end: int) -> str:
        """Write some of them for a person."""
        return self._tokens.text([self._known[number] for number in self.numbers[start:end]])


_BytesRead: TypeAlias = "list[tuple[np.ndarray, np.ndarray]]"


class NumberedWords:
    """A number for each word: the place of a word that is the same.

    No hash table of all words is made, which would be slow where they are many: words are UTF-8
    that is read eight bytes at a time, of all of them at once.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        import numpy as np

        # Behind the last word there are enough bytes to read eight.
        text = b"".join([b" ", *map(_spaced, pieces), b" ", bytes(7)])
        spaces = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(" "))
        starts: np.ndarray = spaces[:-1] + 1
        lengths: np.ndarray = spaces[1:] - starts
        if not lengths.all():
            starts, lengths = starts[lengths > 0], lengths[lengths > 0]
        # Bytes behind a word become 255, which is nowhere in UTF-8.
        masks = b"".join(b"\0" * size + b"\xff" * (8 - size) for size in range(9))
        self._behind = np.frombuffer(masks, np.uint64)
        self._eight_from = np.ndarray(len(text) - 7, np.uint64, text, strides=(1,))
        self._text, self._starts, self._lengths = text, starts, lengths
        self.numbers = self._numbers()

    def text(self, start: int, end: int) -> str:
        """Write some of them for a person."""
        words = self._text[self._starts[start] : self._starts[end - 1] + self._lengths[end - 1]]
        return " ".join(words.decode("utf-8", "surrogatepass").split())

    def _numbers(self) -> np.ndarray:
        import numpy as np

        read = list(self._read())
        numbers = alike(_hashes(read))
        differ = np.flatnonzero(~self._are_told(numbers, read))
        if len(differ):  # long words, and words made up to share a hash
            number_of: defaultdict[bytes, int] = defaultdict(count(len(numbers)).__next__)
            starts, lengths = self._starts[differ].tolist(), self._lengths[differ].tolist()
            words = [self._text[start : start + size] for start, size in zip(starts, lengths)]
            numbers[differ] = np.fromiter(map(number_of.__getitem__, words), np.int64)
        return numbers

    def _read(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield which words go on, and their next eight bytes as numbers: first of all words."""
        import numpy as np

        which, starts, lengths = np.arange(len(self._starts)), self._starts, self._lengths
        for at in range(0, _LONGEST_HASHED, 8):
            behind = self._behind[np.minimum(lengths - at, 8)]
            yield which, self._eight_from[starts + at] | behind
            more = np.flatnonzero(lengths > at + 8)
            if not len(more):
                break
            which, starts, lengths = which[more], starts[more], lengths[more]

    def _are_told(self, numbers: np.ndarray, read: _BytesRead) -> np.ndarray:
        """Tell of each word whether it is the same as the one at the place of its number."""
        import numpy as np

        told: np.ndarray = self._lengths <= _LONGEST_HASHED
        if len(read) > 1:  # else the hash is the word
            told &= self._lengths[numbers] == self._lengths
            of_all: np.ndarray = np.zeros(len(numbers), np.uint64)
            for which, eight in read:  # words of one length go on equally long
                of_all[which] = eight
                told[which] &= of_all[numbers[which]] == eight
        return told


def _hashes(read: _BytesRead) -> np.ndarray:
    """Hash what was read of each word; of up to eight bytes they are the hash."""
    import numpy as np

    before, after = np.array(_FACTORS, np.uint64)
    hashes: np.ndarray = read[0][1].copy()
    for which, eight in read[1:]:
        mixed = hashes[which] * before
        hashes[which] = (mixed ^ (mixed >> np.uint64(32))) * after + eight
    return hashes


def _spaced(piece: str) -> bytes:
    """Write a piece of a text with spaces for all white space."""
    if not piece.isascii():
        for space in _WIDE_SPACES:
            piece = piece.replace(space, " ")
    return piece.encode("utf-8", "surrogatepass").translate(_SPACES)


def alike(values: np.ndarray) -> np.ndarray:
    """Give for each of some 64-bit numbers the place of one that is equal, the same for all equal.

    A table has the place of the last number of each slot; who finds another number there, which
    happens to one of ten where no two are equal, is put in order with others of that kind.
    """
    import numpy as np

    bits = len(values).bit_length() + 1  # two to four slots for each
    factor, shift = np.array([_FACTORS[0], 64 - bits], np.uint64)
    slots = ((values.view(np.uint64) * factor) >> shift).view(np.int64)
    table: np.ndarray = np.empty(1 << bits, np.min_scalar_type(len(values)))
    table[slots] = np.arange(len(values))
    places: np.ndarray = table[slots].astype(np.int64)
    left = np.flatnonzero(values[places] != values)
    left = left[np.argsort(values[left])]
    starts = _run_starts(values[left])
    places[left] = np.repeat(left[starts], np.diff(starts, append=len(left)))
    return places


def _keys(numbers: np.ndarray, n: int) -> np.ndarray:
    """Number n-grams of numbers, the same with the same number."""
    keys, width = numbers, 1
    size = keys_size = int(numbers.max()) + 1
    while width < n and keys_size * size < 2**63:
        keys = keys[:-1] * size + numbers[width:]
        keys_size *= size
        width += 1
    while width < n:  # two of them, which may overlap, make a longer one
        keys = alike(keys)
        step = min(width, n - width)
        keys = keys[:-step] * len(keys) + keys[step:]
        width += step
    return keys


def _run_starts(ordered: np.ndarray) -> np.ndarray:
    """Find where numbers in order change, the first included."""
    import numpy as np

    changes: np.ndarray = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.append(0, changes) if len(ordered) else changes
