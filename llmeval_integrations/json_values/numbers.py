"""JSON numbers: integers exact to 308 digits, fractions as doubles."""

from __future__ import annotations

import json
import math
import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any, Final

import msgspec

from llmeval_integrations.core.limits import MAX_DIGITS

UNREADABLE: Final = (ValueError, RecursionError)
"""What `decode` raises."""

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_STRIDE: Final = (MAX_DIGITS + 1) // 3
_THREE_DIGITS = re.compile(r"[0-9]{3}").search
_LONG_INTEGER = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}").search
_decode = msgspec.json.Decoder().decode


def decode(text: str) -> Any:
    """Read a JSON text fast; one that may have an integer of too many digits is refused."""
    value = _decode(text)
    if len(text) > MAX_DIGITS and has_long_integer(text):
        raise ValueError("an integer has too many digits")
    return value


def has_long_integer(text: str) -> bool:
    """Whether a run of more than MAX_DIGITS digits is in a text.

    It has three neighbours in a sample of every 103rd character, which is quicker to search.
    """
    return bool(_THREE_DIGITS(text[_STRIDE - 1 :: _STRIDE]) and _LONG_INTEGER(text))


def decode_as_python(text: str, *, strict: bool = True) -> Any:
    """Read what `json.loads` reads; a number that is no int or float of Python's is a Decimal.

    So data are kept as they were given. To evaluators such a number is out of range.
    """
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    return (_decode_strictly if strict else _decode_loosely)(text)


def _any_int(text: str) -> int | Decimal:
    try:
        return int(text)
    except ValueError:  # of more than 4,300 digits
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
    """Read a number so that those of equal value have the same digits, without zeros at the end."""
    digits = Context(prec=len(text), Emin=MIN_EMIN, Emax=MAX_EMAX)
    return Decimal(text).normalize(digits)


def read_number(text: str) -> int | float | None:
    """Read a number, also `+1`, `01`, `.5` or `5.`; None where it is none or out of range."""
    if not _NUMBER.fullmatch(text):
        return None
    if text.lstrip("+-").isdecimal():
        return int(text) if len(text.lstrip("+-")) <= MAX_DIGITS else None
    number = float(text)
    return None if math.isinf(number) else number
