"""Counting the n-grams of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from operator import itemgetter
from typing import Any, Final

from llmeval_integrations.text.tokenizers import Tokenizer, Tokens

_LONG: Final = 20_000
"""The characters from which counting n-grams by their text costs less than collecting them."""


def count_ngrams(text: str, n: int, tokenizer: Tokenizer) -> Ngrams:
    """Count the n-grams of a text."""
    return Ngrams(tokenizer(text), n, long=len(text) > _LONG)


class Ngrams:
    """How many n-grams a text has, and which: a set of them, or a counter."""

    def __init__(self, tokens: Tokens, n: int, *, long: bool) -> None:
        self._tokens = tokens
        self._n = n
        # Of a text the garbage collector keeps no track, as it does of each of many tuples.
        self._by_text = long and tokens.are_words
        # Counting costs more than collecting, and less than going through a long text again.
        self._found: set[Hashable] | Counter[Hashable] = Counter() if long else set()
        for ngrams in self._read_parts():
            self._found.update(ngrams)
        self.total = max(self.tokens - n + 1, 0)
        self.unique = len(self._found)

    def _read_parts(self) -> Iterator[Iterable[Hashable]]:
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
        counts = self._found
        if not isinstance(counts, Counter):
            counts = Counter()
            for ngrams in self._read_parts():
                counts.update(ngrams)
        repeated = [(ngram, count) for ngram, count in counts.items() if count > 1]
        repeated.sort(key=itemgetter(1), reverse=True)
        return [[self._text(ngram), count] for ngram, count in repeated[:most]]

    def _text(self, ngram: Any) -> str:
        return str(ngram) if self._by_text else self._tokens.text(ngram)
