"""When two JSON values are equal, and the one text for all equal ones. Pure functions."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, Final

import msgspec

from llmeval_integrations.core.limits import MAX_DIGITS

SCALARS: Final = frozenset((str, int, float, bool, type(None)))
"""The types of values that have no parts."""

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
"""The first number that no exact integer equals."""

# Numbers that have another spelling: 1.0 and 1, 1e16 and 10000000000000000. Two patterns that
# begin with a letter each are three times faster than one.
_INTEGRAL = re.compile(rb"\.0(?![0-9])").search
_EXPONENT = re.compile(rb"e[0-9]").search


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON.

    `true` is not `1`, `1` is `1.0`, null is not a missing key, objects ignore the order of their
    keys, arrays keep theirs. NaN, which lenient parsing lets in, is NaN within an array or object,
    and not by itself: Python has it so.
    """
    # Python's == says yes too often (True == 1) and never no where JSON says yes.
    if one != other:
        return False
    return _encode(one) == _encode(other) or _same_booleans(one, other)


def identical(one: Any, other: Any) -> bool:
    """Whether two values are equal and written alike: the same order of keys, no 1 for 1.0."""
    return bool(one == other) and _encode(one) == _encode(other)


def _same_booleans(one: Any, other: Any) -> bool:
    """Whether values that are equal to Python have their booleans in the same places."""
    if isinstance(one, dict):
        return all(_same_booleans(member, other[name]) for name, member in one.items())
    if isinstance(one, list):
        return all(map(_same_booleans, one, other))
    return isinstance(one, bool) == isinstance(other, bool)


def canonical(value: Any, *, sort_arrays: bool = False) -> str:
    """Write a value so that equal values, and only those, have the same text.

    Compact, keys sorted by code point, characters unescaped, `1.0` as `1`; with `sort_arrays`
    every array is sorted too, so that texts are equal where values are equal in any order.
    """
    try:
        text = _encode_sorted(value)
    except UnicodeEncodeError:  # a text that is no JSON value may hold half a surrogate pair
        return _write(value, sort_arrays=sort_arrays)
    if (sort_arrays and b"[" in text) or _INTEGRAL(text) or _EXPONENT(text):
        return _write(value, sort_arrays=sort_arrays)
    if b"null" in text and _decode(text) != value:  # the encoder writes NaN as null
        return _write(value, sort_arrays=sort_arrays)
    return text.decode()


def _write(value: Any, *, sort_arrays: bool) -> str:
    """Write one value as the encoder would, but for what `canonical` asks more."""
    if isinstance(value, dict):
        members = [
            f"{write_scalar(name)}:{_write(value[name], sort_arrays=sort_arrays)}"
            for name in sorted(value)
        ]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        items = [_write(item, sort_arrays=sort_arrays) for item in value]
        return "[" + ",".join(sorted(items) if sort_arrays else items) + "]"
    return write_scalar(value)


def bag(items: list[Any]) -> Counter[str]:
    """Count the items of an array by their canonical text."""
    return Counter(map(canonical, items))


def write_scalar(value: Any) -> str:
    """Write a text, number or literal; integral floats as integers."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) < _LARGEST:
            return str(int(value))
        return _encode(value).decode() if math.isfinite(value) else json.dumps(value)
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value)
