"""JSON values: their types, equality, canonical text and size, and pointers to their parts."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

import msgspec

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_DIGITS, MAX_NODES

SCALARS: Final = frozenset((str, int, float, bool, type(None)))
"""The types of scalars."""

CONTAINERS: Final = frozenset((dict, list))
"""The types of objects and arrays."""

TYPES: Final[dict[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
    dict: "object",
    list: "array",
}
"""The JSON types of parsed values."""

_MEASURED: Final = frozenset((dict, list, tuple))

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(decimal_format="number").encode
_encode_sorted = msgspec.json.Encoder(decimal_format="number", order="deterministic").encode

_LARGEST: Final = 10.0**MAX_DIGITS
"""The first float that is not compared with integers."""

# Numbers that have two spellings: 1.0 and 1, 1e16 and 10000000000000000. Two patterns are three
# times as fast as one, as each begins with a fixed character.
_INTEGRAL = re.compile(rb"\.0(?![0-9])").search
_EXPONENT = re.compile(rb"e[0-9]").search


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON.

    `true` is not `1`, `1` is `1.0`, and null is not a missing key. The order of keys does not
    count, the order of items does. NaN, which only lenient parsing accepts, can be equal to itself
    inside an array or object, but never as a whole value, as in Python.
    """
    # Python's == finds all values that are equal as JSON, and too many: True == 1.
    if one != other:
        return False
    return type(one) is str or _encode(one) == _encode(other) or _same_booleans(one, other)


def _same_booleans(one: Any, other: Any) -> bool:
    """Return whether values that Python calls equal have booleans in the same places."""
    if isinstance(one, dict):
        return all(_same_booleans(member, other[name]) for name, member in one.items())
    if isinstance(one, list):
        return all(map(_same_booleans, one, other))
    return isinstance(one, bool) == isinstance(other, bool)


def canonical(value: Any, *, sort_arrays: bool = False) -> str:
    """Write a value so that equal values, and only those, have the same text.

    The text is compact, with keys sorted by code point, no escapes that are not needed, and `1.0`
    as `1`. With `sort_arrays`, every array is sorted too, so that the order of items is ignored.
    """
    kind = type(value)
    if kind is float:
        return _write(value)
    try:
        if kind in SCALARS:
            return _encode(value).decode()
        text = _encode_sorted(value)
    except UnicodeEncodeError:  # a Python string may contain half a surrogate pair
        return _write(value, sort_arrays=sort_arrays)
    if (sort_arrays and b"[" in text) or _INTEGRAL(text) or _EXPONENT(text):
        return _write(value, sort_arrays=sort_arrays)
    if b"null" in text and _decode(text) != value:  # the encoder writes NaN as null
        return _write(value, sort_arrays=sort_arrays)
    return text.decode()


def _write(value: Any, *, sort_arrays: bool = False) -> str:
    """Write a value as the encoder does, with the rules that `canonical` adds."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) < _LARGEST:
            return str(int(value))
        return _encode(value).decode() if math.isfinite(value) else json.dumps(value)
    if isinstance(value, dict):
        members = [
            f"{_write(name)}:{_write(value[name], sort_arrays=sort_arrays)}"
            for name in sorted(value)
        ]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        items = [_write(item, sort_arrays=sort_arrays) for item in value]
        return "[" + ",".join(sorted(items) if sort_arrays else items) + "]"
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value)


def bag(items: list[Any]) -> Counter[str]:
    """Count the items of an array by their canonical text."""
    return Counter(map(canonical, items))


def pointer(path: Iterable[str | int]) -> str:
    """Write a path of keys and positions as a JSON Pointer; the root is the empty text."""
    return "".join(f"/{escape(str(step))}" for step in path)


def escape(name: str) -> str:
    """Write a key as one step of a JSON Pointer."""
    if "~" in name or "/" in name:  # few keys contain either
        return name.replace("~", "~0").replace("/", "~1")
    return name


def read_pointer(text: str) -> list[str]:
    """Return the steps of a JSON Pointer; text before its first slash is ignored."""
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


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
    level = [value] if type(value) in _MEASURED else []
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
                if type(part) in _MEASURED:
                    inner.append(part)  # noqa: PERF401
        level = inner
    return Extent(values, levels, widest, "too_deep" if levels > MAX_DEPTH else None)
