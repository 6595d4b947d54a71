"""Cutting a text into tokens, offline; the two optional tokenizers where they are installed."""

import os
import shutil
import subprocess
import sys
from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_strategies import law

from llmeval_integrations import MissingDependencyError
from llmeval_integrations.text.tokenizers import bundled_folder, load_tokenizer

CL100K = "cl100k_base"


def load(encoding=CL100K):
    """Load tiktoken, or skip where the package or its vocabulary is not on this machine."""
    pytest.importorskip("tiktoken")
    try:
        return load_tokenizer("tiktoken", encoding, False)
    except MissingDependencyError as error:
        pytest.skip(str(error)[:60])


@pytest.fixture(scope="module", params=[CL100K, "o200k_base"])
def both(request):
    """Give our tokenizer and what tiktoken itself makes of a text."""
    ours = load(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", bundled_folder(request.param))
        return ours, import_module("tiktoken").get_encoding(request.param).encode_ordinary


PIECES = st.sampled_from(
    [*"aBé中1²_-/.'\x00\x1c\u0301\u200bʰǅßİ😀\ud800", "23", "4567", "'s", "'Ll", "...", "the", "wordless"]
    + [*" \n\r\t\v\x85\xa0\u2003\u3000", "  ", "   ", "\n\n", "\r\n", " \n", "\n  "] * 2
)  # fmt: skip


@law
@given(st.lists(PIECES, max_size=14).map("".join) | st.text())
@example("a  b   c    d")
@example("def f():\n    return  1\n\n\n   # x")
@example('{"a":  [\n   1,\n  2]}')
def test_the_quick_way_gives_the_tokens_of_tiktoken_itself(both, text):
    ours, theirs = both
    assert ours.join(ours.split("<|endoftext|> 世界")) == "<|endoftext|> 世界"
    assert ours.split(text) == theirs(text.strip().lower())


def test_so_it_does_with_spaces_of_every_kind(both):
    ours, theirs = both
    for space in filter(str.isspace, map(chr, range(0x3001))):
        text = f"a{space * 3}b {space} c{space * 4}1{space * 2}2 {space}3{space} -"
        assert ours.split(text) == theirs(text), ascii(space)


# --- what is missing, in a process of its own --------------------------------------------------

LOAD = """
import os, socket, sys
def no_network(*_): raise SystemExit("it reached for the network")
socket.socket.connect = socket.getaddrinfo = no_network
from llmeval_integrations import MissingDependencyError
from llmeval_integrations.text import tokenizers
from llmeval_integrations.text.tokenizers import load_tokenizer
sys.modules.update(dict.fromkeys({absent}))
try:
    print(load_tokenizer({name!r}, {encoding!r}, False).split("a b A b"))
except MissingDependencyError as error:
    print(error)
print("llama_index.core" in sys.modules, os.environ.get("TIKTOKEN_CACHE_DIR"))
"""


def loaded_apart(name, encoding=CL100K, absent=(), **environment):
    command = [sys.executable, "-c", LOAD.format(name=name, encoding=encoding, absent=absent)]
    return subprocess.check_output(command, env={**os.environ, **environment}, text=True).strip()


@pytest.mark.parametrize(
    ("name", "absent", "says"),
    [
        ("simple", ("tiktoken", "rjieba"), "['a', 'b', 'a', 'b']"),
        ("tiktoken", ("tiktoken",), "tiktoken is not installed; run: pip install 'llmeval-integrations[tiktoken]'\n"),
        ("jieba", ("rjieba",), "rjieba is not installed; run: pip install 'llmeval-integrations[jieba]'\n"),
    ],
)  # fmt: skip
def test_a_tokenizer_needs_its_own_package_alone_and_names_it(name, absent, says):
    assert loaded_apart(name, absent=absent).startswith(says)


def test_a_vocabulary_is_not_downloaded_but_asked_for_and_one_supplied_by_hand_is_used(
    tmp_path,
):
    load()
    environment = {"TIKTOKEN_CACHE_DIR": str(tmp_path)}
    said = loaded_apart("tiktoken", "p50k_edit", **environment)
    assert said.startswith(
        "the vocabulary of 'p50k_edit' is not on this machine, and nothing is downloaded"
    )
    assert "set TIKTOKEN_CACHE_DIR to a folder into which tiktoken has put it" in said
    assert loaded_apart("tiktoken").splitlines()[-1] == "False None"  # LlamaIndex's is not imported
    shutil.copytree(bundled_folder(CL100K), tmp_path, dirs_exist_ok=True)
    absent = ("llama_index", "llama_index.core")
    assert loaded_apart("tiktoken", absent=absent, **environment).startswith("[")
