"""JSON Pointer (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """Write a path of names and positions as a JSON Pointer; the root is the empty text."""
    return "".join(f"/{escape(str(step))}" for step in path)


def escape(name: str) -> str:
    """Write a name as one step of a JSON Pointer."""
    if "~" in name or "/" in name:  # few names have either
        return name.replace("~", "~0").replace("/", "~1")
    return name


def read_pointer(text: str) -> list[str]:
    """Read the steps of a JSON Pointer, whatever stands before its first."""
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]
