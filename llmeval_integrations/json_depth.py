"""How deep a JSON text is nested, at the speed of the parser."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

MAX_DEPTH: Final = 500
"""The deepest nesting that counts as JSON here; RFC 8259 lets an implementation set one.

Python's parsers stop at some 1,000 levels, fewer in a deep stack, more in a newer Python:
a limit of our own makes the answer the same everywhere.
"""

_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_STRING = re.compile(rb'"[^"]*"')
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1, ord('"'): 0}


def nesting(text: str) -> int:
    """Give an upper bound of a JSON text's depth, exact where it is more than MAX_DEPTH.

    Brackets in strings do not count. In a text that is not JSON quotes may pair up wrongly.
    """
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return MAX_DEPTH
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    structure = text.encode(errors="replace").translate(None, _NOT_STRUCTURE).replace(b'""', b"")
    if b'"' in structure:
        structure = _STRING.sub(b"", structure)
    # Peeling the innermost pairs off a few times leaves little of a usual document.
    peeled = 0
    while peeled < 8 and len(structure) > 2 * MAX_DEPTH:
        structure = structure.replace(b"[]", b"").replace(b"{}", b"")
        peeled += 1
    if len(structure) <= 2 * (MAX_DEPTH - peeled):
        return MAX_DEPTH
    return peeled + max(accumulate(map(_STEP.__getitem__, structure)), default=0)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def deepest_allowed(text: str, start: int) -> int:
    """Find the offset of the bracket that goes one level beyond MAX_DEPTH."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        bracket = token[0]
        if bracket in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                return token.start()
        elif bracket in ("]", "}"):
            depth -= 1
    return start
