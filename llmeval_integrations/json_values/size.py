"""Whether a text or a value is within the limits of `core.limits`."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_DIGITS, MAX_NODES

SHORT: Final = min(2 * MAX_DEPTH, MAX_DIGITS)
"""Characters within which no text is too deep and no integer too long."""

LARGE: Final = 2 * MAX_NODES
"""Characters within which no text has too many nodes: each takes one, and a comma or bracket."""

_CONTAINERS: Final = frozenset((dict, list, tuple))
_ROUND_TO_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NO_STRUCTURE: Final = bytes(set(range(256)) - set(b'[]{}"'))
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


def may_be_too_deep(text: str) -> bool:
    """Whether a JSON text may be nested deeper than MAX_DEPTH; its value tells for certain.

    Most texts have too few brackets. Of others a few passes take out the empty pairs.
    """
    if len(text) <= SHORT or text.count("]") + text.count("}") <= MAX_DEPTH:
        return False
    marks = text.encode(errors="replace").translate(_ROUND_TO_SQUARE, _NO_STRUCTURE)
    marks = marks.replace(b'""', b"")
    if '\\"' in text or b'"' in marks:  # a string may have brackets in it
        return True
    for _ in range(_PASSES):  # each takes one level off
        marks = marks.replace(b"[]", b"")
    return len(marks) // 2 + _PASSES > MAX_DEPTH


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
