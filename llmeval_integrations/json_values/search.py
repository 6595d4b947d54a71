"""Find what is wrong in a text that Python's parser has parsed: what JSON forbids, and limits."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, Final

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_NODES
from llmeval_integrations.json_values.defects import DEFECTS, Defect, locate
from llmeval_integrations.json_values.values import measure, read_number

SAFE_LENGTH: Final = 2 * MAX_NODES
"""The longest text that cannot have too many values: each takes one character, and another one for
a comma or bracket."""

# Without the look-behind, each quote after a backslash outside a string would start a new search.
_STRING = r'"(?<!\\")[^"\\]*(?:\\.[^"\\]*)*"'
_EXTENSIONS = {
    "nan_or_infinity": re.compile(_STRING + r"|(-?Infinity|NaN)", re.DOTALL),
    "lone_surrogate": re.compile(
        r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
        r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff])|\\.",
        re.DOTALL,
    ),
    "number_out_of_range": re.compile(
        _STRING + r"|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)", re.DOTALL
    ),
}
_MESSAGES = {
    "nan_or_infinity": "{} is not JSON",
    "lone_surrogate": "Lone surrogate",
    "number_out_of_range": "Number out of range",
}
STRUCTURE: Final = re.compile(r'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*(")?', re.DOTALL)
"""Brackets and strings. A string whose end is missing ends with the text, and has no group."""

_COLON = re.compile(r"[ \t\n\r]*:")


def find_extension(text: str, start: int = 0, *, nan: bool = False) -> Defect | None:
    """Locate the first NaN, else lone surrogate, else number out of range; `nan` allows NaN."""
    for name, pattern in _EXTENSIONS.items():
        if nan and name == "nan_or_infinity":
            continue
        is_number = name == "number_out_of_range"
        for found in pattern.finditer(text, start):
            if found[1] and not (is_number and read_number(found[1]) is not None):
                message = _MESSAGES[name].format(found[1])
                return locate(text, name, message, found.start(), is_json=is_number)
    return None


def _count_names(pairs: list[tuple[str, Any]]) -> int:
    if len(dict(pairs)) != len(pairs):
        raise KeyError
    return len(pairs)


_check_names = json.JSONDecoder(object_pairs_hook=_count_names).decode


def find_duplicate_key(text: str) -> Defect | None:
    """Locate the first key that its object already has."""
    with suppress(KeyError, ValueError, RecursionError):
        _check_names(text)  # six times as fast as the loop, which only finds the place
        return None
    names: list[set[str] | None] = []
    for token in STRUCTURE.finditer(text):
        first = token[0][0]
        if first in "{[":
            names.append(set() if first == "{" else None)
        elif first in "}]":
            names.pop()
        elif names and names[-1] is not None and _COLON.match(text, token.end()):
            name = json.loads(token[0])
            if name in names[-1]:
                return locate(text, "duplicate_key", f"Duplicate key {name!r}", token.start())
            names[-1].add(name)
    return None


def find_limit(text: str, value: Any, start: int = 0) -> Defect | None:
    """Return the limit that a value exceeds; it was parsed from `text[start:]`."""
    if len(text) <= SAFE_LENGTH and text.count("[") + text.count("{") <= MAX_DEPTH:
        return None
    limit = measure(value).limit
    if limit == "too_deep":
        return too_deep(text, start, is_json=True)
    return too_large() if limit else None


def too_deep(text: str, start: int, *, is_json: bool) -> Defect:
    """Return the defect of a text that is too deep, located at its innermost bracket."""
    depth, most, offset = 0, 0, start
    for token in STRUCTURE.finditer(text, start):
        if token[0] in ("[", "{"):
            depth += 1
            if depth > most:
                most, offset = depth, token.start()
        elif token[0] in ("]", "}"):
            depth -= 1
    return locate(text, "too_deep", f"Nested {most} levels deep", offset, is_json=is_json)


def too_large() -> Defect:
    """Return the defect of a text with too many characters or values."""
    return Defect("too_large", f"Expected {DEFECTS['too_large'].replace('more than', 'at most')}")
