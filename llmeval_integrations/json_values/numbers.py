"""Parse JSON fast. Integers are exact up to 308 digits, and fractions are doubles."""

from __future__ import annotations

import json
import math
import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Annotated, Any, Final

import msgspec

from llmeval_integrations.core.limits import MAX_DIGITS

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

_decode_any = msgspec.json.Decoder().decode


def decode(text: str) -> Any:
    """Parse a JSON text fast; refuse one that may contain an integer of too many digits."""
    try:
        return decode_small(text)
    except msgspec.ValidationError:
        value = _decode_any(text)
    if _has_long_integer(text):
        raise ValueError("an integer has too many digits")
    return value


def _has_long_integer(text: str) -> bool:
    """Return whether a text contains more than MAX_DIGITS digits in a row.

    Every 103rd character is searched first, which is faster: such a row has three of them.
    """
    return bool(_THREE_DIGITS(text[_STRIDE - 1 :: _STRIDE]) and _LONG_INTEGER(text))


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
