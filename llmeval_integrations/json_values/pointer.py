"""JSON Pointer (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """Write a path of names and positions as a JSON Pointer; the root is the empty text."""
    steps = list(map(str, path))
    text = "/".join(steps)
    if "~" in text or text.count("/") >= len(steps) > 0:
        text = "/".join(map(escape, steps))
    return f"/{text}" if steps else ""


def escape(name: str) -> str:
    """Write a name as one step of a JSON Pointer."""
    if "~" in name or "/" in name:  # few names have either
        return name.replace("~", "~0").replace("/", "~1")
    return name
