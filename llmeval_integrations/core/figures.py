"""Format figures with enough digits to show on which side of a bound they are."""

from __future__ import annotations

import math


def format_within(ends: tuple[int, int], value: float, form: str, digits: int) -> str:
    """Format a number with more digits if rounding would turn it into one of the ends."""
    written = f"{value:.{digits}{form}}"
    while ends[0] < value < ends[1] and float(written) in ends:
        digits += 1
        written = f"{value:.{digits}{form}}"
    return written


def format_figure(value: float) -> str:
    """Format a figure with four digits, or more if it would be rounded to 0 or 1."""
    return format_within((0, 1), value, "g", 4)


def format_against(bound: float, value: float) -> str:
    """Format a figure beside a bound, as in "0.26 > 0.25"."""
    digits = 4
    written = f"{value:.{digits}g}"
    while (float(written) < bound, float(written) > bound) != (value < bound, value > bound):
        digits += 1
        written = f"{value:.{digits}g}"
    end = repr(float(bound)).removesuffix(".0")
    return f"{written} {'<' if value < bound else '>'} {end}"


def is_same(a: float, b: float) -> bool:
    """Return whether two figures are equal except for rounding."""
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
