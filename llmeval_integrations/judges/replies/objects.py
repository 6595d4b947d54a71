"""The JSON objects in a reply, whole or nearly so."""

from __future__ import annotations

import ast
import json
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

_PATIENCE: Final = 1_000_000
"""Characters that may be read in vain: a reply of open braces costs time that grows with its
square."""

_VAIN: Final = 500
"""What it costs beside them to fail."""

_DEEP: Final = 10_000
"""What a nesting beyond Python's own limit costs."""

_OPENING: Final = re.compile(r"\{(?=\s*[\"}])")

_CAMEL: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[^\W\d_])(?=\d)")
_AROUND: Final = re.compile(
    r"^(?:(?:my|the|final|overall) )+(?=\w)| (?:level|final|score)$|(?<=verdict) \d$"
)
_COMMENT: Final = re.compile(r"/\*.*?\*/|(?<=[\s,{])//[^\n\"]*$", re.DOTALL | re.MULTILINE)
_FOREIGN: Final = re.compile(r"candidate|quot|example|draft|previous|evidence|input")


class Members(dict[str, Any]):
    """An object by the plain names of its keys; two values of the same name are a list."""

    pairs: Sequence[tuple[str, Any]] = ()
    """The keys as they are written, with their values."""


class FoundObject(NamedTuple):
    """An object, and where it stands."""

    start: int
    end: int
    members: Members


@lru_cache(maxsize=512)  # the same few keys come with each reply
def plain_name(key: str) -> str:
    """Write a key in small letters, its words apart, without "final" or "level" around."""
    key = _CAMEL.sub(" ", unicodedata.normalize("NFKC", key[:100]))
    name = re.sub(r"[\s_-]+", " ", key).strip(" *:`\"'").casefold()
    return _AROUND.sub("", name)


def members(pairs: Sequence[tuple[str, Any]]) -> Members:
    """Make an object of its keys and values."""
    found = Members()
    found.pairs = pairs
    for key, value in pairs:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(value)  # it would be no JSON in a result
        name = plain_name(str(key))
        if name in found and _folded(found[name]) != _folded(value):
            value = [found[name], value]  # noqa: PLW2901 - neither counts
        found[name] = value
    return found


def _folded(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=members)


def objects(text: str) -> list[FoundObject]:
    """List the outermost JSON objects of a text."""
    found: list[FoundObject] = []
    patience, end = _PATIENCE, 0
    while patience > 0 and (opening := _OPENING.search(text, end)):
        start = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
            found.append(FoundObject(start, end, value))
        except json.JSONDecodeError as error:
            patience -= _VAIN + error.pos - start + error.pos // 50  # which it counts lines in
            end = start + 1
        except (ValueError, RecursionError):
            patience -= _DEEP
            end = start + 1
    return found


def repair(text: str) -> list[FoundObject]:
    """List what is an object but for a comma, a backslash or quotes as Python has them."""
    start, end = text.find("{"), text.rfind("}") + 1
    if not 0 <= start < end:
        return []
    piece = _COMMENT.sub("", text[start:end])
    piece = re.sub(r",(\s*[}\]])", r"\1", re.sub(r"\\(?![\\\"'bfnrtu])", r"\\\\", piece))
    for parse in (_DECODER.decode, _parse_python):
        try:
            return [FoundObject(start, end, parse(piece))]
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return []


def _parse_python(text: str) -> Members:
    """Read a dict as Python writes it, with the keys that stand twice."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Dict) or None in node.keys:
        raise ValueError(text)
    keys = [ast.literal_eval(key) for key in node.keys if key]
    return members([*zip(keys, map(ast.literal_eval, node.values))])


def find(value: Any, fits: Callable[[Members], bool], depth: int = 8) -> list[Members]:
    """List the outermost objects that fit, in a value or in the text of a call's arguments."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = [found.members for found in objects(value)[:1]]
    if isinstance(value, dict):
        value = as_members(value)
        if fits(value):
            return [value]
        value = [each for name, each in value.items() if not _FOREIGN.search(name)]
    if not isinstance(value, list) or not depth:
        return []
    return [inner for each in value for inner in find(each, fits, depth - 1)]


def original(value: Any) -> Any:
    """Return a value with the keys that the reply has."""
    if isinstance(value, Members):
        return {key: original(each) for key, each in value.pairs}
    return [*map(original, value)] if isinstance(value, list) else value


def as_members(value: dict[Any, Any]) -> Members:
    """Return an object by the plain names of its keys."""
    if isinstance(value, Members):
        return value
    return members([*value.items()])
