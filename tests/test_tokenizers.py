"""Cutting a text into tokens, offline; the two optional tokenizers where they are installed."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_strategies import few, seconds

from llmeval_integrations import MissingDependencyError
from llmeval_integrations.tokenizers import ENCODINGS, TOKENIZERS, Tokenizer, load_tokenizer

CL100K = "cl100k_base"


def load(name: str, encoding: str = CL100K, *, chinese_only: bool = False) -> Tokenizer:
    """Load a tokenizer, or skip where its package or vocabulary is not on this machine."""
    if name != "simple":
        pytest.importorskip({"tiktoken": "tiktoken", "jieba": "rjieba"}[name])
    try:
        return load_tokenizer(name, encoding, chinese_only)
    except MissingDependencyError as error:
        pytest.skip(str(error)[:60])


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \n\t", []),
        ("The cat THE Cat", ["the", "cat", "the", "cat"]),
        ("a\u00a0b\u3000c", ["a", "b", "c"]),
        ("it's 1,000.", ["it's", "1,000."]),
        ("世界 世界", ["世界", "世界"]),
    ],
)
def test_the_simple_tokenizer_splits_at_white_space_and_ignores_case(text, tokens):
    simple = load("simple")
    assert list(simple.tokens(text)) == tokens
    assert simple.text(tokens) == " ".join(tokens)


@pytest.mark.parametrize("name", TOKENIZERS)
@few
@given(st.text() | st.text("\ud800\udc00ab 世") | st.just("<|endoftext|>"))
def test_any_text_can_be_cut_and_the_tokens_compared(name, text):
    tokenizer = load(name)
    tokens = tokenizer.tokens(text)
    assert len({*tokens}) <= len(tokens) == len(tokenizer.tokens(text))
    assert isinstance(tokenizer.text(tokens), str)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tiktoken_reads_what_it_wrote_and_special_tokens_as_text(encoding):
    tokenizer = load("tiktoken", encoding)
    for text in ("hello world", "世界 🌍", "<|endoftext|> <|im_start|>"):
        assert tokenizer.text(tokenizer.tokens(f" {text.upper()} ")) == text


@pytest.mark.parametrize(
    ("text", "chinese_only", "tokens"),
    [
        ("我爱北京", False, ["我", "爱", "北京"]),
        (" 我爱北京 ", False, ["我", "爱", "北京"]),
        ("我爱 ABC 北京", True, ["我", "爱", "北京"]),
        ("ABC", True, []),
        ("", False, []),
    ],
)
def test_jieba_cuts_chinese_into_words(text, chinese_only, tokens):
    assert list(load("jieba", chinese_only=chinese_only).tokens(text)) == tokens


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_is_loaded_once(name):
    assert load(name) is load(name)


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", ["word " * 200_000, "a" * 20_000, "世界" * 100_000], ids=len)
def test_long_texts_are_quick(name, text):
    assert seconds(load(name).tokens, text, enough=3) < 3


# --- what is missing, in a process of its own --------------------------------------------------

LOAD = """
import socket, sys
def no_network(*_): raise SystemExit("it reached for the network")
socket.socket.connect = socket.getaddrinfo = no_network
from llmeval_integrations import MissingDependencyError
from llmeval_integrations.tokenizers import load_tokenizer
sys.modules.update(dict.fromkeys({absent}))
try:
    print(len(load_tokenizer({name!r}, {encoding!r}, False).tokens("a b a b")))
except MissingDependencyError as error:
    print(error)
"""


def loaded_apart(
    name: str, encoding: str = CL100K, absent: tuple[str, ...] = (), **environment: str
) -> str:
    code = LOAD.format(name=name, encoding=encoding, absent=absent)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("tiktoken", "tiktoken", "tiktoken"), ("jieba", "rjieba", "jieba")],
)
def test_a_package_that_is_not_installed_is_named(name, package, extra):
    assert loaded_apart(name, absent=(package,)) == (
        f"{package} is not installed; run: pip install 'llmeval-integrations[{extra}]'"
    )


def test_a_vocabulary_that_is_missing_is_not_downloaded_but_asked_for(tmp_path):
    pytest.importorskip("tiktoken")
    said = loaded_apart("tiktoken", "p50k_edit", TIKTOKEN_CACHE_DIR="", TMPDIR=str(tmp_path))
    assert "the vocabulary of 'p50k_edit' is not on this machine, and nothing is downloaded" in said
    assert "put p50k_base.tiktoken under the name " in said
    assert "TIKTOKEN_CACHE_DIR" in said


def test_a_vocabulary_with_another_content_does_not_count_and_is_left_alone(tmp_path):
    pytest.importorskip("tiktoken")
    said = loaded_apart(
        "tiktoken", "r50k_base", TIKTOKEN_CACHE_DIR=str(tmp_path), TMPDIR=str(tmp_path)
    )
    file = tmp_path / said.split(" under the name ")[1].split()[0]
    file.write_bytes(b"IQ== 0\n")
    assert loaded_apart("tiktoken", "r50k_base", TIKTOKEN_CACHE_DIR=str(tmp_path)) == said
    assert file.read_bytes() == b"IQ== 0\n"


def test_the_simple_tokenizer_needs_nothing():
    assert loaded_apart("simple", absent=("tiktoken", "rjieba")) == "4"
