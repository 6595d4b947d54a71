"""Writes figures and warnings for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from llmeval_integrations.core.figures import format_figure, format_within

NOTHING: Final = "–"
"""The text of a missing figure."""


def percent(share: float | None) -> str:
    """Write a share with one decimal; with more if it would look like 0 or 100 %."""
    return NOTHING if share is None else f"{_percentage(share)} %"


def percents(interval: Sequence[float] | None) -> str:
    """Write the bounds of an interval of shares; there is none for a single group."""
    return NOTHING if interval is None else " to ".join(map(_percentage, interval)) + " %"


def _percentage(share: float) -> str:
    return format_within((0, 100), 100 * share, "f", 1)


def figure(value: Any) -> str:
    """Write a figure with few digits, and a count with all digits."""
    if value is None:
        return NOTHING
    if isinstance(value, int):
        return f"{value:,}"
    return format_figure(value)


def points(difference: float) -> str:
    """Write a difference of shares in points, with its sign, and one decimal or two digits."""
    size = 100 * abs(difference)
    if size == 0:
        return "±0.0"
    return f"{100 * difference:{'+.1f' if size >= 0.1 else '+.2g'}}"


def write_difference(difference: float) -> str:
    """Write a difference with its sign and three decimals, or two digits if it is small."""
    size = abs(difference)
    if size == 0:
        return "+0.000"
    return f"{difference:{'+.3f' if 0.01 <= size < 100 else '+.4g' if size >= 100 else '+.2g'}}"


def chance(p: float) -> str:
    """Write a probability with four decimals."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def write_count(count: int, noun: str) -> str:
    """Write a count with its noun, which gets a plural s."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def say_once(found: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write each text once, after the names of all evaluators that it is about."""
    names: dict[str, list[str]] = {}
    for name, text in found:
        names.setdefault(text, []).append(name)
    yield from (f"{', '.join(about)}: {text}" for text, about in names.items())
