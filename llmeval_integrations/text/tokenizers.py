"""Split a text into tokens, offline."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from llmeval_integrations.core.errors import MissingDependencyError

if TYPE_CHECKING:
    from tiktoken import Encoding

TokenizerName = Literal["simple", "tiktoken", "jieba"]

EncodingName = Literal[
    "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"
]
"""The names of tiktoken's encodings."""

_WIDE_SPACES: Final = (
    "   ",
    *"\t\v\f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000",
    *map(chr, range(0x2000, 0x200B)),
)
"""A text with one of these may have three spaces in a row. Line breaks do not matter."""


class TokenizerError(Exception):
    """A tokenizer cannot split a text."""


class Tokenizer(NamedTuple):
    """Splits a text into tokens, and writes tokens for people."""

    split: Callable[[str], list[Any]]
    join: Callable[[Iterable[Any]], str]


@lru_cache(maxsize=16)
def load_tokenizer(name: str, encoding_name: str, chinese_only: bool) -> Tokenizer:
    """Return a tokenizer; raise MissingDependencyError if its package or vocabulary is missing."""
    if name == "tiktoken":
        return _load_tiktoken(encoding_name)
    if name == "jieba":
        return _load_jieba(chinese_only=chinese_only)
    return Tokenizer(lambda text: text.lower().split(), " ".join)


def _load_tiktoken(encoding_name: str) -> Tokenizer:
    try:
        import tiktoken
    except ImportError as error:
        raise MissingDependencyError.of("tiktoken", "tiktoken") from error
    from pathlib import Path

    given = os.environ.get("TIKTOKEN_CACHE_DIR")
    name, folders = _file_name(encoding_name), (given, bundled_folder(encoding_name))
    folder = next((each for each in folders if each and Path(each, name).is_file()), None)
    if folder is None:
        raise MissingDependencyError(
            f"the vocabulary of {encoding_name!r} is not on this machine, and nothing is "
            "downloaded; set TIKTOKEN_CACHE_DIR to a folder into which tiktoken has put it, or "
            "run: pip install 'llmeval-integrations[llamaindex]', which brings cl100k_base and "
            "o200k_base"
        )
    os.environ["TIKTOKEN_CACHE_DIR"] = folder  # no argument names the folder
    try:
        encoding = tiktoken.get_encoding(encoding_name)
    finally:
        if given is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = given
    quick = _drop_lookahead(encoding)

    def split(text: str) -> list[int]:
        text = text.strip().lower()
        try:  # encode_ordinary: "<|endoftext|>" in an output is ordinary text
            has_wide_space = any(space in text for space in _WIDE_SPACES)
            cutter = encoding if has_wide_space else quick
            tokens: list[int] = cutter.encode_ordinary(text)
        except BaseException as error:
            # A panic of Rust, such as for a million spaces, is no Exception. Its class is private.
            if type(error).__name__ != "PanicException":
                raise
            raise TokenizerError(f"tiktoken cannot split this text into tokens: {error}") from error
        return tokens

    return Tokenizer(split, lambda tokens: encoding.decode(list(tokens)))


def _drop_lookahead(encoding: Encoding) -> Encoding:
    """Return an encoding that is twice as fast, for texts without wide spaces only.

    The pattern that splits texts has a lookahead to find all but the last of several spaces.
    Without it and without possessive quantifiers, an automaton matches the pattern. The quantifiers
    make no difference, since nothing follows that could make them backtrack.
    """
    import tiktoken

    pattern = encoding._pat_str  # noqa: SLF001 - as in tiktoken's README
    pattern = re.sub(r"(?<=[+*?])\+|(?<=[0-9]\})\+", "", pattern)
    for spaces in (r"|\s+$", r"|\s+(?!\S)"):
        pattern = pattern.replace(spaces, "")
    pattern = pattern.removesuffix("+")  # one of two
    # Older vocabularies treat line breaks as spaces, and newer ones are unknown.
    if r"|\s*[\r\n]" not in pattern or not pattern.endswith(r"|\s") or "(?!" in pattern:
        return encoding
    ranks = encoding._mergeable_ranks  # noqa: SLF001
    return tiktoken.Encoding("quick", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def _file_name(encoding_name: str) -> str:
    """Return the name under which tiktoken keeps a vocabulary: a digest of its address."""
    from hashlib import sha1

    shared = {"p50k_edit": "p50k_base", "o200k_harmony": "o200k_base"}
    vocabulary = shared.get(encoding_name, encoding_name)
    address = f"https://openaipublic.blob.core.windows.net/encodings/{vocabulary}.tiktoken"
    return sha1(address.encode(), usedforsecurity=False).hexdigest()


def bundled_folder(encoding_name: str) -> str | None:
    """Return the folder in which LlamaIndex has this vocabulary."""
    from importlib.util import find_spec

    spec = find_spec("llama_index.core") if find_spec("llama_index") else None
    if spec is None or encoding_name not in ("cl100k_base", "o200k_base", "o200k_harmony"):
        return None
    [root] = spec.submodule_search_locations or [""]
    return f"{root}/_static/tiktoken_cache"


def _load_jieba(*, chinese_only: bool) -> Tokenizer:
    try:
        import rjieba
    except ImportError as error:
        raise MissingDependencyError.of("rjieba", "jieba") from error

    def split(text: str) -> list[str]:
        text = text.strip().encode(errors="replace").decode()  # it does not accept lone surrogates
        if chinese_only:
            text = "".join(re.findall("[\u4e00-\u9fff]", text))
        return list(rjieba.cut(text))

    return Tokenizer(split, "".join)
