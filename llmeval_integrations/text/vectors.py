"""How far two vectors are from each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

Vector: TypeAlias = Sequence[float]


def _cosine(one: Vector, other: Vector) -> float:
    """Return 1 less the cosine of the angle, which is a right one where a vector has no length."""
    lengths = math.sqrt(_product(one, one) * _product(other, other))
    return max(0.0, 1 - _product(one, other) / lengths) if lengths else 1.0


def _product(one: Vector, other: Vector) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _manhattan(one: Vector, other: Vector) -> float:
    return math.fsum(abs(a - b) for a, b in zip(one, other, strict=True))


def _chebyshev(one: Vector, other: Vector) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def _hamming(one: Vector, other: Vector) -> float:
    return sum(a != b for a, b in zip(one, other, strict=True)) / len(one)


METRICS: Final[dict[str, Callable[[Vector, Vector], float]]] = {
    "cosine": _cosine,
    "euclidean": math.dist,
    "manhattan": _manhattan,
    "chebyshev": _chebyshev,
    "hamming": _hamming,
}
"""By the names that LangChain has for them."""
