"""What a JSON Schema says of how values are compared, in its plain keywords."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from llmeval_integrations.fields.rule import FORMATS
from llmeval_integrations.schema_document import SchemaDocument, matches

Part: TypeAlias = Mapping[str, Any]
"""One of the schemas that hold for a place."""

_MOST_PARTS: Final = 64
"""The most schemas of one place that are looked at, since they may contain each other."""

_EXACT_TEXTS: Final = {
    "similarity": None,
    "ignore_case": False,
    "ignore_whitespace": False,
    "normalize_unicode": False,
    "format": None,
    "compare": None,
}
_EXACT_NUMBERS: Final = {
    "tolerance": 0.0,
    "relative_tolerance": None,
    "multiple_of": None,
    "compare": None,
}


def parts_of(schema: Any, document: SchemaDocument) -> tuple[Part, ...]:
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
        waiting.append(document.resolve(part.get("$ref")))
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = part.get(keyword)
            waiting += branches if isinstance(branches, list) else []
        waiting += [part.get("then"), part.get("else")]
    return tuple(found)


def member(parts: tuple[Part, ...], name: str, document: SchemaDocument) -> tuple[Part, ...]:
    """Give the schemas of an object's member."""
    return tuple(each for found in _members(parts, name) for each in parts_of(found, document))


def _members(parts: tuple[Part, ...], name: str) -> Iterator[Any]:
    for part in parts:
        properties, patterns = part.get("properties"), part.get("patternProperties")
        found = []
        if isinstance(properties, Mapping) and name in properties:
            found.append(properties[name])
        if isinstance(patterns, Mapping):
            found += [schema for pattern, schema in patterns.items() if matches(pattern, name)]
        yield from found or [part.get("additionalProperties")]


def names_in(parts: tuple[Part, ...]) -> frozenset[str]:
    """Give the names of the members of which the schemas say something by name."""
    found = [part.get("properties") for part in parts]
    return frozenset(name for names in found if isinstance(names, Mapping) for name in names)


def has_name_patterns(parts: tuple[Part, ...]) -> bool:
    """Whether a member's schema may hang on how its name is written."""
    return any(isinstance(part.get("patternProperties"), Mapping) for part in parts)


def item(parts: tuple[Part, ...], position: int, document: SchemaDocument) -> tuple[Part, ...]:
    """Give the schemas of an array's item."""
    return tuple(each for found in _items(parts, position) for each in parts_of(found, document))


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
    fixed = {type(value) for part in parts for value in _fixed(part)}
    if any(map(_fixes_texts, parts)):
        settings.update(_EXACT_TEXTS)
    for part in parts:
        if part.get("format") in FORMATS and not _fixes_texts(part):
            settings["format"] = settings.get("format") or part["format"]
        if part.get("uniqueItems") is True:
            settings["order"] = "any_order"
        grid = part.get("multipleOf")
        if isinstance(grid, (int, float)) and not isinstance(grid, bool) and grid > 0:
            settings["multiple_of"] = grid
    if fixed & {int, float, Decimal} or ("integer" in types and "number" not in types):
        settings.update(_EXACT_NUMBERS)
    elif "number" in types:
        settings["is_number"] = True
    return settings


def _fixes_texts(part: Part) -> bool:
    """Whether a schema says how texts are written, whatever they mean."""
    return "pattern" in part or any(isinstance(value, str) for value in _fixed(part))


def _types(part: Part) -> list[str]:
    types = part.get("type", [])
    return [
        name for name in (types if isinstance(types, list) else [types]) if isinstance(name, str)
    ]


def _fixed(part: Part) -> list[Any]:
    """Give the values that a schema names."""
    named = part.get("enum")
    values = list(named) if isinstance(named, list) else []
    return [*values, part["const"]] if "const" in part else values
