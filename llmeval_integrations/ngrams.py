"""Counting the n-grams of a text: in a hash table, or, where there are very many, by sorting."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, count
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

from llmeval_integrations.tokenizers import LONG, Tokenizer, Tokens

if TYPE_CHECKING:
    import numpy as np

MOST_HASHED: Final = 20_000
"""The n-grams, no two alike, up to which a hash table fits the processor's cache. Few outputs have
more, so that few runs import numpy, which takes 0.1 s."""

_LONGEST_HASHED: Final = 64
"""The bytes up to which a word is cheaper to hash together with others than by itself."""

_FACTORS: Final = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
"""Odd, and with bits in no order."""

_AT_ONCE: Final = 10_000
"""The tokens after which it is seen whether there are more."""


class Ngrams(Protocol):
    """How many n-grams a text has, and which."""

    tokens: int
    total: int
    unique: int

    def most_common(self, most: int) -> list[list[Any]]:
        """List text and count of those that repeat, the first before others as frequent."""


def count_ngrams(text: str, n: int, tokenizer: Tokenizer) -> Ngrams:
    """Count the n-grams of a text in the way that is fastest for so many."""
    tokens = tokenizer(text)
    hashed = HashedNgrams(tokens, n, long=len(text) > LONG)
    if not hashed.count(MOST_HASHED):
        with suppress(ImportError):  # without numpy it only takes longer
            return SortedNgrams(tokens, n)
        hashed.count()
    return hashed


class HashedNgrams:
    """N-grams in a set, or in a counter; there are none before `count`."""

    def __init__(self, tokens: Tokens, n: int, *, long: bool) -> None:
        self._tokens = tokens
        self._n = n
        # Of a text the garbage collector keeps no track, as it does of each of many tuples.
        self._by_text = long and tokens.words
        # Counting costs more than collecting, and less than going through a long text again.
        self._seen: set[Hashable] | Counter[Hashable] = Counter() if long else set()
        self._left = self._some_at_a_time()
        self.tokens = self.total = self.unique = 0

    def count(self, most: int | None = None) -> bool:
        """Count on; False where it ended before the text did, with more than so many unlike."""
        for tokens, ngrams in self._left:
            self.tokens += tokens
            self._seen.update(ngrams)
            if most is not None and len(self._seen) > most:
                return False
        self.total = max(self.tokens - self._n + 1, 0)
        self.unique = len(self._seen)
        return True

    def _some_at_a_time(self) -> Iterator[tuple[int, Iterable[Hashable]]]:
        """Yield how many tokens come next, and the n-grams that end with them."""
        before: list[Any] = []
        for part in self._tokens.parts:
            for start in range(0, len(part), _AT_ONCE):
                some = part[start : start + _AT_ONCE] if len(part) > _AT_ONCE else part
                tokens = before + some if before else some
                ngrams = zip(*[tokens[place:] for place in range(self._n)])
                yield len(some), map(self._tokens.text, ngrams) if self._by_text else ngrams
                before = tokens[max(len(tokens) - self._n + 1, 0) :]

    def most_common(self, most: int) -> list[list[Any]]:
        """List text and count of those that repeat, the first before others as frequent."""
        counts = self._seen
        if not isinstance(counts, Counter):
            counts = Counter()
            for _, ngrams in self._some_at_a_time():
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
        self._numbered = NumberedWords(tokens) if tokens.words else NumberedTokens(tokens)
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
    """A number for each token of any kind."""

    def __init__(self, tokens: Tokens) -> None:
        import numpy as np

        self._tokens = tokens
        self._list = list(chain.from_iterable(tokens.parts))
        number_of: defaultdict[Any, int] = defaultdict(count().__next__)
        self.numbers = np.fromiter(map(number_of.__getitem__, self._list), np.int64)

    def text(self, start: int, end: int) -> str:
        """Write some of them for a person."""
        return self._tokens.text(self._list[start:end])


class NumberedWords:
    """A number for each word, found without a hash table: that of many words is as slow."""

    def __init__(self, tokens: Tokens) -> None:
        import numpy as np

        # Each word has a space behind it, and the last one enough bytes to read eight of them.
        self._bytes = b"".join([*_encoded(tokens), bytes(7)])
        self._ends = np.flatnonzero(np.frombuffer(self._bytes, np.uint8) == ord(" "))
        self._starts: np.ndarray = np.append(0, self._ends + 1)[:-1]
        self.stretches = Stretches(self._bytes, self._starts, self._ends)
        self.numbers = self.stretches.numbers()

    def text(self, start: int, end: int) -> str:
        """Write some of them for a person."""
        words = self._bytes[self._starts[start] : self._ends[end - 1]]
        return words.decode("utf-8", "surrogatepass")


def _encoded(tokens: Tokens) -> Iterator[bytes]:
    for part in tokens.parts:
        if part:
            yield (tokens.text(part) + " ").encode("utf-8", "surrogatepass")


class Stretches:
    """Stretches of UTF-8, read eight bytes at a time; behind their text stand seven more bytes."""

    def __init__(self, text: bytes, starts: np.ndarray, ends: np.ndarray) -> None:
        import numpy as np

        self._text = text
        self._starts = starts
        self._lengths = ends - starts
        self._eight_from = np.ndarray(len(text) - 7, np.uint64, text, strides=(1,))
        # Bytes behind a stretch become 255, which is nowhere in UTF-8.
        masks = b"".join(b"\0" * size + b"\xff" * (8 - size) for size in range(9))
        self._behind = np.frombuffer(masks, np.uint64)

    def numbers(self) -> np.ndarray:
        """Number them, the same with the same number: by hashes, or one by one in a dict."""
        import numpy as np

        numbers: np.ndarray = np.zeros(len(self._lengths), np.int64)
        is_short = self._lengths <= _LONGEST_HASHED
        short = np.flatnonzero(is_short)
        hashed = self.hashed(short)
        if hashed is None:  # which words made up for it can bring about, as often as they like
            is_short[:] = False
        else:
            numbers[short] = hashed
        number_of: defaultdict[bytes, int] = defaultdict(count(len(short)).__next__)
        others = np.flatnonzero(~is_short)
        starts, lengths = self._starts[others].tolist(), self._lengths[others].tolist()
        words = [self._text[start : start + size] for start, size in zip(starts, lengths)]
        numbers[others] = np.fromiter(map(number_of.__getitem__, words), np.int64)
        return numbers

    def hashed(self, which: np.ndarray) -> np.ndarray | None:
        """Number some by their hashes; None where two that are not the same have one hash.

        Of up to eight bytes they are the hash.
        """
        import numpy as np

        before, after = np.array(_FACTORS, np.uint64)
        half = np.uint64(32)
        lengths = self._lengths[which]
        hashes = self._eight(which, 0)
        left = np.flatnonzero(lengths > 8)
        read = [(left, hashes[left])]
        while len(left):
            eight = self._eight(which[left], 8 * len(read))
            read.append((left, eight))
            mixed = hashes[left] * before
            hashes[left] = (mixed ^ (mixed >> half)) * after + eight
            left = left[lengths[left] > 8 * len(read)]
        numbers = _renamed(hashes)
        if len(read) == 1:
            return numbers
        same = _are_told_by(numbers, lengths) and all(
            _are_told_by(numbers[long], eight) for long, eight in read
        )
        return numbers if same else None

    def _eight(self, which: np.ndarray, at: int) -> np.ndarray:
        """Return eight bytes of each as a number."""
        import numpy as np

        left = np.minimum(self._lengths[which] - at, 8)
        eight: np.ndarray = self._eight_from[self._starts[which] + at] | self._behind[left]
        return eight


def _keys(numbers: np.ndarray, n: int) -> np.ndarray:
    """Number n-grams of numbers, the same with the same number."""
    keys, width = numbers, 1
    size = keys_size = int(numbers.max()) + 1
    while width < n and keys_size * size < 2**63:
        keys = keys[:-1] * size + numbers[width:]
        keys_size *= size
        width += 1
    while width < n:  # two of them, which may overlap, make a longer one
        keys = _renamed(keys)
        step = min(width, n - width)
        keys = keys[:-step] * (keys.max() + 1) + keys[step:]
        width += step
    return keys


def _are_told_by(numbers: np.ndarray, values: np.ndarray) -> bool:
    """Whether all with the same number have the same value."""
    import numpy as np

    value_of: np.ndarray = np.empty(numbers.max(initial=0) + 1, values.dtype)
    value_of[numbers] = values
    return bool((value_of[numbers] == values).all())


def _renamed(numbers: np.ndarray) -> np.ndarray:
    """Number the distinct ones from 0, so that a product of two fits into 63 bits."""
    import numpy as np

    order = np.argsort(numbers)
    ordered = numbers[order]
    renamed: np.ndarray = np.zeros(len(numbers), np.int64)
    renamed[order[1:]] = np.cumsum(ordered[1:] != ordered[:-1])  # np.unique is slower
    return renamed


def _run_starts(ordered: np.ndarray) -> np.ndarray:
    """Find where numbers in order change, the first included."""
    import numpy as np

    changes: np.ndarray = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.append(0, changes) if len(ordered) else changes
