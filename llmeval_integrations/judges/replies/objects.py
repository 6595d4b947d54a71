"""Find the JSON objects in a reply, valid or nearly valid."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from llmeval_integrations.json_values.limits import measure

Members: TypeAlias = dict[str, Any]
"""The members of a JSON object."""

_TRIES: Final = 300
"""The most places where an object is looked for; a reply may consist of open braces."""

_OPENING: Final = re.compile(r"\{(?=\s*[\"'}])")


class FoundObject(NamedTuple):
    """An object and its position in the text."""

    start: int
    end: int
    members: Members


@lru_cache(maxsize=512)  # all replies have the same few keys
def plain_name(key: str) -> str:
    """Return a key in lower case, with spaces between its words and no marks around them."""
    return re.sub(r"[\s_-]+", " ", key[:100]).strip(" *:`\"'").casefold()


def as_members(pairs: Sequence[tuple[Any, Any]]) -> Members:
    """Return an object; two different values of a key become a list, so that neither counts."""
    found: Members = {}
    for key, value in pairs:
        name = str(key)
        differs = name in found and found[name] != value
        found[name] = [found[name], value] if differs else value
    return found


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=as_members)


def objects(text: str) -> list[FoundObject]:
    """List the outermost JSON objects of a text, or the one that Python can read.

    Objects beyond the limits of size and depth are omitted: no result could hold them.
    """
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
            if not tries and (whole := _python_object(text)):
                found = [whole]
                break
            continue
        found.append(FoundObject(opening.start(), end, value))
    return [each for each in found if not measure(each.members).limit]


def _python_object(text: str) -> FoundObject | None:
    """Return the object from the first brace to the last, read as Python; None if it is none."""
    start, end = text.find("{"), text.rfind("}") + 1
    piece = re.sub(r"\\(?![\\\"'bfnrtu])", r"\\\\", text[start:end])  # Python warns of these
    try:
        written = json.dumps(ast.literal_eval(piece))
        return FoundObject(start, end, _DECODER.decode(written))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def find(value: Any, fits: Callable[[Members], bool], depth: int = 8) -> list[Members]:
    """List the outermost objects in a value that fit."""
    if isinstance(value, dict):
        if fits(value):
            return [value]
        value = [*value.values()]
    if not isinstance(value, list) or not depth:
        return []
    return [inner for each in value for inner in find(each, fits, depth - 1)]
