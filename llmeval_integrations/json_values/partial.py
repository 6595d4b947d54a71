"""Completing a JSON text that was cut, in linear time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_BRACKET_OR_STRING = re.compile(r'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*(")?', re.DOTALL)
_TOKEN = re.compile(
    r'[ \t\n\r]*(?:("[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*")'
    r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null|NaN|-?Infinity)"
    r"|([\[\]{}:,]))"
)
_CLOSING = {"{": "}", "[": "]"}


def complete(text: str, loads: Callable[[str], Any]) -> Any:
    """Read a JSON text of which the end may be missing.

    The value is that of the longest beginning which is JSON once the brackets that the whole
    text leaves open are closed: what LangChain's `parse_partial_json` finds by trying every
    beginning. A stray closing bracket gives None, as there. Raises json.JSONDecodeError.
    """
    try:
        return loads(text)
    except json.JSONDecodeError:
        scan = _scan_brackets(text)
        if scan is None:
            return None
        text_closed, closing = scan
        end = _longest_beginning(text_closed, closing)
        if end < 0:
            raise
    return loads(text_closed[:end] + "".join(reversed(closing)))


def _scan_brackets(text: str) -> tuple[str, list[str]] | None:
    """Close an open string and list the brackets that are left open; None where one is stray."""
    closing: list[str] = []
    for token in _BRACKET_OR_STRING.finditer(text):
        mark = token[0][0]
        if mark == '"':
            if token[1] is None:
                return text[: token.end()] + '"', closing
        elif mark in _CLOSING:
            closing.append(_CLOSING[mark])
        elif not closing or closing.pop() != mark:
            return None
    return text, closing


def _longest_beginning(text: str, closing: list[str]) -> int:
    """Find how far the text is JSON with exactly these brackets open; -1 where nowhere.

    Stacks of open brackets get numbers, equal for equal stacks, so that comparing two of
    them costs one step.
    """
    numbers: dict[tuple[int, str], int] = {}

    def number_of(below: int, bracket: str) -> int:
        return numbers.setdefault((below, bracket), len(numbers) + 1)

    wanted = 0
    for bracket in closing:
        wanted = number_of(wanted, bracket)

    opened: list[tuple[int, str]] = [(0, "")]
    best, state, position = -1, "value", 0
    while token := _TOKEN.match(text, position):
        string, atom, mark = token.groups()
        position = token.end()
        top, bracket = opened[-1]
        if string and state in ("key", "first key"):
            state = "colon"
            continue
        if mark == ":" and state == "colon":
            state = "value"
            continue
        if mark == "," and state == "after" and top:
            state = "key" if bracket == "}" else "value"
            continue
        if (string or atom) and state in ("value", "first value"):
            state = "after"
        elif mark in _CLOSING and state in ("value", "first value"):
            opened.append((number_of(top, _CLOSING[mark]), _CLOSING[mark]))
            state = "first key" if mark == "{" else "first value"
        elif mark == bracket and state in ("after", "first key", "first value"):
            opened.pop()
            state = "after"
        else:
            break
        if opened[-1][0] == wanted:
            best = position
    return best
