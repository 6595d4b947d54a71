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
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_STRING = re.compile(rb'"[^"]*"')
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1, ord('"'): 0}
_SOME: Final = 8
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

    Two quick looks settle usual documents. So many levels open before the deepest place, an object
    with another value in it takes four characters there, and as many levels close behind it.
    """
    if len(text) <= 2 * MAX_DEPTH:
        return False
    arrays = _count_arrays(text)
    deepest_from = 4 * MAX_DEPTH - 3 * arrays
    if arrays + text.count("}", max(deepest_from, 0)) <= MAX_DEPTH:
        return False
    if '\\"' in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    structure = text.encode(errors="replace").translate(None, _NOT_STRUCTURE)
    brackets = _STRING.sub(b"", structure.replace(b'""', b""))
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > MAX_DEPTH


def _count_arrays(text: str) -> int:
    """Count "[": to find the next of a few is quicker than to look at each character."""
    found, at = 0, text.find("[")
    while at >= 0:
        found += 1
        if found == _SOME:
            return found + text.count("[", at + 1)
        at = text.find("[", at + 1)
    return found


def may_have_long_integer(text: str) -> bool:
    """Whether an integer may have more than MAX_DIGITS digits; so many hold three of a sample."""
    return _THREE_DIGITS(text[_STRIDE - 1 :: _STRIDE]) is not None


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
