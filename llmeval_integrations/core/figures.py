"""Figures with as many digits as a reader needs to tell them from a bound."""

from __future__ import annotations

import math


def format_within(ends: tuple[int, int], value: float, form: str, digits: int) -> str:
    """Write a number so that it is not taken for an end that it has not reached."""
    written = f"{value:.{digits}{form}}"
    while ends[0] < value < ends[1] and float(written) in ends:
        digits += 1
        written = f"{value:.{digits}{form}}"
    return written


def format_figure(value: float) -> str:
    """Write a figure with four digits, or as many as tell it from 0 and 1."""
    return format_within((0, 1), value, "g", 4)


def format_against(bound: float, value: float) -> str:
    """Write on which side of a bound a figure is: "0.26 > 0.25"."""
    digits = 4
    written = f"{value:.{digits}g}"
    while (float(written) < bound, float(written) > bound) != (value < bound, value > bound):
        digits += 1
        written = f"{value:.{digits}g}"
    end = repr(float(bound)).removesuffix(".0")
    return f"{written} {'<' if value < bound else '>'} {end}"


def is_same(a: float, b: float) -> bool:
    """Say whether two figures differ by the rounding of floats at most."""
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
