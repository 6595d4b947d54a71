"""Cutting a text into tokens, offline."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from llmeval_integrations.core.errors import MissingDependencyError

if TYPE_CHECKING:
    from pathlib import Path

    from tiktoken import Encoding

TOKENIZERS: Final = ("simple", "tiktoken", "jieba")

_WIDE_SPACES: Final = (
    "   ",
    *"\t\v\f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000",
    *map(chr, range(0x2000, 0x200B)),
)
"""One of these is in a text that may have three spaces side by side; line breaks are none."""


class TokenizerError(Exception):
    """A tokenizer cannot cut a text."""


class Tokenizer(NamedTuple):
    """Cuts a text into tokens, and writes tokens for a person."""

    split: Callable[[str], list[Any]]
    join: Callable[[Iterable[Any]], str]


@lru_cache(maxsize=16)
def load_tokenizer(name: str, encoding_name: str, chinese_only: bool) -> Tokenizer:
    """Return a tokenizer; raises MissingDependencyError, or InvalidOptionError for a vocabulary."""
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
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabulary_folder(encoding_name))
    try:  # no argument says where a vocabulary lies, and tiktoken would download it
        encoding = tiktoken.get_encoding(encoding_name)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
    quick = _drop_lookahead(encoding)

    def split(text: str) -> list[int]:
        text = text.strip().lower()
        try:  # encode_ordinary: "<|endoftext|>" in an output is text like any other
            has_wide_space = any(space in text for space in _WIDE_SPACES)
            cutter = encoding if has_wide_space else quick
            tokens: list[int] = cutter.encode_ordinary(text)
        except BaseException as error:
            # A panic of Rust, as on a million spaces, is no Exception; its class is not public.
            if type(error).__name__ != "PanicException":
                raise
            raise TokenizerError(f"tiktoken cannot cut this text into tokens: {error}") from error
        return tokens

    return Tokenizer(split, lambda tokens: encoding.decode(list(tokens)))


def _drop_lookahead(encoding: Encoding) -> Encoding:
    """Make an encoding twice as fast that is good for texts without wide spaces alone.

    All but the last of several spaces are one piece, and to find it the pattern that cuts the
    text looks ahead. One that does not is run by an automaton, if it is also rid of possessive
    quantifiers; here these change nothing, as nothing follows that could make them give back.
    """
    import tiktoken

    pattern = encoding._pat_str  # noqa: SLF001 - tiktoken's README has it so
    pattern = re.sub(r"(?<=[+*?])\+|(?<=[0-9]\})\+", "", pattern)
    for spaces in (r"|\s+$", r"|\s+(?!\S)"):
        pattern = pattern.replace(spaces, "")
    pattern = pattern.removesuffix("+")  # one at a time, of two
    # Older vocabularies take line breaks for spaces; newer ones may be anything.
    if r"|\s*[\r\n]" not in pattern or not pattern.endswith(r"|\s") or "(?!" in pattern:
        return encoding
    ranks = encoding._mergeable_ranks  # noqa: SLF001
    return tiktoken.Encoding("quick", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


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


_BUNDLED: Final = {
    "llama_index": "core/_static/tiktoken_cache",
    "litellm": "litellm_core_utils/tokenizers",
}


def vocabulary_folder(encoding_name: str) -> Path:
    """Find the vocabulary on this machine: tiktoken itself would go and download it.

    LlamaIndex and LiteLLM ship some, and are not imported for it. A file with another content does
    not count: tiktoken would delete it first.
    """
    # hashlib and pathlib are a tenth of what importing the package takes.
    import hashlib
    import tempfile
    from importlib.util import find_spec
    from pathlib import Path

    vocabulary = ENCODINGS[encoding_name]
    address = f"https://openaipublic.blob.core.windows.net/encodings/{vocabulary}.tiktoken"
    name = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    named = (os.environ.get("TIKTOKEN_CACHE_DIR"), os.environ.get("DATA_GYM_CACHE_DIR"))
    folders = [Path(folder) for folder in named if folder]
    folders.append(Path(tempfile.gettempdir()) / "data-gym-cache")
    for package, inside in _BUNDLED.items():
        spec = find_spec(package)
        roots = spec.submodule_search_locations if spec else None
        folders += [Path(root) / inside for root in roots or ()]
    for folder in folders:
        file = folder / name
        if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == _FILES[vocabulary]:
            return folder
    raise MissingDependencyError(
        f"the vocabulary of {encoding_name!r} is not on this machine, and nothing is downloaded; "
        f"put {vocabulary}.tiktoken under the name {name} into a folder and set TIKTOKEN_CACHE_DIR "
        "to it, or run: pip install 'llmeval-integrations[llamaindex]', which brings cl100k_base "
        "and o200k_base"
    )


def _load_jieba(*, chinese_only: bool) -> Tokenizer:
    try:
        import rjieba
    except ImportError as error:
        raise MissingDependencyError.of("rjieba", "jieba") from error

    def split(text: str) -> list[str]:
        text = text.strip().encode(errors="replace").decode()  # it takes no lone surrogates
        if chinese_only:
            text = "".join(re.findall("[\u4e00-\u9fff]", text))
        return list(rjieba.cut(text))

    return Tokenizer(split, "".join)
