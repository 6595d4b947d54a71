"""Counts of things of which there may be very many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def count(counts: Counter[Key], key: Key, other: Key, most: int) -> Key:
    """Count a key, or `other` once the counter holds so many keys; return what was counted."""
    if key not in counts and len(counts) >= most:
        key = other
    counts[key] += 1
    return key
