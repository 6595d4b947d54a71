"""JSON Pointer (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """Write a path of names and positions as a JSON Pointer; the root is the empty text."""
    return "".join([f"/{escape(step) if isinstance(step, str) else step}" for step in path])


def escape(name: str) -> str:
    """Write a name as one step of a JSON Pointer."""
    if "~" in name or "/" in name:
        return name.replace("~", "~0").replace("/", "~1")
    return name
