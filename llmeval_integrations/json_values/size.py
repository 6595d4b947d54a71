"""Whether a text or a value is within the limits of `core.limits`."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any, Final, Literal

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_DIGITS, MAX_NODES

SHORT: Final = min(2 * MAX_DEPTH, MAX_DIGITS)
"""Characters within which no text is too deep and no integer too long."""

LARGE: Final = 2 * MAX_NODES
"""Characters within which no text has too many nodes: each takes one, and a comma or bracket."""

_CONTAINERS: Final = frozenset((dict, list, tuple))
_ROUND_TO_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NOT_STRUCTURE: Final = bytes(set(range(256)) - set(b'[]{}"'))
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_STRING = re.compile(rb'"[^"]*"')
_STEP: Final = {ord("["): 1, ord("]"): -1}
_PASSES: Final = 8
_STRIDE: Final = (MAX_DIGITS + 1) // 3
_THREE_DIGITS = re.compile(r"[0-9]{3}").search
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def measure(value: Any) -> Literal["too_deep", "too_large"] | None:
    """Name the limit that a value exceeds, if any.

    Parts that a value repeats count each time, and no further than to the limit.
    """
    level = [value] if type(value) in _CONTAINERS else []
    nodes = 1
    for _ in range(MAX_DEPTH):
        if not level:
            return None
        nodes += sum(map(len, level))
        if nodes > MAX_NODES:
            return "too_large"
        level = [
            part
            for container in level
            for part in (container.values() if type(container) is dict else container)
            if type(part) in _CONTAINERS
        ]
    return "too_deep" if level else None


def is_too_deep(text: str) -> bool:
    """Whether a JSON text is nested deeper than MAX_DEPTH; brackets in strings do not count.

    Most texts have too few brackets for that. Of the others, a few passes that take out empty
    pairs of brackets leave little or nothing; only the rest is counted bracket by bracket.
    """
    if len(text) <= 2 * MAX_DEPTH:
        return False
    structure = _structure(text)
    if structure.count(b"]") <= MAX_DEPTH:
        return False
    if "\\" in text:
        structure = _structure(_ESCAPE.sub("", text))
    if structure.count(b'"') != 2 * structure.count(b'""'):  # a string has brackets in it
        structure = _STRING.sub(b"", structure.replace(b'""', b""))
    brackets = structure.translate(None, b'"')
    for _ in range(_PASSES):
        brackets = brackets.replace(b"[]", b"")
    # Each pass takes one level off, where there was one.
    depth = max(accumulate(map(_STEP.__getitem__, brackets)), default=-_PASSES)
    return depth + _PASSES > MAX_DEPTH


def _structure(text: str) -> bytes:
    """Return the quotes and brackets of a text, all brackets square."""
    return text.encode(errors="replace").translate(_ROUND_TO_SQUARE, _NOT_STRUCTURE)


def may_have_long_integer(text: str) -> bool:
    """Whether an integer may have more than MAX_DIGITS digits.

    One so long has three neighbours in a sample that takes every 103rd character.
    """
    return _THREE_DIGITS(text[_STRIDE - 1 :: _STRIDE]) is not None


def find_deepest(text: str, start: int) -> tuple[int, int]:
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
