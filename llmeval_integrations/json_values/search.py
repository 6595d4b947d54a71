"""Find what Python's parser accepts although JSON forbids it, in a text that it has parsed."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

from llmeval_integrations.json_values.defects import Defect, locate
from llmeval_integrations.json_values.numbers import read_number

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
_STRUCTURE = re.compile(_STRING + r"|[\[\]{}]", re.DOTALL)
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
    for token in _STRUCTURE.finditer(text):
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
