"""Nulls that stand for what is not there."""

from __future__ import annotations

from typing import Any, Final, Literal

Nulls = Literal["values", "absent"]

NULLS: Final = ("values", "absent")


def without_nulls(value: Any) -> Any:
    """Return a value without the members that are null; items of arrays keep their places."""
    if type(value) is dict:
        kept = {name: part for name, part in value.items() if part is not None}
        return dict(zip(kept, map(without_nulls, kept.values())))
    return list(map(without_nulls, value)) if type(value) is list else value
