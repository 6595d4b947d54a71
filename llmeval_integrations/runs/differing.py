"""Where two values of JSON differ, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile, zip_longest
from typing import Any, Final

from llmeval_integrations.core.quoting import MOST, quote
from llmeval_integrations.json_values.equality import canonical

_ABSENT: Final = object()
_BEFORE: Final = 20
"""The characters that are shown before the first that differs."""


def differing(place: str, here: Any, there: Any) -> Iterator[str]:
    """Word each difference between two values, with its place; as JSON has it, `true` is not 1."""
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        for key in {**there, **here}:
            yield from differing(f"{place}.{key}", here.get(key, _ABSENT), there.get(key, _ABSENT))
    elif isinstance(here, (list, tuple)) and isinstance(there, (list, tuple)):
        for number, (one, other) in enumerate(zip_longest(here, there, fillvalue=_ABSENT)):
            yield from differing(f"{place}[{number}]", one, other)
    elif not _are_same(here, there):
        now, before = _cut(_text(here), _text(there))
        yield f"{place} is {now}, and was {before}"


def _are_same(here: Any, there: Any) -> bool:
    """Whether two values, not both of them objects or arrays, are the same JSON."""
    if here is _ABSENT or there is _ABSENT or isinstance(here, (Mapping, list, tuple)):
        return here is there
    return not isinstance(there, (Mapping, list)) and canonical(here) == canonical(there)


def _text(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    return repr(value) if isinstance(value, (str, int, float)) else quote(value)


def _cut(one: str, other: str) -> tuple[str, str]:
    """Cut two texts short, so that what is left of them differs."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other)))
    start = max(alike - _BEFORE, 0) if max(len(one), len(other)) > MOST else 0
    return _piece(one, start), _piece(other, start)


def _piece(text: str, start: int) -> str:
    end = start + MOST
    return f"{'...' if start else ''}{text[start:end]}{'...' if len(text) > end else ''}"
