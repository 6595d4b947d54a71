"""N-grams counted in a hash table and by sorting: the definition, both ways alike, with and without numpy."""

import json
import random
import string
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_strategies import few, law
from pace import at_most

from llmeval_integrations import MissingDependencyError, NgramRepetitionPenalty
from llmeval_integrations.text import ngrams
from llmeval_integrations.text.ngrams import (
    HashedNgrams,
    SortedNgrams,
    alike,
    count_ngrams,
)
from llmeval_integrations.text.tokenizers import TOKENIZERS, load_tokenizer

SPACES = [" ", "\n", "  ", "\u3000", "\x85", "\x1c"]
PIECES = st.sampled_from(
    ["a", "b", "B", "é", "ÿ", "İ", "\0", "a\0", "\ud800", "\ud800\udc00", "𐀀", "\U0010ffff", "世界", "1", "😀"]
    + ["x" * size for size in (7, 8, 9, 16, 17, 33)] + ["x" * 8 + "y", "y" + "x" * 8, "абвгд"] + SPACES * 3
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=60).map("".join) | st.text()
LENGTHS = st.sampled_from([1, 2, 3, 4, 5, 7, 100])


def load(name):
    """Load a tokenizer, or skip where its package or vocabulary is not on this machine."""
    try:
        return load_tokenizer(name, "cl100k_base", False)
    except MissingDependencyError as error:
        pytest.skip(str(error)[:60])  # an extra, or a vocabulary that nothing may download


def told(ngrams, most=5):
    return ngrams.tokens, ngrams.total, ngrams.unique, ngrams.most_common(most)


def defined(words, n, most=5):
    """Write the definition plainly; Counter.most_common keeps the order of those as frequent."""
    counts = Counter(" ".join(words[start : start + n]) for start in range(len(words) - n + 1))
    common = [[ngram, count] for ngram, count in counts.most_common() if count > 1]
    return len(words), max(len(words) - n + 1, 0), len(counts), common[:most]


@law
@given(TEXTS, LENGTHS, st.booleans())
def test_a_hash_table_counts_as_the_definition_says(text, n, long):
    counted = HashedNgrams(load("simple")(text), n, long=long)
    assert told(counted) == defined(text.lower().split(), n)


@law
@given(TEXTS, LENGTHS)
@example("", 1)
@example(" \n", 3)
@example("a b", 3)
@example("a a a a", 100)
def test_sorting_counts_as_the_definition_says(text, n):
    pytest.importorskip("numpy")  # without it nothing is sorted
    assert told(SortedNgrams(load("simple")(text), n)) == defined(text.lower().split(), n)


@pytest.mark.parametrize("name", TOKENIZERS)
@few
@given(TEXTS, LENGTHS, st.integers(1, 3))
def test_both_ways_say_the_same_of_any_text(name, text, n, repeated):
    pytest.importorskip("numpy")  # without it nothing is sorted
    tokenizer = load(name)
    text = text * repeated
    hashed = told(HashedNgrams(tokenizer(text), n, long=False))
    assert repr(told(SortedNgrams(tokenizer(text), n))) == repr(hashed)  # plain numbers, too


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 100])
@pytest.mark.parametrize("vocabulary", [1, 2, 30, 3_000, 1_000_000])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_both_ways_say_the_same_whatever_the_number_of_words(name, vocabulary, n):
    pytest.importorskip("numpy")  # without it nothing is sorted
    choose = random.Random(vocabulary + n)
    stem = choose.choice(["", "слово", "a-rather-long-word-"])
    words = [f"{stem}{choose.randrange(vocabulary)}" for _ in range(4_000)]
    text = " ".join(words + words[:1_000] + words[500:2_000])
    tokenizer = load(name)
    hashed = HashedNgrams(tokenizer(text), n, long=True)
    assert told(SortedNgrams(tokenizer(text), n)) == told(hashed)
    assert hashed.total > hashed.unique


def test_a_million_words_no_two_alike_are_told_apart():
    pytest.importorskip("numpy")  # without it nothing is sorted
    words = [str(number) for number in random.Random(4).sample(range(10**12), 1_000_000)]
    text = " ".join([*words, *words[-3:]])
    for n in (1, 3, 4):
        ngrams = SortedNgrams(load("simple")(text), n)
        assert ngrams.total == 1_000_003 - n + 1
        assert ngrams.unique == ngrams.total - max(3 - n + 1, 0)


def test_words_that_differ_in_one_place_are_told_apart():
    pytest.importorskip("numpy")  # without it nothing is sorted
    for length in (1, 7, 8, 9, 15, 16, 17, 40):
        words = [
            "x" * place + other + "x" * (length - place - 1)
            for place in range(length)
            for other in "y\0é"
        ]
        words += ["x" * shorter for shorter in range(1, length + 1)]
        assert SortedNgrams(load("simple")(" ".join(words)), 1).unique == len(words), length


@pytest.mark.parametrize("factors", [(0, 0), (1, 1), ngrams._FACTORS])
@pytest.mark.parametrize(
    "words",
    [
        ["dxxxbxxxyxxxxxxx", "exxxbxxxxxxxxxxx"],
        ["\0" * 8, "\0" * 16, "\0" * 40],
        ["\0" * 8 + "abcdefgh", "abcdefgh"],
        ["xxx1xxx1xxxxxxx1", "xxx1xxx1xxxxxxxq", "xxxqxxxqxxxxxxx1", "xxxqxxxqxxxxxxxq"],
        [f"row{i:x}col{i:x}row0col{k:x}" for i in range(16) for k in range(16)],
        ["x" * 65, "x" * 64, "x" * 70],
    ],
    ids=lambda words: words[0][:16].replace("\0", "0"),
)
def test_words_of_one_hash_are_told_apart(monkeypatch, factors, words):
    pytest.importorskip("numpy")  # without it nothing is sorted
    monkeypatch.setattr(ngrams, "_FACTORS", factors)
    text = " ".join([*words, *words[:2]])
    assert told(SortedNgrams(load("simple")(text), 1)) == defined(text.split(), 1)


def test_few_words_share_a_hash():
    pytest.importorskip("numpy")  # without it nothing is sorted
    for words in (
        [f"row{i:x}col{i:x}row0col{k:x}" for i in range(64) for k in range(64)],
        [f"ab{x}{y}ab{x}{y}cdefgh{z}{w}" for x in "abc" for y in string.ascii_lowercase for z in "abc" for w in string.ascii_lowercase],
        [f"{number:064b}" for number in range(5_000)],
        [f"{number * 10**9:024d}" for number in range(50_000)],
        ["x" * 248 + f"{number:08d}" for number in range(5_000)],
    ):  # fmt: skip
        numbered = SortedNgrams(load("simple")(" ".join(words)), 1)
        assert numbered.unique == len(words)
        assert numbered._keys.max() < len(words)  # none had to be put into a dict


@law
@given(
    st.lists(
        st.integers(-(2**63), 2**63 - 1)
        | st.integers(0, 9)
        | st.integers(0, 63).map(lambda bit: (1 << bit) - 2**63),
        max_size=300,
    )
)
def test_equal_numbers_have_one_place_and_others_another(values):
    np = pytest.importorskip("numpy")  # without it nothing is sorted
    places = alike(np.array(values, np.int64)).tolist()
    assert [values[place] for place in places] == values
    assert len(set(places)) == len(set(values))


def test_numbers_of_one_slot_are_told_apart():
    np = pytest.importorskip("numpy")  # without it nothing is sorted
    backwards = pow(ngrams._FACTORS[0], -1, 2**64)
    values = [low * backwards % 2**64 for low in range(3_000)] * 2  # their products are small
    places = alike(np.array(values, np.uint64)).tolist()
    assert [values[place] for place in places] == values
    assert len(set(places)) == 3_000


@pytest.mark.parametrize("n", [1, 3, 100])
@pytest.mark.parametrize(
    "text",
    [
        "a " * 1_000_000,
        "x" * 2_000_000,
        " " * 2_000_000,
        "世" * 700_000,
        "a b " * 500_000,
        "\ud800 " * 700_000,
        " ".join("x" * length for length in range(2_000)),
    ],
    ids=lambda text: ascii(text[:4]),
)
def test_hostile_megabytes_take_less_than_seconds(text, n):
    pytest.importorskip("numpy")  # without it nothing is sorted
    tokenizer = load("simple")
    with at_most(5):
        told(count_ngrams(text, n, tokenizer))
    with at_most(5):
        told(SortedNgrams(tokenizer(text), n))


# --- with and without numpy, in a process of its own --------------------------------------------

RUN = """
import json, random, sys
class Absent:
    def find_spec(self, name, *_):
        if name == {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from llmeval_integrations import NgramRepetitionPenalty
choose = random.Random(6)
text = " ".join(str(choose.randrange(400)) for _ in range({words}))
metadata = NgramRepetitionPenalty(penalty_threshold=0.0, tokenizer={tokenizer!r})(text).metadata
print(json.dumps([metadata, "numpy" in sys.modules]))
"""


def apart(words=120_000, *, tokenizer="simple", absent=""):
    """Give the metadata of a text of so many words, and whether numpy was imported."""
    code = RUN.format(words=words, tokenizer=tokenizer, absent=absent)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    metadata, imported = json.loads(done.stdout)
    return metadata, imported


def test_numpy_is_imported_for_very_many_ngrams_alone():
    pytest.importorskip("numpy")  # without it nothing is sorted
    assert not apart(1_500)[1]
    metadata, imported = apart(6_000)
    assert imported
    assert metadata["unique_ngrams"] > 5_000


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_without_numpy_the_result_is_the_same(tokenizer):
    load(tokenizer)
    metadata, imported = apart(tokenizer=tokenizer, absent="numpy")
    assert not imported
    assert metadata["unique_ngrams"] > 20_000
    assert len(metadata["most_common_ngrams"]) == 5
    pytest.importorskip("numpy")  # without it nothing is sorted
    assert (metadata, True) == apart(tokenizer=tokenizer)


def test_very_many_ngrams_are_judged_like_the_definition():
    choose = random.Random(3)
    words = [f"w{choose.randrange(500)}" for _ in range(100_000)]
    result = NgramRepetitionPenalty(n=2)("\n".join(words))
    _, total, unique, common = defined(words, 2)
    told = result.metadata
    assert (told["total_ngrams"], told["unique_ngrams"]) == (total, unique)
    assert unique > 20_000
    assert told["most_common_ngrams"] == (common if told["penalty"] else [])
