"""Split a text into tokens, offline."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from llmeval_integrations.core.errors import MissingDependencyError

if TYPE_CHECKING:
    from pathlib import Path

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
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabulary_folder(encoding_name))
    try:  # no argument names the folder, and tiktoken would download the file
        encoding = tiktoken.get_encoding(encoding_name)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
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


_FILES: Final = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""The SHA-256 of each vocabulary file."""

_VOCABULARIES: Final[dict[str, str]] = {
    "r50k_base": "r50k_base",
    "p50k_base": "p50k_base",
    "p50k_edit": "p50k_base",
    "cl100k_base": "cl100k_base",
    "o200k_base": "o200k_base",
    "o200k_harmony": "o200k_base",
}
"""The vocabulary of each encoding of tiktoken."""


_BUNDLED: Final = {
    "llama_index": "core/_static/tiktoken_cache",
    "litellm": "litellm_core_utils/tokenizers",
}


def vocabulary_folder(encoding_name: str) -> Path:
    """Return the folder on this machine with the vocabulary, which tiktoken would download.

    LlamaIndex and LiteLLM contain some; they are not imported. A file with another content is
    ignored, since tiktoken would delete it.
    """
    # Importing hashlib and pathlib takes a tenth of the time of importing the package.
    import hashlib
    import tempfile
    from importlib.util import find_spec
    from pathlib import Path

    vocabulary = _VOCABULARIES[encoding_name]
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
        text = text.strip().encode(errors="replace").decode()  # it does not accept lone surrogates
        if chinese_only:
            text = "".join(re.findall("[\u4e00-\u9fff]", text))
        return list(rjieba.cut(text))

    return Tokenizer(split, "".join)
