"""When two JSON values are equal, and the one text for all equal ones. Pure functions."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any, Final

import msgspec

SCALARS: Final = frozenset((str, int, float, bool, type(None)))
"""The types of values that have no parts; numbers that are too long for these are Decimals."""

CONTAINERS: Final = frozenset((dict, list))
"""The types of objects and arrays."""

TYPES: Final[dict[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    Decimal: "number",
    type(None): "null",
    dict: "object",
    list: "array",
}
"""The JSON types of parsed values."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(decimal_format="number").encode
_encode_sorted = msgspec.json.Encoder(decimal_format="number", order="deterministic").encode

# Numbers that have another spelling: 1.0 and 1, 1e16 and 10000000000000000, and Decimals.
# Three patterns that begin with a letter each, which is three times faster than one.
_INTEGRAL = re.compile(rb"\.0(?![0-9])").search
_EXPONENT = re.compile(rb"e[0-9]").search
_DECIMAL = re.compile(rb"E\+").search
_LONG_INTEGER = re.compile(rb"[0-9]{310}").search
_LONGEST_FLOAT = 10**309  # what is longer is written with an exponent, or 1e4000 would fill pages


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON.

    `true` is not `1`, `1` is `1.0`, integers are exact at any size and other numbers are IEEE
    doubles as far as these reach, null is not a missing
    key, objects ignore the order of their keys, arrays keep theirs. NaN, which lenient parsing
    lets in, is NaN within an array or object, and not by itself: Python has it so.
    """
    # Python's == says yes too often (True == 1) and never no where JSON says yes.
    if one != other:
        return False
    return written_alike(one, other) or _same_booleans(one, other)


def written_alike(one: Any, other: Any) -> bool:
    """Whether two values that are equal to Python are written alike, and so equal indeed.

    Keys in another order, or `1` and `1.0`, are not.
    """
    try:
        return _encode(one) == _encode(other)
    except (ValueError, OverflowError):
        return False  # lone surrogates, which lenient parsing lets through


def _same_booleans(one: Any, other: Any) -> bool:
    """Whether values that are equal to Python have their booleans in the same places."""
    waiting = [(one, other)]
    while waiting:
        here, there = waiting.pop()
        if isinstance(here, dict):
            waiting.extend((item, there[key]) for key, item in here.items())
        elif isinstance(here, list):
            waiting.extend(zip(here, there))
        elif isinstance(here, bool) != isinstance(there, bool):
            return False
    return True


def equal_in_any_order(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON when every array is a bag of its items."""
    return canonical(one, sort_arrays=True) == canonical(other, sort_arrays=True)


def _has_two_spellings(text: bytes) -> bool:
    return bool(_INTEGRAL(text) or _EXPONENT(text) or _DECIMAL(text) or _LONG_INTEGER(text))


def canonical(value: Any, *, sort_arrays: bool = False) -> str:
    """Write a value so that equal values, and only those, have the same text.

    Compact, keys sorted by code point, characters unescaped, `1.0` as `1`; with `sort_arrays`
    every array is sorted too, so that texts are equal where values are equal in any order.
    """
    text = _encoded(value)
    if text is None or (sort_arrays and "[" in text):
        return _write(value, sort_arrays=sort_arrays)
    return text


def _encoded(value: Any) -> str | None:
    """Let the encoder write, which is quicker; None where it would write something else."""
    try:
        text = _encode_sorted(value)
    except (ValueError, OverflowError):
        return None
    if _has_two_spellings(text):
        return None
    if b"null" in text and _decode(text) != value:
        return None  # it writes NaN and Infinity as null
    return text.decode()


def bag(items: list[Any], *, sort_arrays: bool = False) -> Counter[str]:
    """Count the items of an array by their canonical text."""
    return Counter([canonical(item, sort_arrays=sort_arrays) for item in items])


def _write(value: Any, *, sort_arrays: bool) -> str:
    """Write one value as the encoder would, but for what `canonical` asks more.

    Without recursion: containers are listed from the outside in and written from the inside out.
    """
    if not isinstance(value, (dict, list)):
        return write_scalar(value)
    return written_parts(value, sort_arrays=sort_arrays)[id(value)]


def written_parts(value: Any, *, sort_arrays: bool) -> dict[int, str]:
    """Write a container and each container in it, by their `id`."""
    containers, leaves = [value], set()
    for container in containers:  # which grows meanwhile
        parts = container.values() if isinstance(container, dict) else container
        inner = [part for part in parts if isinstance(part, (dict, list))]
        if not inner and isinstance(container, dict):
            leaves.add(id(container))
        containers.extend(inner)
    written: dict[int, str] = {}

    def text_of(part: Any) -> str:
        return written[id(part)] if isinstance(part, (dict, list)) else write_scalar(part)

    for container in reversed(containers):
        quick = _encoded(container) if id(container) in leaves else None
        if quick is not None:
            written[id(container)] = quick
        elif isinstance(container, dict):
            members = [
                f"{write_scalar(key)}:{text_of(container[key])}" for key in sorted(container)
            ]
            written[id(container)] = "{" + ",".join(members) + "}"
        else:
            items = list(map(text_of, container))
            if sort_arrays:
                items.sort()
            written[id(container)] = "[" + ",".join(items) + "]"
    return written


def write_scalar(value: Any) -> str:
    """Write a text, number or literal; integral floats and Decimals as integers."""
    if isinstance(value, float):
        if value.is_integer():
            return str(int(value))
        return _encode(value).decode() if math.isfinite(value) else json.dumps(value)
    if isinstance(value, Decimal) or (
        type(value) is int and not -_LONGEST_FLOAT < value < _LONGEST_FLOAT
    ):
        value = Decimal(value)
        digits = Context(prec=max(len(value.as_tuple().digits), 1), Emin=MIN_EMIN, Emax=MAX_EMAX)
        value = value.normalize(digits)
        # Not abs(), which raises beyond the exponents of Python's own context.
        short = value == value.to_integral_value() and value.copy_abs() < _LONGEST_FLOAT
        return str(int(value)) if short else str(value)
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value)


def python_canonical(value: Any) -> str:
    """Write a value as LangChain's edit distance does: what `json.dumps` prints, keys sorted.

    Characters beyond ASCII are escaped, which makes one accented letter six characters long,
    and `1.0` is not `1`.
    """
    try:
        return _dumps_sorted(value)
    except TypeError:  # for a Decimal, which json.dumps does not know
        return _dumps_parts(value)


def _dumps_parts(value: Any) -> str:
    if isinstance(value, dict):
        members = [f"{_dumps_sorted(key)}:{_dumps_parts(value[key])}" for key in sorted(value)]
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_dumps_parts, value))}]"
    return write_scalar(value) if isinstance(value, Decimal) else _dumps_sorted(value)


_dumps_sorted = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
