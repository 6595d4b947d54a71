"""Repetition by n-grams: the definition written plainly, penalties, tokenizers offline, scopes."""

import asyncio
import hashlib
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmeval_integrations import InvalidOptionError, MissingDependencyError, NgramRepetitionPenalty

HAN = "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"
WORDS = st.lists(st.sampled_from(["a", "b", "A", "c", "the", "é", "。"]), max_size=30).map(" ".join)


def rate_of(tokens, n):
    """Give the share of n-grams that occurred before: the definition, written plainly."""
    seen, repeated = set(), 0
    ngrams = [tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)]
    for ngram in ngrams:
        repeated += ngram in seen
        seen.add(ngram)
    return repeated / len(ngrams) if ngrams else 0.0


@settings(max_examples=200, deadline=None)
@given(WORDS, st.integers(1, 6))
def test_the_rate_is_the_share_of_ngrams_that_occurred_before(text, n):
    result = NgramRepetitionPenalty(n=n)(text)
    tokens = text.lower().split()
    total = max(len(tokens) - n + 1, 0)
    told = result.metadata
    assert told["repetition_rate"] == pytest.approx(rate_of(tokens, n))
    assert told["total_ngrams"] == total
    assert told["unique_ngrams"] == total - round(rate_of(tokens, n) * total)
    assert told["token_count"] == len(tokens)


@settings(max_examples=200, deadline=None)
@given(WORDS, st.floats(0, 1), st.floats(0, 10), st.none() | st.floats(-5, 0))
def test_the_hard_penalty_starts_beyond_the_threshold(text, threshold, rate, floor):
    evaluator = NgramRepetitionPenalty(
        n=2, penalty_threshold=threshold, penalty_rate=rate, max_penalty=floor
    )
    result = evaluator(text)
    beyond = result.metadata["repetition_rate"] - threshold
    expected = -beyond * rate if beyond > 0 else 0.0
    if floor is not None:
        expected = max(expected, floor)
    assert result.score == pytest.approx(expected)
    assert result.passed is (result.score == 0)
    assert result.metadata["penalty"] == result.score
    assert result.metadata["penalty_mode"] == "hard"


@settings(max_examples=200, deadline=None)
@given(WORDS, st.floats(0, 0.99), st.none() | st.floats(-5, 0))
def test_the_soft_penalty_is_a_ramp(text, start, steepest):
    evaluator = NgramRepetitionPenalty(
        n=2, use_soft_penalty=True, min_scaling=start, max_penalty=steepest
    )
    result = evaluator(text)
    rate = result.metadata["repetition_rate"]
    steepest = -1.0 if steepest is None else steepest
    expected = (rate - start) / (1 - start) * steepest if rate > start else 0.0
    assert result.score == pytest.approx(expected)
    assert steepest <= result.score <= 0
    assert result.metadata["penalty_mode"] == "soft"


def test_a_rate_at_exactly_the_threshold_costs_nothing():
    for total in range(1, 60):
        for repeated in range(total):
            text = " ".join(["x"] * (repeated + 1) + [f"w{n}" for n in range(total - repeated - 1)])
            evaluator = NgramRepetitionPenalty(n=1, penalty_threshold=repeated / total)
            result = evaluator(text)
            assert (result.score, result.passed) == (0, True), (repeated, total)


def test_the_ramp_is_continuous_where_it_starts():
    text = "a b a b"  # bigrams ab, ba, ab: one of three occurred before
    rate = NgramRepetitionPenalty(n=2)(text).metadata["repetition_rate"]
    assert rate == pytest.approx(1 / 3)
    scores = [
        NgramRepetitionPenalty(n=2, use_soft_penalty=True, min_scaling=start)(text).score
        for start in (rate - 1e-9, rate, rate + 1e-9)
    ]
    assert scores == pytest.approx([0, 0, 0], abs=1e-8)
    assert scores[1] == 0
    assert NgramRepetitionPenalty(n=2, use_soft_penalty=True, min_scaling=rate)(text).passed


def test_the_ramp_ends_at_the_worst_score():
    evaluator = NgramRepetitionPenalty(
        n=1, use_soft_penalty=True, max_penalty=-2.0, min_scaling=0.5
    )
    assert evaluator("a " * 100_000).score == pytest.approx(-2.0, abs=1e-3)
    assert evaluator("a b c d").score == 0


def test_a_score_of_nothing_is_a_plain_zero():
    for evaluator in (
        NgramRepetitionPenalty(),
        NgramRepetitionPenalty(use_soft_penalty=True),
        NgramRepetitionPenalty(use_soft_penalty=True, max_penalty=0.0),
        NgramRepetitionPenalty(penalty_rate=0.0),
        NgramRepetitionPenalty(max_penalty=0.0),
    ):
        for text in ("a b c d e f", "a a a a a a a a"):
            result = evaluator(text)
            if result.score == 0:
                assert math.copysign(1, result.score) == 1, (evaluator, text)
                assert "-0.000" not in result.reason


@pytest.mark.parametrize(
    ("text", "n", "tokens"),
    [("", 3, 0), ("a", 2, 1), ("a b", 3, 2), ("  \n", 1, 0), ("a b c", 100, 3)],
)
def test_text_shorter_than_an_ngram_costs_nothing_and_says_so(text, n, tokens):
    result = NgramRepetitionPenalty(n=n)(text)
    assert (result.score, result.passed) == (0, True)
    assert result.reason == f"Text too short for {n}-gram analysis"
    assert result.metadata["repetition_rate"] == 0
    assert result.metadata["token_count"] == tokens
    assert result.metadata["total_ngrams"] == 0


def test_the_reason_gives_the_figures():
    result = NgramRepetitionPenalty(n=1)("a a a a")
    assert result.reason == (
        "1-gram repetition rate: 0.750, penalty: -0.450 (hard penalty, simple tokenizer, scope: full)"
    )
    assert result.label == "repetitive"


def test_the_most_common_ngrams_are_those_that_repeat():
    result = NgramRepetitionPenalty(n=2)("a b a b a b x y x y z")
    assert result.metadata["most_common_ngrams"] == [["a b", 3], ["b a", 2], ["x y", 2]]
    assert NgramRepetitionPenalty()("a b c d e").metadata["most_common_ngrams"] == []
    many = " ".join(f"w{n} w{n}" for n in range(20)) * 2
    assert len(NgramRepetitionPenalty(n=1)(many).metadata["most_common_ngrams"]) == 5


def test_a_long_text_is_judged_like_a_short_one():
    choose = random.Random(3)
    words = choose.choices(["a", "The", "cat", "é"], k=20_000)
    result = NgramRepetitionPenalty(n=4)("\n".join(words))
    words = [word.lower() for word in words]
    counts = Counter(" ".join(words[start : start + 4]) for start in range(len(words) - 3))
    told = result.metadata
    assert (told["unique_ngrams"], told["total_ngrams"]) == (len(counts), 19_997)
    assert told["repetition_rate"] == pytest.approx(rate_of(words, 4))
    assert told["most_common_ngrams"] == [list(pair) for pair in counts.most_common(5)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("<think>a b c</think> x x x x", 3),
        ("<think>a b</think> x <think>c d</think>", 4),
        ("<think>a\nb</think>", 2),
        ("<think><think>a</think></think>", 1),
        ("<think>a</think><think>b</think>", 2),
    ],
)
def test_the_scope_may_be_the_thinking_alone(text, tokens):
    result = NgramRepetitionPenalty(n=1, analyze_scope="thought")(text)
    assert result.metadata["token_count"] == tokens
    assert result.metadata["analyze_scope"] == "thought"


@pytest.mark.parametrize(
    "text", ["", "a a a a a a", "<think>a a a a", "</think>a<think>", "<think></think>"]
)
def test_without_thinking_there_is_nothing_to_look_at(text):
    result = NgramRepetitionPenalty(analyze_scope="thought")(text)
    assert (result.score, result.reason) == (0, "No thought process found to analyze")


@pytest.mark.parametrize("scope", ["full", "thought"])
def test_a_hostile_megabyte_takes_less_than_seconds(scope):
    for piece in ("<think>", "</think>", "<think>a</think>", "a ", "<think>a b </think> ", "x"):
        start = time.perf_counter()
        NgramRepetitionPenalty(analyze_scope=scope)(piece * (1_000_000 // len(piece)))
        assert time.perf_counter() - start < 3


# --- tiktoken ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiktoken_penalty():
    pytest.importorskip("tiktoken")
    try:
        return NgramRepetitionPenalty(n=1, tokenizer="tiktoken")
    except MissingDependencyError:
        pytest.skip("no vocabulary on this machine")


def test_different_han_characters_are_not_repetitive(tiktoken_penalty):
    assert len(set(HAN)) == len(HAN) == 40
    for encoding in ("cl100k_base", "o200k_base"):
        for n in (2, 3):
            evaluator = NgramRepetitionPenalty(n=n, tokenizer="tiktoken", encoding_name=encoding)
            result = evaluator(HAN)
            assert (result.score, result.metadata["repetition_rate"]) == (0, 0), encoding


@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "a <|endoftext|> b <|fim_prefix|>", "<|im_start|>" * 50]
)
def test_the_names_of_special_tokens_are_text(tiktoken_penalty, text):
    result = tiktoken_penalty(text)
    assert result.metadata["token_count"] > 1


@pytest.mark.parametrize(
    "text", ["", " ", "\ud800 x", "\0", "a" * 300_000, "^" * 300_000, "中" * 100_000, "😀" * 50_000]
)
def test_any_text_can_be_cut_into_tokens(tiktoken_penalty, text):
    start = time.perf_counter()
    assert tiktoken_penalty(text).score <= 0
    assert time.perf_counter() - start < 5


def test_upper_and_lower_case_are_the_same(tiktoken_penalty):
    for evaluator in (tiktoken_penalty, NgramRepetitionPenalty(n=1)):
        assert evaluator("The the THE tHE").metadata["unique_ngrams"] <= 3
        one, other = evaluator("The Cat Sat"), evaluator("the cat sat")
        assert one.metadata == other.metadata


def test_common_ngrams_are_told_as_text(tiktoken_penalty):
    evaluator = NgramRepetitionPenalty(n=2, tokenizer="tiktoken")
    [(ngram, count), *_] = evaluator("hello world hello world hello world").metadata[
        "most_common_ngrams"
    ]
    assert "hello" in ngram
    assert count >= 2
    json.dumps(evaluator("中文中文中文 😀😀😀").metadata)


def in_a_new_process(code, **environment):
    """Run Python code in a process of its own in which any use of the network ends it."""
    guard = (
        "import socket, sys\n"
        "def refuse(*arguments, **options):\n"
        "    print('NETWORK', arguments[:1], flush=True); import os; os._exit(9)\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse\n"
    )
    variables = {
        key: value
        for key, value in os.environ.items()
        if "TIKTOKEN" not in key and key != "DATA_GYM_CACHE_DIR"
    }
    return subprocess.run(
        [sys.executable, "-c", guard + code],
        env={**variables, **environment}, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


CL100K_BASE = hashlib.sha1(
    b"https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
    usedforsecurity=False,
).hexdigest()
"""The name that tiktoken gives the file."""

HIDE = "sys.modules['llama_index'] = sys.modules['litellm'] = None\n"
BUILD = """
from llmeval_integrations import NgramRepetitionPenalty, MissingDependencyError
try:
    print('SCORE', NgramRepetitionPenalty(n=1, tokenizer='tiktoken')('a b a b').score)
except MissingDependencyError as error:
    print('MISSING', error)
"""


def vocabulary():
    """Give the folder in which LlamaIndex brings vocabularies, without importing it."""
    spec = find_spec("llama_index")
    folders = list(spec.submodule_search_locations) if spec else []
    for folder in folders:
        found = pathlib.Path(folder) / "core/_static/tiktoken_cache"
        if found.is_dir():
            return found
    pytest.skip("no vocabulary on this machine")
    return None


def test_the_vocabulary_that_llama_index_brings_is_found_offline_and_without_importing_it(tmp_path):
    pytest.importorskip("tiktoken")
    vocabulary()
    ran = in_a_new_process(
        BUILD
        + "print('IMPORTED', 'llama_index.core' in sys.modules, 'TIKTOKEN_CACHE_DIR' in __import__('os').environ)",
        TMPDIR=str(tmp_path),
    )
    assert "SCORE" in ran.stdout, ran
    assert "IMPORTED False False" in ran.stdout
    assert "NETWORK" not in ran.stdout


def test_without_a_vocabulary_the_error_says_how_to_get_one_and_nothing_is_downloaded(tmp_path):
    pytest.importorskip("tiktoken")
    ran = in_a_new_process(HIDE + BUILD, TIKTOKEN_CACHE_DIR=str(tmp_path), TMPDIR=str(tmp_path))
    assert "MISSING" in ran.stdout, ran
    assert "NETWORK" not in ran.stdout
    assert "TIKTOKEN_CACHE_DIR" in ran.stdout
    assert "llmeval-integrations[llamaindex]" in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_vocabulary_supplied_by_hand_is_used(tmp_path):
    pytest.importorskip("tiktoken")
    name = CL100K_BASE
    (tmp_path / name).write_bytes((vocabulary() / name).read_bytes())
    ran = in_a_new_process(HIDE + BUILD, TIKTOKEN_CACHE_DIR=str(tmp_path))
    assert "SCORE" in ran.stdout, ran


@pytest.mark.parametrize("size", [0, 10, 100_000])
def test_a_vocabulary_that_is_cut_short_is_neither_used_nor_replaced(tmp_path, size):
    pytest.importorskip("tiktoken")
    name = CL100K_BASE
    part = (vocabulary() / name).read_bytes()[:size]
    (tmp_path / name).write_bytes(part)
    ran = in_a_new_process(HIDE + BUILD, TIKTOKEN_CACHE_DIR=str(tmp_path), TMPDIR=str(tmp_path))
    assert "MISSING" in ran.stdout, ran
    assert "NETWORK" not in ran.stdout
    assert (tmp_path / name).read_bytes() == part


def test_an_unknown_vocabulary_is_named():
    pytest.importorskip("tiktoken")
    with pytest.raises(InvalidOptionError, match=r"encoding_name='nonsense'.*cl100k_base"):
        NgramRepetitionPenalty(tokenizer="tiktoken", encoding_name="nonsense")


@pytest.mark.parametrize(("tokenizer", "package"), [("tiktoken", "tiktoken"), ("jieba", "rjieba")])
def test_a_missing_package_says_how_to_install_it(monkeypatch, tokenizer, package):
    monkeypatch.setitem(sys.modules, package, None)
    code = f"sys.modules[{package!r}] = None\nfrom llmeval_integrations import NgramRepetitionPenalty\n"
    ran = in_a_new_process(code + f"NgramRepetitionPenalty(tokenizer={tokenizer!r})")
    assert (
        f"{package} is not installed; run: pip install 'llmeval-integrations[{tokenizer}]'"
        in ran.stderr
    )


# --- jieba ---------------------------------------------------------------------------------------


def test_jieba_cuts_chinese_into_words():
    pytest.importorskip("rjieba")
    text = "我来到北京清华大学。"
    evaluator = NgramRepetitionPenalty(n=1, tokenizer="jieba")
    assert evaluator(text).metadata["token_count"] == 5
    assert evaluator(text * 2).metadata["repetition_rate"] == 0.5
    assert evaluator("Ab ab").metadata["unique_ngrams"] == 3  # case counts
    [(word, count), *_] = evaluator(text * 3).metadata["most_common_ngrams"]
    assert word in text
    assert count == 3


def test_jieba_may_leave_out_all_but_han_characters():
    pytest.importorskip("rjieba")
    evaluator = NgramRepetitionPenalty(n=1, tokenizer="jieba", chinese_only=True)
    assert evaluator("abc 我来到 x 北京 123").metadata == evaluator("我来到北京").metadata
    assert evaluator("abc").metadata["token_count"] == 0


@pytest.mark.parametrize(
    "text", ["", "\ud800", "我\udfff我", "\0", "a" * 100_000, "中" * 100_000, "😀" * 10_000]
)
def test_jieba_takes_any_text(text):
    pytest.importorskip("rjieba")
    assert NgramRepetitionPenalty(tokenizer="jieba")(text).score <= 0


# --- side by side with py-openjudge --------------------------------------------------------------


def texts(count):
    choose = random.Random(8)
    words = [
        "the",
        "cat",
        "Sat",
        "on",
        "a",
        "mat",
        "。",
        "x=1",
        "<think>",
        "</think>",
        "\n",
        "12",
        "é",
    ]
    for _ in range(count):
        few = choose.sample(words, choose.randint(1, len(words)))
        yield " ".join(choose.choice(few) for _ in range(choose.randint(0, 40)))


OPTIONS = [
    {},
    {"n": 1}, {"n": 2, "penalty_threshold": 0.1, "penalty_rate": 2.5}, {"analyze_scope": "thought", "n": 2},
    {"use_soft_penalty": True, "n": 2, "max_penalty": -2.0}, {"use_soft_penalty": True, "n": 1, "min_scaling": 0.123456, "max_penalty": -1.0},
]  # fmt: skip


def side_by_side(tokenizer, options, samples):
    peer = pytest.importorskip("openjudge.graders.format.ngram_repetition_penalty")
    grader = peer.NgramRepetitionPenaltyGrader(tokenizer_type=tokenizer, **options)
    evaluator = NgramRepetitionPenalty(tokenizer=tokenizer, **options)

    async def ask_all():
        return [await grader.aevaluate(response=text) for text in samples]

    for text, theirs in zip(samples, asyncio.run(ask_all())):
        ours = evaluator(text)
        # The rate is 1 - 0.7 there, which is a little more than 3/10, and nothing is -0.0.
        assert ours.score == pytest.approx(theirs.score, abs=1e-12), text
        assert ours.reason == theirs.reason.replace("-0.000", "0.000"), text
        for name in ("repetition_rate", "penalty"):
            if name in theirs.metadata:
                assert ours.metadata[name] == pytest.approx(theirs.metadata[name], abs=1e-12)
        for name in ("unique_ngrams", "total_ngrams", "penalty_mode", "token_count"):
            if name in theirs.metadata:
                assert ours.metadata[name] == theirs.metadata[name], (name, text)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_simple_is_equal_to_openjudge(options):
    side_by_side("simple", options, list(texts(400)))


@pytest.mark.parametrize("options", OPTIONS[:3], ids=str)
def test_tiktoken_is_equal_to_openjudge_on_ascii(monkeypatch, tiktoken_penalty, options):
    # Where a token is a part of a character the peer's decoded tokens are all the same.
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary()))
    side_by_side("tiktoken", options, [text for text in texts(300) if text.isascii()])


def test_where_we_differ_from_openjudge(monkeypatch, tiktoken_penalty):
    peer = pytest.importorskip("openjudge.graders.format.ngram_repetition_penalty")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary()))

    def ask(text, **options):
        grader = peer.NgramRepetitionPenaltyGrader(**options)
        return asyncio.run(grader.aevaluate(response=text))

    # Tokens that are parts of characters, decoded one by one, look all the same.
    rare = "".join(map(chr, range(0x9F00, 0x9F28)))
    assert (
        ask(rare, n=1).metadata["repetition_rate"]
        > tiktoken_penalty(rare).metadata["repetition_rate"]
    )
    # The name of a special token raises.
    with pytest.raises(ValueError, match="special token"):
        ask("<|endoftext|>")
    # At exactly the threshold the ramp jumps.
    options = {"n": 2, "use_soft_penalty": True, "min_scaling": 0.5, "max_penalty": -1.0}
    assert ask("a a a", tokenizer_type="simple", **options).score == -0.5
    assert NgramRepetitionPenalty(**options)("a a a").score == 0
