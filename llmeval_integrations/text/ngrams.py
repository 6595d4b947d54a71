"""Counting the n-grams of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from llmeval_integrations.text.tokenizers import Tokenizer


class Ngrams:
    """How many n-grams a text has, and which."""

    def __init__(self, text: str, n: int, tokenizer: Tokenizer) -> None:
        self._tokens = tokenizer.split(text)
        self._n, self._join = n, tokenizer.join
        self.tokens = len(self._tokens)
        self.total = max(self.tokens - n + 1, 0)
        self.unique = len(set(self._read()))

    def _read(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(self._tokens[start:] for start in range(self._n)))

    def most_common(self, most: int) -> list[list[Any]]:
        """List text and count of those that repeat, the first before others as frequent."""
        repeated = [each for each in Counter(self._read()).items() if each[1] > 1]
        repeated.sort(key=itemgetter(1), reverse=True)
        return [[self._join(ngram), count] for ngram, count in repeated[:most]]
