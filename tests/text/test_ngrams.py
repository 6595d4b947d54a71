"""N-grams of any text, counted as the definition says."""

from collections import Counter
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_strategies import few

from llmeval_integrations import MissingDependencyError
from llmeval_integrations.text.ngrams import Ngrams, count_ngrams
from llmeval_integrations.text.tokenizers import PIECE, TOKENIZERS, load_tokenizer

PIECES = st.sampled_from(
    ["a", "b", "B", "é", "İ", "\0", "\ud800", "\ud800\udc00", "世界", "1", "😀", "x" * 9]
    + [" ", "\n", "  ", "\u3000", "\x85", "\x1c"] * 3
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=60).map("".join) | st.text()
LENGTHS = st.sampled_from([1, 2, 3, 4, 5, 7, 100])


def load(name):
    """Load a tokenizer, or skip where its package or vocabulary is not on this machine."""
    try:
        return load_tokenizer(name, "cl100k_base", False)
    except MissingDependencyError as error:
        pytest.skip(str(error)[:60])  # an extra, or a vocabulary that nothing may download


def figures(ngrams, most=5):
    return ngrams.tokens, ngrams.total, ngrams.unique, ngrams.most_common(most)


def defined(tokens, n, write=" ".join, most=5):
    """Write the definition plainly; Counter.most_common keeps the order of those as frequent."""
    counts = Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))
    common = [[write(ngram), count] for ngram, count in counts.most_common() if count > 1]
    return len(tokens), max(len(tokens) - n + 1, 0), len(counts), common[:most]


@pytest.mark.parametrize("name", TOKENIZERS)
@few
@given(TEXTS, LENGTHS, st.booleans())
@example("", 1, True)
@example(" \n", 3, True)
@example("a b", 3, False)
@example("a a a a", 100, False)
@example("<|endoftext|>", 1, False)
def test_tokens_are_counted_as_the_definition_says(name, text, n, long):
    tokens = load(name)(text)
    every = list(chain.from_iterable(tokens.parts()))
    assert all(isinstance(tokens.text([token]), str) for token in every)
    assert figures(Ngrams(tokens, n, long=long)) == defined(every, n, tokens.text)


@pytest.mark.parametrize("n", [1, 2, 3, 100])
def test_ngrams_across_the_parts_of_a_long_text_count(n):
    words = [f"w{number * number % 251}" for number in range(PIECE)]
    text = "\n".join(words)
    assert len(text) > 2 * PIECE
    assert figures(count_ngrams(text, n, load("simple"))) == defined(words, n)
