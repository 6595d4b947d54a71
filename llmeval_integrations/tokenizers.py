"""Cutting a text into tokens, offline."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

from llmeval_integrations.errors import InvalidOptionError, MissingDependencyError

TOKENIZERS: Final = ("simple", "tiktoken", "jieba")

_HAN = re.compile("[\u4e00-\u9fff]")


class Tokenizer(msgspec.Struct, frozen=True):
    """How a text becomes tokens, and a few tokens a text that a person can read."""

    tokens: Callable[[str], Sequence[Hashable]]
    """Tokens may be anything that can be compared: words, or numbers of a vocabulary."""

    text: Callable[[Sequence[Any]], str]


@lru_cache(maxsize=16)
def load_tokenizer(name: str, encoding_name: str, chinese_only: bool) -> Tokenizer:  # noqa: FBT001
    """Give a tokenizer; raises MissingDependencyError, or InvalidOptionError for a vocabulary."""
    if name == "tiktoken":
        return _tiktoken(encoding_name)
    if name == "jieba":
        return _jieba(chinese_only=chinese_only)
    return Tokenizer(lambda text: text.lower().split(), " ".join)


def _tiktoken(encoding_name: str) -> Tokenizer:
    try:
        import tiktoken  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingDependencyError.of("tiktoken", "tiktoken") from error
    if encoding_name not in tiktoken.list_encoding_names():
        names = ", ".join(tiktoken.list_encoding_names())
        raise InvalidOptionError(f"encoding_name={encoding_name!r} is not one of {names}")
    folder = _folder_with_vocabulary(encoding_name)
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)  # the only way to tell it where to look
    try:
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


_VOCABULARIES: Final = {
    "o200k_harmony": ("o200k_base.tiktoken",),
    "p50k_edit": ("p50k_base.tiktoken",),
    "gpt2": ("vocab.bpe", "encoder.json"),
}


def _folder_with_vocabulary(encoding_name: str) -> Path:
    """Find the vocabulary on this machine: tiktoken itself would go and download it."""
    base = "https://openaipublic.blob.core.windows.net"
    place = "gpt-2/encodings/main" if encoding_name == "gpt2" else "encodings"
    files = [
        hashlib.sha1(f"{base}/{place}/{name}".encode(), usedforsecurity=False).hexdigest()
        for name in _VOCABULARIES.get(encoding_name, (f"{encoding_name}.tiktoken",))
    ]
    named = (os.environ.get("TIKTOKEN_CACHE_DIR"), os.environ.get("DATA_GYM_CACHE_DIR"))
    folders = [Path(folder) for folder in named if folder]
    folders.append(Path(tempfile.gettempdir()) / "data-gym-cache")
    folders += _bundled()
    for folder in folders:
        if all((folder / name).is_file() for name in files):
            return folder
    raise MissingDependencyError(
        f"the vocabulary of {encoding_name!r} is not on this machine, and nothing is downloaded; "
        f"put {encoding_name}.tiktoken under the name {' and '.join(files)} into a folder and set "
        "TIKTOKEN_CACHE_DIR to it, or run: pip install 'llmeval-integrations[llamaindex]', which "
        "brings cl100k_base and o200k_base"
    )


def _bundled() -> list[Path]:
    """List the folders in which LlamaIndex and LiteLLM ship vocabularies, without importing them."""
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
        import rjieba  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingDependencyError.of("rjieba", "jieba") from error

    def tokens(text: str) -> list[str]:
        text = text.strip()
        return list(rjieba.cut("".join(_HAN.findall(text)) if chinese_only else text))

    return Tokenizer(tokens, "".join)
