"""Cutting a text into tokens, offline."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from llmeval_integrations.errors import MissingDependencyError

TOKENIZERS: Final = ("simple", "tiktoken", "jieba")

_HAN = re.compile("[\u4e00-\u9fff]")


class Tokenizer(msgspec.Struct, frozen=True):
    """How a text becomes tokens, and a few tokens a text that a person can read."""

    tokens: Callable[[str], Sequence[Hashable]]
    """Tokens may be anything that can be compared: words, or numbers of a vocabulary."""

    text: Callable[[Sequence[Any]], str]


@lru_cache(maxsize=16)
def load_tokenizer(name: str, encoding_name: str, chinese_only: bool) -> Tokenizer:
    """Give a tokenizer; raises MissingDependencyError, or InvalidOptionError for a vocabulary."""
    if name == "tiktoken":
        return _tiktoken(encoding_name)
    if name == "jieba":
        return _jieba(chinese_only=chinese_only)
    return Tokenizer(lambda text: text.lower().split(), " ".join)


def _tiktoken(encoding_name: str) -> Tokenizer:
    try:
        import tiktoken
    except ImportError as error:
        raise MissingDependencyError.of("tiktoken", "tiktoken") from error
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabulary_folder(encoding_name))
    try:  # the variable is the only way to tell it where to look
        encoding = tiktoken.get_encoding(encoding_name)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
    # encode_ordinary: "<|endoftext|>" in an output is text like any other.
    return Tokenizer(
        lambda text: encoding.encode_ordinary(text.strip().lower()),
        lambda tokens: encoding.decode(list(tokens)),
    )


_FILES: Final = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""The vocabulary files by name, with their SHA-256."""

ENCODINGS: Final = {
    "r50k_base": "r50k_base",
    "p50k_base": "p50k_base",
    "p50k_edit": "p50k_base",
    "cl100k_base": "cl100k_base",
    "o200k_base": "o200k_base",
    "o200k_harmony": "o200k_base",
}
"""What tiktoken can be asked for, and the vocabulary it reads for it."""


def vocabulary_folder(encoding_name: str) -> Path:
    """Find the vocabulary on this machine: tiktoken itself would go and download it.

    A file with another content does not count: tiktoken would delete it first.
    """
    import hashlib
    import tempfile

    vocabulary = ENCODINGS[encoding_name]
    address = f"https://openaipublic.blob.core.windows.net/encodings/{vocabulary}.tiktoken"
    name = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    named = (os.environ.get("TIKTOKEN_CACHE_DIR"), os.environ.get("DATA_GYM_CACHE_DIR"))
    folders = [Path(folder) for folder in named if folder]
    for folder in (*folders, Path(tempfile.gettempdir()) / "data-gym-cache", *_bundled()):
        file = folder / name
        if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == _FILES[vocabulary]:
            return folder
    raise MissingDependencyError(
        f"the vocabulary of {encoding_name!r} is not on this machine, and nothing is downloaded; "
        f"put {vocabulary}.tiktoken under the name {name} into a folder and set TIKTOKEN_CACHE_DIR "
        "to it, or run: pip install 'llmeval-integrations[llamaindex]', which brings cl100k_base "
        "and o200k_base"
    )


def _bundled() -> list[Path]:
    """List where LlamaIndex and LiteLLM ship vocabularies, without importing them."""
    from importlib.util import find_spec

    found = []
    for package, folder in (
        ("llama_index", "core/_static/tiktoken_cache"),
        ("litellm", "litellm_core_utils/tokenizers"),
    ):
        spec = find_spec(package)
        roots = list(spec.submodule_search_locations or ()) if spec else []
        found += [Path(root) / folder for root in roots]
    return found


def _jieba(*, chinese_only: bool) -> Tokenizer:
    try:
        import rjieba
    except ImportError as error:
        raise MissingDependencyError.of("rjieba", "jieba") from error

    def tokens(text: str) -> list[str]:
        text = text.strip().encode(errors="replace").decode()  # it takes no lone surrogates
        return list(rjieba.cut("".join(_HAN.findall(text)) if chinese_only else text))

    return Tokenizer(tokens, "".join)
