"""Figures with as many digits as tell them from others that they are not."""

from __future__ import annotations


def apart_from(ends: tuple[int, int], value: float, form: str, digits: int) -> str:
    """Write a number so that it is not taken for an end that it has not reached."""
    written = f"{value:.{digits}{form}}"
    while ends[0] < value < ends[1] and float(written) in ends:
        digits += 1
        written = f"{value:.{digits}{form}}"
    return written


def rounded(value: float) -> str:
    """Write a figure with four digits, or as many as tell it from 0 and 1."""
    return apart_from((0, 1), value, "g", 4)


def below(bound: float, value: float) -> str:
    """Write a figure that is below a bound with four digits, or as many as show that it is."""
    digits = 4
    written = f"{value:.{digits}g}"
    while value < bound <= float(written):
        digits += 1
        written = f"{value:.{digits}g}"
    return written
