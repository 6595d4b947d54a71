"""When two JSON values are equal, and the one text for all equal ones. Pure functions."""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Context, Decimal
from typing import Any

import msgspec

_encode = msgspec.json.Encoder(decimal_format="number").encode
_encode_sorted = msgspec.json.Encoder(decimal_format="number", order="deterministic").encode

# Numbers that have another spelling: 1.0 and 1, 1e16 and 10000000000000000, and Decimals.
# Three patterns that begin with a letter each, which is three times faster than one.
_INTEGRAL = re.compile(rb"\.0(?![0-9])").search
_EXPONENT = re.compile(rb"e[0-9]").search
_DECIMAL = re.compile(rb"E\+").search
_LONGEST_FLOAT = 10**309


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON.

    `true` is not `1`, `1` is `1.0`, integers are exact at any size, null is not a missing
    key, objects ignore the order of their keys, arrays keep theirs.
    """
    # Python's == says yes too often (True == 1) and never no where JSON says yes.
    if one != other:
        return False
    try:
        if _encode(one) == _encode(other):
            return True
    except (ValueError, OverflowError):
        pass  # lone surrogates, which lenient parsing lets through
    return _same_booleans(one, other)


def _same_booleans(one: Any, other: Any) -> bool:
    """Whether values that are equal to Python have their booleans in the same places."""
    if isinstance(one, dict):
        return all(_same_booleans(item, other[key]) for key, item in one.items())
    if isinstance(one, list):
        return all(map(_same_booleans, one, other))
    return (one is True or one is False) == (other is True or other is False)


def equal_in_any_order(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON when every array is a bag of its items."""
    return canonical(one, sort_arrays=True) == canonical(other, sort_arrays=True)


def canonical(value: Any, *, sort_arrays: bool = False) -> str:
    """Write a value so that equal values, and only those, have the same text.

    Compact, keys sorted by code point, characters unescaped, `1.0` as `1`; with `sort_arrays`
    every array is sorted too, so that texts are equal where values are equal in any order.
    """
    try:
        text = _encode_sorted(value)
    except (ValueError, OverflowError):
        return _write(value, sort_arrays=sort_arrays)
    if _INTEGRAL(text) or _EXPONENT(text) or _DECIMAL(text) or (sort_arrays and b"[" in text):
        return _write(value, sort_arrays=sort_arrays)
    return text.decode()


def bag(items: list[Any], *, sort_arrays: bool = False) -> Counter[str]:
    """Count the items of an array by their canonical text."""
    return Counter([canonical(item, sort_arrays=sort_arrays) for item in items])


def _write(value: Any, *, sort_arrays: bool) -> str:
    """Write one value, and its parts by `canonical`."""
    if isinstance(value, dict):
        members = [
            f"{canonical(key)}:{canonical(value[key], sort_arrays=sort_arrays)}"
            for key in sorted(value)
        ]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        items = [canonical(item, sort_arrays=sort_arrays) for item in value]
        if sort_arrays:
            items.sort()
        return "[" + ",".join(items) + "]"
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, (float, Decimal)) or (type(value) is int and abs(value) >= _LONGEST_FLOAT):
        return _write_number(value)
    return json.dumps(value)


def _write_text(value: str) -> str:
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value)


def _write_number(value: float | Decimal) -> str:
    """Write a number by its value: integral floats as integers, huge numbers as Decimals."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    exact = Decimal(value)
    digits = Context(prec=max(len(exact.as_tuple().digits), 1), Emin=-(10**18) + 1, Emax=10**18 - 1)
    return str(exact.normalize(digits))


def python_canonical(value: Any) -> str:
    """Write a value as LangChain's edit distance does: what `json.dumps` prints, keys sorted.

    Characters beyond ASCII are escaped, which makes one accented letter six characters long,
    and `1.0` is not `1`.
    """
    return _dumps_sorted(value)


_dumps_sorted = json.JSONEncoder(separators=(",", ":"), sort_keys=True, default=str).encode
