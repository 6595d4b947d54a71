"""How deep a JSON text is nested, at the speed of the parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

MAX_DEPTH: Final = 900
"""The deepest nesting that is read, whichever Python reads it and from wherever it is called.

Python 3.10 and 3.11 stop at some 990 levels by themselves. Newer ones go on for thousands, where
the validator of schemas overflows the stack, and takes the process with it.
"""

SHORT: Final = 2 * MAX_DEPTH
"""The length up to which nobody has to look how deep a text is nested."""

_LONG: Final = 200_000
"""The length from which a usual document has more brackets than are worth counting."""

_AT_ONCE: Final = 50_000
"""Characters that are copied without new pages of memory, which would take as long as the rest."""

_FEW: Final = 16
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_STRING = re.compile(rb'"[^"]*"')
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1, ord('"'): 0}

_STRETCH: Final = 1_000
"""Brackets that are counted together: in most texts half of them close."""


def is_too_deep(text: str) -> bool:
    """Whether a JSON text is nested deeper than MAX_DEPTH; brackets in strings do not count."""
    levels = MAX_DEPTH + 1
    if len(text) < 2 * levels or (len(text) < _LONG and _has_few_brackets(text, levels)):
        return False
    if "\\" in text and '\\"' in text:  # one character is found ten times as fast as two
        text = text.replace("\\\\", "").replace('\\"', "")
    structure = b"".join(
        text[start : start + _AT_ONCE].encode(errors="replace").translate(None, _NOT_STRUCTURE)
        for start in range(0, len(text), _AT_ONCE)
    )
    brackets = structure.translate(None, b'"')
    if 2 * structure.count(b'""') != len(structure) - len(brackets):  # some are in strings
        brackets = _STRING.sub(b"", structure.replace(b'""', b""))
    return _most_levels(brackets) > MAX_DEPTH and max(_levels(brackets)) > MAX_DEPTH


def _most_levels(brackets: bytes) -> int:
    """Find a number that no level is above, of stretches as wholes."""
    most = level = 0
    for start in range(0, len(brackets), _STRETCH):
        stretch = brackets[start : start + _STRETCH]
        opening = stretch.count(b"[") + stretch.count(b"{")
        most = max(most, level + opening)
        level += opening - stretch.count(b"]") - stretch.count(b"}")
    return most


def _levels(brackets: bytes) -> Iterator[int]:
    return accumulate(map(_STEP.__getitem__, brackets))


def _has_few_brackets(text: str, levels: int) -> bool:
    """Whether fewer containers open than so many levels take."""
    # As many brackets have to close behind the last one that opens.
    end = len(text) - levels + 1
    arrays = _count(text, "[", end)
    # A level takes two characters as an array, and five as an object with another one in it.
    most_objects = (len(text) - 2 * levels) // 3 + 1
    return arrays + most_objects < levels or arrays + _count(text, "{", end) < levels


def _count(text: str, bracket: str, end: int) -> int:
    """Count brackets up to an end; to look for a few is ten times as fast as to count them."""
    found, at = 0, text.find(bracket, 0, end)
    while at >= 0:
        found += 1
        if found == _FEW:
            return found + text.count(bracket, at + 1, end)
        at = text.find(bracket, at + 1, end)
    return found


_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def deepest(text: str, start: int) -> tuple[int, int]:
    """Find how many levels deep a text is nested from `start` on, and the offset where."""
    depth, most, offset = 0, 0, start
    for token in _TOKEN.finditer(text, start):
        bracket = token[0]
        if bracket in ("[", "{"):
            depth += 1
            if depth > most:
                most, offset = depth, token.start()
        elif bracket in ("]", "}"):
            depth -= 1
    return most, offset
