"""Distances of two vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

Vector: TypeAlias = Sequence[float]


def _cosine(one: Vector, other: Vector) -> float:
    """Return 1 minus the cosine of the angle, or 1 if a vector has no length."""
    lengths = math.sqrt(_product(one, one) * _product(other, other))
    return max(0.0, 1 - _product(one, other) / lengths) if lengths else 1.0


def _product(one: Vector, other: Vector) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _differences(one: Vector, other: Vector) -> list[float]:
    return [abs(a - b) for a, b in zip(one, other, strict=True)]


METRICS: Final[dict[str, Callable[[Vector, Vector], float]]] = {
    "cosine": _cosine,
    "euclidean": math.dist,
    "manhattan": lambda one, other: math.fsum(_differences(one, other)),
    "chebyshev": lambda one, other: max(_differences(one, other)),
    "hamming": lambda one, other: sum(map(bool, _differences(one, other))) / len(one),
}
"""The metrics by LangChain's names."""
