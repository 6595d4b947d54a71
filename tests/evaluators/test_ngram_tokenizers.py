"""The repetition penalty by tokenizer, and beside py-openjudge."""

import asyncio
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
from importlib.util import find_spec

import pytest
from pace import at_most

from llmeval_integrations import InvalidOptionError, MissingDependencyError, NgramRepetitionPenalty

HAN = "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"


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
    with at_most(5):
        assert tiktoken_penalty(text).score <= 0


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
