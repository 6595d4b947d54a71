"""Check whether a text or a value is within the limits of `core.limits`."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, NamedTuple

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_NODES
from llmeval_integrations.json_values.defects import DEFECTS, Defect, locate

SAFE_LENGTH: Final = 2 * MAX_NODES
"""The longest text that cannot have too many values: each takes one character, and another one for
a comma or bracket."""

_CONTAINERS: Final = frozenset((dict, list, tuple))
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


class Extent(NamedTuple):
    """The size of a value, counted up to the limits. A part that is repeated counts each time."""

    values: int
    """The values in it, and itself."""

    levels: int
    widest: int
    """The members of its largest object."""

    limit: Literal["too_deep", "too_large"] | None = None
    """The limit that the value exceeds, if any."""


def measure(value: Any) -> Extent:
    """Measure a value, level by level."""
    level = [value] if type(value) in _CONTAINERS else []
    values, levels, widest = 1, 0, 0
    while level and levels <= MAX_DEPTH:
        levels += 1
        inner: list[Any] = []
        for container in level:
            parts, size = container, len(container)
            if type(container) is dict:
                parts = container.values()
                if size > widest:  # noqa: PLR1730 - `max` takes a tenth of the time
                    widest = size
            values += size
            if values > MAX_NODES:
                return Extent(values, levels, widest, "too_large")
            # A loop takes half as long as a comprehension for each container.
            for part in parts:
                if type(part) in _CONTAINERS:
                    inner.append(part)  # noqa: PERF401
        level = inner
    return Extent(values, levels, widest, "too_deep" if levels > MAX_DEPTH else None)


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
