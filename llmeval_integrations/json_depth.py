"""How deep a JSON text is nested, at the speed of the parser."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

MAX_DEPTH: Final = 900
"""The deepest nesting that is read, whichever Python reads it and from wherever it is called.

Python 3.10 and 3.11 stop at some 990 levels by themselves. Newer ones go on for thousands, where
the validator of schemas overflows the stack, and takes the process with it.
"""

SHORT: Final = 2 * MAX_DEPTH
"""The length up to which nobody has to look how deep a text is nested."""

_FEW: Final = 16
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_STRING = re.compile(rb'"[^"]*"')
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1, ord('"'): 0}


def is_too_deep(text: str) -> bool:
    """Whether a JSON text is nested deeper than MAX_DEPTH; brackets in strings do not count."""
    levels = MAX_DEPTH + 1
    if len(text) < 2 * levels:
        return False
    # As many brackets have to close behind the last one that opens.
    end = len(text) - levels + 1
    arrays = _count(text, "[", end)
    # A level takes two characters as an array, and five as an object with another one in it.
    most_objects = (len(text) - 2 * levels) // 3 + 1
    if arrays + most_objects < levels or arrays + _count(text, "{", end) < levels:
        return False
    if '\\"' in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    structure = text.encode(errors="replace").translate(None, _NOT_STRUCTURE).replace(b'""', b"")
    if b'"' in structure:
        structure = _STRING.sub(b"", structure)
    # Peeling the innermost pairs off a few times leaves next to nothing of a usual document.
    rest, peeled = structure, 0
    while peeled < 8 and len(rest) > MAX_DEPTH:
        rest = rest.replace(b"[]", b"").replace(b"{}", b"")
        peeled += 1
    if len(rest) <= MAX_DEPTH:
        return False
    return max(accumulate(map(_STEP.__getitem__, structure))) > MAX_DEPTH


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
