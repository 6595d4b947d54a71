"""Read and write JSON Pointers (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """Write a path of keys and positions as a JSON Pointer; the root is the empty text."""
    return "".join(f"/{escape(str(step))}" for step in path)


def escape(name: str) -> str:
    """Write a key as one step of a JSON Pointer."""
    if "~" in name or "/" in name:  # few keys contain either
        return name.replace("~", "~0").replace("/", "~1")
    return name


def read_pointer(text: str) -> list[str]:
    """Return the steps of a JSON Pointer; text before its first slash is ignored."""
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]
