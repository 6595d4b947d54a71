"""JSON values: types, equality, canonical text, size, pointers to their parts, and numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Annotated, Any, Final, Literal, NamedTuple

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

encode = msgspec.json.Encoder(decimal_format="number").encode
"""Write a value as JSON fast: NaN as null, and keys in their order."""

_decode = msgspec.json.Decoder().decode
_encode_plain = msgspec.json.Encoder().encode
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
    return type(one) is str or encode(one) == encode(other) or _same_booleans(one, other)


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
    try:
        if kind in SCALARS:
            return _write(value) if kind is float else encode(value).decode()
        text = _encode_sorted(value)
    except UnicodeEncodeError:  # a Python string may contain half a surrogate pair
        return _write(value, sort_arrays=sort_arrays)
    if (
        (sort_arrays and b"[" in text)
        or _INTEGRAL(text)
        or _EXPONENT(text)
        or (b"null" in text and _decode(text) != value)  # the encoder writes NaN as null
    ):
        return _write(value, sort_arrays=sort_arrays)
    return text.decode()


def _write(value: Any, *, sort_arrays: bool = False) -> str:
    """Write a value as the encoder does, with the rules that `canonical` adds."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) < _LARGEST:
            return str(int(value))
        return encode(value).decode() if math.isfinite(value) else json.dumps(value)
    if isinstance(value, dict):
        members = [
            f"{canonical(name)}:{_write(value[name], sort_arrays=sort_arrays)}"
            for name in sorted(value)
        ]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        items = [_write(item, sort_arrays=sort_arrays) for item in value]
        return "[" + ",".join(sorted(items) if sort_arrays else items) + "]"
    try:
        return encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value)


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


def count_leaves(value: Any) -> int:
    """Count the leaves of a value; an empty object or array counts as none."""
    if type(value) not in CONTAINERS:
        return 1
    count = len(value)
    for part in value.values() if type(value) is dict else value:
        if type(part) in CONTAINERS:
            count += count_leaves(part) - 1
    return count


# --- the fast parser: integers are exact up to 308 digits, and fractions are doubles --------------

DECODE_ERRORS: Final = (ValueError, RecursionError)
"""What `decode` raises."""

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_STRIDE: Final = (MAX_DIGITS + 1) // 3
_THREE_DIGITS = re.compile(r"[0-9]{3}").search
_LONG_INTEGER = re.compile(rf"(?<![0-9])[0-9]{{{MAX_DIGITS + 1}}}").search


def _small_value(levels: int) -> Any:
    """Return the type of values of up to so many levels in which all integers have 64 bits."""
    integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    scalar: Any = None | bool | integer | float | str
    value = scalar
    for _ in range(levels):
        value = scalar | list[value] | dict[str, value]  # type: ignore[valid-type]
    return value


decode_small = msgspec.json.Decoder(_small_value(levels=6)).decode
"""Parse a JSON text, or raise msgspec.ValidationError if its value is not small.

The parser checks depth and integers at no cost, while counting the brackets and digits of a text
takes half as long as parsing it. Most texts are small.
"""


def decode(text: str | bytes) -> Any:
    """Parse a JSON text fast; refuse one that may contain an integer of too many digits."""
    try:
        return decode_small(text)
    except msgspec.ValidationError:
        value = _decode(text)
    text = text if isinstance(text, str) else text.decode()
    # Every 103rd character is searched first, which is faster: so many digits have three of them.
    if _THREE_DIGITS(text[_STRIDE - 1 :: _STRIDE]) and _LONG_INTEGER(text):
        raise ValueError("an integer has too many digits")
    return value


def copy_plain(value: Any) -> Any:
    """Return a copy of a value of plain JSON, or None if any part of it is not plain.

    NaN, tuples, objects of a library and keys that are not text are not plain. Neither is a value
    beyond the limits.
    """
    if measure(value).limit:
        return None
    try:  # writing and parsing it is faster than copying each part
        copy = decode(_encode_plain(value))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    return copy if copy == value else None


def decode_as_python(text: str, *, strict: bool = True) -> Any:
    """Parse what `json.loads` parses; a number that fits no Python int or float is a Decimal.

    So data can be written again as they were. Evaluators call such a number out of range.
    """
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    return (_decode_strictly if strict else _decode_loosely)(text)


def _any_int(text: str) -> int | Decimal:
    try:
        return int(text)
    except ValueError:  # Python converts at most 4,300 digits
        return exact_decimal(text)


def _any_float(text: str) -> float | Decimal:
    number = float(text)
    try:
        return exact_decimal(text) if math.isinf(number) else number
    except InvalidOperation:  # an exponent of 19 digits
        return number


_decode_strictly, _decode_loosely = (
    json.JSONDecoder(parse_int=_any_int, parse_float=_any_float, strict=strict).decode
    for strict in (True, False)
)


def exact_decimal(text: str) -> Decimal:
    """Return a number's exact value without trailing zeros, so that equal numbers look alike."""
    digits = Context(prec=len(text), Emin=MIN_EMIN, Emax=MAX_EMAX)
    return Decimal(text).normalize(digits)


def read_number(text: str) -> int | float | None:
    """Return a number, also from `+1`, `01`, `.5` or `5.`; None if it is none or out of range."""
    if not _NUMBER.fullmatch(text):
        return None
    if text.lstrip("+-").isdecimal():
        return int(text) if len(text.lstrip("+-")) <= MAX_DIGITS else None
    number = float(text)
    return None if math.isinf(number) else number
