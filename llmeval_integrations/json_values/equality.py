"""Equality of JSON values, and a canonical text that equal values share."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, Final

import msgspec

from llmeval_integrations.core.limits import MAX_DIGITS

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
