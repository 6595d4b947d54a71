"""JSON numbers without loss: what no float and no int of Python's holds is a Decimal."""

from __future__ import annotations

import json
import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Final

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_EXACT: Final = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
_PIECE: Final = 2048  # bits, which are converted at once


def exact_float(text: str) -> float | Decimal:
    """Read a number with a fraction or exponent; beyond a float's range it is a Decimal."""
    number = float(text)
    return exact_decimal(text) if number in (float("inf"), float("-inf")) else number


def exact_int(text: str) -> int | Decimal:
    """Read an integer of any length; Python refuses to convert one of more than 4,300 digits."""
    try:
        return int(text)
    except ValueError:
        return exact_decimal(text)


def exact_decimal(text: str) -> Decimal:
    """Read a number so that those of equal value have the same digits, without zeros at the end."""
    digits = Context(prec=len(text), Emin=MIN_EMIN, Emax=MAX_EMAX)
    return Decimal(text).normalize(digits)


def exact_decimal_of(number: int) -> Decimal:
    """Return an integer as `exact_decimal` reads its text, which Python takes too long to write.

    It is put together from halves: unlike the conversion, multiplying takes hardly longer for a
    digit where there are many.
    """
    powers = [Decimal(1 << _PIECE)]
    while _PIECE << len(powers) < number.bit_length():
        powers.append(_EXACT.multiply(powers[-1], powers[-1]))
    return _put_together(number, powers, len(powers)).normalize(_EXACT)


def _put_together(number: int, powers: list[Decimal], level: int) -> Decimal:
    """Convert an integer of at most `_PIECE << level` bits."""
    if not level:
        return Decimal(number)
    level -= 1
    width = _PIECE << level
    high = number >> width
    low = number - (high << width)
    return _EXACT.fma(
        _put_together(high, powers, level), powers[level], _put_together(low, powers, level)
    )


def read_number(text: str) -> int | float | Decimal | None:
    """Read a number with a plus sign, zeros in front, no digits beside the point; None if none.

    One with an exponent beyond what even a Decimal holds is none either.
    """
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return exact_int(text) if text.lstrip("+-").isdecimal() else exact_float(text)
    except InvalidOperation:
        return None


decode_as_python = json.JSONDecoder(parse_float=exact_float, parse_int=exact_int).decode
"""Reads what `json.loads` reads, NaN and Infinity among it, with exact numbers."""
