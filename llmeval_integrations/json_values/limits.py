"""Check whether a text or a value is within the limits of `core.limits`."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, NamedTuple

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_DIGITS, MAX_NODES
from llmeval_integrations.json_values.defects import DEFECTS, Defect, locate

SHORT: Final = min(2 * MAX_DEPTH, MAX_DIGITS)
"""A text of up to so many characters cannot be too deep or have an integer that is too long."""

LARGE: Final = 2 * MAX_NODES
"""A text of up to so many characters cannot have too many values: each takes one character, and
another one for a comma or bracket."""

_CONTAINERS: Final = frozenset((dict, list, tuple))
_ROUND_TO_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NO_STRUCTURE: Final = bytes(set(range(256)) - set(b'[]{}"'))
_PASSES: Final = 8
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


class Extent(NamedTuple):
    """The size of a value, counted up to the limits. A part that is repeated counts each time."""

    values: int
    """The values in it, and itself."""

    levels: int
    widest: int
    """The members of its largest object."""

    @property
    def limit(self) -> Literal["too_deep", "too_large"] | None:
        """The limit that the value exceeds, if any."""
        if self.values > MAX_NODES:
            return "too_large"
        return "too_deep" if self.levels > MAX_DEPTH else None


def measure(value: Any) -> Extent:
    """Measure a value, level by level."""
    level = [value] if type(value) in _CONTAINERS else []
    values, levels, widest = 1, 0, 0
    while level and levels <= MAX_DEPTH:
        levels += 1
        values += sum(map(len, level))
        if values > MAX_NODES:
            break
        inner: list[Any] = []
        for container in level:
            parts = container
            if type(container) is dict:
                widest = max(widest, len(container))
                parts = container.values()
            if not _CONTAINERS.isdisjoint(map(type, parts)):  # most hold scalars alone
                inner += [part for part in parts if type(part) in _CONTAINERS]
        level = inner
    return Extent(values, levels, widest)


def find_limit(text: str, start: int, body: str, value: Any) -> Defect | None:
    """Return the limit that a value exceeds; it was parsed from `body`, at `text[start:]`."""
    if len(body) <= LARGE and not may_be_too_deep(body):
        return None
    limit = measure(value).limit
    if limit == "too_deep":
        return too_deep(text, start, is_json=True)
    return too_large() if limit else None


def may_be_too_deep(text: str) -> bool:
    """Return whether a JSON text may be nested deeper than MAX_DEPTH; its value has to be measured.

    Most texts have too few brackets to be. In the others, all characters but brackets are removed,
    then a few times all empty pairs. The brackets that are left cannot be deeper than half of them.
    """
    if len(text) <= SHORT or text.count("]") + text.count("}") <= MAX_DEPTH:
        return False
    marks = text.encode(errors="replace").translate(_ROUND_TO_SQUARE, _NO_STRUCTURE)
    marks = marks.replace(b'""', b"")
    if '\\"' in text or b'"' in marks:  # a string may have brackets in it
        return True
    for _ in range(_PASSES):  # each removes the innermost level
        marks = marks.replace(b"[]", b"")
    return len(marks) // 2 + _PASSES > MAX_DEPTH


def too_deep(text: str, start: int, *, is_json: bool) -> Defect:
    """Return the defect of a text that is too deep, located at its innermost bracket."""
    depth, most, offset = 0, 0, start
    for token in _TOKEN.finditer(text, start):
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
