"""Find the JSON objects in a reply, valid or nearly valid."""

from __future__ import annotations

import ast
import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

_TRIES: Final = 300
"""The most places where an object is looked for; a reply may consist of open braces."""

_OPENING: Final = re.compile(r"\{(?=\s*[\"'}])")
_CAMEL: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[^\W\d_])(?=\d)")
_AROUND: Final = re.compile(
    r"^(?:(?:my|the|final|overall) )+(?=\w)| (?:level|final|score)$|(?<=verdict) \d$"
)
_COMMENT: Final = re.compile(r"/\*.*?\*/|(?<=[\s,{])//[^\n\"]*$", re.DOTALL | re.MULTILINE)


class Members(dict[str, Any]):
    """An object by the plain names of its keys; two different values of a name become a list."""

    pairs: Sequence[tuple[str, Any]] = ()
    """The keys as they are written, with their values."""


class FoundObject(NamedTuple):
    """An object and its position in the text."""

    start: int
    end: int
    members: Members


@lru_cache(maxsize=512)  # all replies have the same few keys
def plain_name(key: str) -> str:
    """Write a key in lower case, with its words apart and without "final" or "level"."""
    key = _CAMEL.sub(" ", unicodedata.normalize("NFKC", key[:100]))
    name = re.sub(r"[\s_-]+", " ", key).strip(" *:`\"'").casefold()
    return _AROUND.sub("", name)


def as_members(pairs: Sequence[tuple[Any, Any]]) -> Members:
    """Make an object of its keys and values."""
    found = Members()
    found.pairs = pairs
    for key, value in pairs:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(value)  # a result could not be written as JSON
        name = plain_name(str(key))
        if name in found and str(found[name]).casefold() != str(value).casefold():
            value = [found[name], value]  # noqa: PLW2901 - neither value counts
        found[name] = value
    return found


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=as_members)


def objects(text: str) -> list[FoundObject]:
    """List the outermost JSON objects of a text, or the one that is nearly valid."""
    found: list[FoundObject] = []
    end = 0
    for tries in range(_TRIES):
        opening = _OPENING.search(text, end)
        if not opening:
            break
        end = opening.start() + 1
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            if not tries and (object_ := _repair(text)):
                return [object_]
            continue
        found.append(FoundObject(opening.start(), end, value))
    return found


def _repair(text: str) -> FoundObject | None:
    """Repair extra commas, missing backslashes, comments and Python's quotes."""
    start, end = text.find("{"), text.rfind("}") + 1
    piece = _COMMENT.sub("", text[start:end])
    piece = re.sub(r",(\s*[}\]])", r"\1", re.sub(r"\\(?![\\\"'bfnrtu])", r"\\\\", piece))
    for write in (str, lambda python: json.dumps(ast.literal_eval(python))):
        try:
            return FoundObject(start, end, _DECODER.decode(write(piece)))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def find(value: Any, fits: Callable[[Members], bool], depth: int = 8) -> list[Members]:
    """List the outermost fitting objects in a value or in the text of a call's arguments."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = [found.members for found in objects(value)[:1]]
    if isinstance(value, Mapping):
        members = value if isinstance(value, Members) else as_members([*value.items()])
        if fits(members):
            return [members]
        value = [*members.values()]
    if not isinstance(value, list) or not depth:
        return []
    return [inner for each in value for inner in find(each, fits, depth - 1)]


def restore_keys(value: Any) -> Any:
    """Return a value with the keys as the reply spells them."""
    if isinstance(value, Members):
        return {key: restore_keys(each) for key, each in value.pairs}
    return [*map(restore_keys, value)] if isinstance(value, list) else value
