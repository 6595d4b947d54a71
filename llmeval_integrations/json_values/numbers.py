"""JSON numbers: integers exact to 308 digits, fractions as doubles."""

from __future__ import annotations

import json
import math
import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Final

from llmeval_integrations.core.limits import MAX_DIGITS

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class NumberRangeError(ValueError):
    """A number is an integer of too many digits, or beyond the largest double."""


def exact_int(text: str) -> int:
    """Read an integer; raise NumberRangeError where it has too many digits."""
    if len(text) > MAX_DIGITS and len(text.lstrip("+-")) > MAX_DIGITS:
        raise NumberRangeError(text)
    return int(text)


def exact_float(text: str) -> float:
    """Read a number with a fraction or exponent; raise NumberRangeError beyond a double's range."""
    number = float(text)
    if math.isinf(number):
        raise NumberRangeError(text)
    return number


def read_number(text: str) -> int | float | None:
    """Read a number with a plus sign, zeros in front, no digits beside the point; None if none."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return exact_int(text) if text.lstrip("+-").isdecimal() else exact_float(text)
    except NumberRangeError:
        return None


def exact_decimal(text: str) -> Decimal:
    """Read a number so that those of equal value have the same digits, without zeros at the end."""
    digits = Context(prec=len(text), Emin=MIN_EMIN, Emax=MAX_EMAX)
    return Decimal(text).normalize(digits)


def _any_int(text: str) -> int | Decimal:
    try:
        return int(text)
    except ValueError:  # of more than 4,300 digits
        return exact_decimal(text)


def _any_float(text: str) -> float | Decimal:
    number = float(text)
    return exact_decimal(text) if math.isinf(number) else number


decode_as_python = json.JSONDecoder(parse_float=_any_float, parse_int=_any_int).decode
"""Reads what `json.loads` reads; a number that is no int or float of Python's is a Decimal, so that
data are kept as they were given. To evaluators it is out of range."""
