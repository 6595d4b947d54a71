"""What stands in a JSON Schema, taken as it comes. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from llmeval_integrations.schemas.document import SchemaDocument, list_of, matches, object_of

MOST: Final = 256
"""How many schemas are looked at for one place; a schema may refer to itself."""

_ALTERNATIVES: Final = ("anyOf", "oneOf")


def declared(part: dict[str, Any], name: str) -> Iterator[Any]:
    """Yield what a schema says of a member, by its name or by a pattern that the name has."""
    properties = object_of(part, "properties")
    if name in properties:
        yield properties[name]
    for pattern, schema in object_of(part, "patternProperties").items():
        if matches(pattern, name):
            yield schema


def together(schemas: Iterable[Any], document: SchemaDocument) -> list[dict[str, Any]]:
    """Return these schemas and those that apply with them."""
    found: dict[int, dict[str, Any]] = {}
    waiting = [part for part in schemas if isinstance(part, dict)]
    while waiting and len(found) < MOST:
        part = waiting.pop()
        if id(part) not in found:
            found[id(part)] = part
            waiting += _beneath(part, document)
    return list(found.values())


def defaults(schemas: Iterable[Any], document: SchemaDocument) -> list[Any]:
    """Return the defaults of these, or of those that apply with one that has none itself."""
    found = []
    seen: set[int] = set()
    waiting = [part for part in schemas if isinstance(part, dict)]
    while waiting and len(seen) < MOST:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if "default" in part:
            found.append(part["default"])
        else:
            waiting += _beneath(part, document)
    return found


def alternatives(parts: Iterable[dict[str, Any]]) -> list[Any]:
    """Return the schemas of which one applies, or some do."""
    return [one for part in parts for key in _ALTERNATIVES for one in list_of(part, key)]


def type_names(part: dict[str, Any]) -> list[str]:
    """Return the names of the types that a schema allows; none where it does not say."""
    kind = part.get("type")
    return [kind] if isinstance(kind, str) else list_of(part, "type")


def types_of(value: Any) -> set[str]:
    """Return JSON Schema's names for the type of a value."""
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, str):
        return {"string"}
    if isinstance(value, (dict, list)):
        return {"object"} if isinstance(value, dict) else {"array"}
    whole = value == value.to_integral_value() if isinstance(value, Decimal) else value % 1 == 0
    return {"number", "integer"} if whole else {"number"}


def _beneath(part: dict[str, Any], document: SchemaDocument) -> list[dict[str, Any]]:
    inner = [*list_of(part, "allOf"), document.resolve(part.get("$ref"))]
    return [one for one in inner if isinstance(one, dict)]
