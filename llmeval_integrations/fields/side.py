"""Items of an array that are to be paired."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llmeval_integrations.json_values.equality import canonical


class Side(NamedTuple):
    """Items of an array that are to be paired, as what they stand for."""

    items: list[Any]
    """All of the array's."""

    places: list[int]
    """Where those are that are meant, in an order that hangs on nothing but the items."""

    write: Callable[[Any], str] = canonical
    """Writes a value, the same for those that are equal."""

    @classmethod
    def whole(cls, items: list[Any], write: Callable[[Any], str] = canonical) -> Side:
        """Mean all items."""
        return cls(items, [*range(len(items))], write)
