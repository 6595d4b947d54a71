"""What a JSON Schema says of how values are compared, in its plain keywords."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from llmeval_integrations.fields.rule import FORMATS

Part: TypeAlias = Mapping[str, Any]
"""One of the schemas that hold for a place."""

_MOST_PARTS: Final = 64
"""The most schemas of one place that are looked at, since they may contain each other."""

_PATIENCE: Final = 0.1
"""Seconds that a pattern of names may take."""

_EXACTLY: Final = {
    "similarity": None,
    "ignore_case": False,
    "ignore_whitespace": False,
    "normalize_unicode": False,
}


def parts_of(schema: Any, root: Any) -> tuple[Part, ...]:
    """Give all schemas that hold, or may hold, for the place of this one.

    `$ref`s within the document are followed; what points elsewhere says nothing.
    """
    found: list[Part] = []
    waiting = [schema]
    while waiting and len(found) < _MOST_PARTS:
        part = waiting.pop(0)
        if not isinstance(part, Mapping) or any(part is known for known in found):
            continue
        found.append(part)
        reference = part.get("$ref")
        if isinstance(reference, str):
            waiting.append(_resolved(reference, root))
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = part.get(keyword)
            waiting += branches if isinstance(branches, list) else []
        waiting += [part.get("then"), part.get("else")]
    return tuple(found)


def _resolved(reference: str, root: Any) -> Any:
    if not reference.startswith("#"):
        return None
    found = root
    for step in reference[1:].split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isascii() and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, Mapping):
            found = found.get(name)
        else:
            return None
    return found


def member(parts: tuple[Part, ...], name: str, root: Any) -> tuple[Part, ...]:
    """Give the schemas of an object's member."""
    return tuple(each for found in _members(parts, name) for each in parts_of(found, root))


def _members(parts: tuple[Part, ...], name: str) -> Iterator[Any]:
    for part in parts:
        properties = part.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            yield properties[name]
            continue
        patterns = part.get("patternProperties")
        fitting = [
            schema
            for pattern, schema in (patterns.items() if isinstance(patterns, Mapping) else ())
            if _fits(pattern, name)
        ]
        yield from fitting or [part.get("additionalProperties")]


def _fits(pattern: str, name: str) -> bool:
    """Whether a pattern of names fits; one that is none, or runs on and on, fits nothing."""
    import regex  # 30 ms, and few schemas have such patterns

    try:
        return bool(regex.search(pattern, name, timeout=_PATIENCE))
    except (regex.error, TimeoutError, TypeError):
        return False


def item(parts: tuple[Part, ...], position: int, root: Any) -> tuple[Part, ...]:
    """Give the schemas of an array's item."""
    return tuple(each for found in _items(parts, position) for each in parts_of(found, root))


def _items(parts: tuple[Part, ...], position: int) -> Iterator[Any]:
    for part in parts:
        items = part.get("items")
        first = part.get("prefixItems", items if isinstance(items, list) else [])
        if isinstance(first, list) and position < len(first):
            yield first[position]
        elif isinstance(items, list):
            yield part.get("additionalItems")
        else:
            yield items


def has_positions(parts: tuple[Part, ...]) -> bool:
    """Whether items at different positions may have different schemas."""
    return any(
        isinstance(part.get("prefixItems"), list) or isinstance(part.get("items"), list)
        for part in parts
    )


def settings_of(parts: tuple[Part, ...]) -> dict[str, Any]:
    """Give what the schemas of a place set."""
    settings: dict[str, Any] = {}
    types = {name for part in parts for name in _types(part)}
    for part in parts:
        if part.get("format") in FORMATS:
            settings.setdefault("format", part["format"])
        if "enum" in part or "const" in part or "pattern" in part:
            settings.update(_EXACTLY)
        if part.get("uniqueItems") is True:
            settings["order"] = "any_order"
        grid = part.get("multipleOf")
        if isinstance(grid, (int, float)) and not isinstance(grid, bool) and grid > 0:
            settings["multiple_of"] = grid
    if "number" in types:
        settings["is_number"] = True
    elif "integer" in types:
        settings.update(tolerance=0.0, relative_tolerance=0.0, multiple_of=None)
    return settings


def _types(part: Part) -> list[Any]:
    types = part.get("type", [])
    return types if isinstance(types, list) else [types]
