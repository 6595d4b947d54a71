"""JSON schemas as the strict mode of OpenAI's structured outputs wants them."""

from __future__ import annotations

from typing import Any, Final

_KEPT: Final = frozenset(
    [
        "type",
        "enum",
        "const",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
        "title",
        "description",
        "required",
        "additionalProperties",
        "$ref",
    ]
)
"""Keywords that strict mode takes and that hold no schema."""

_NAMED: Final = frozenset({"properties", "$defs", "definitions"})
"""Keywords that hold schemas by name."""

_DROPPED: Final = frozenset({"default", "examples", "$schema"})
"""Keywords that it does not take and that allow or forbid no value."""

_KNOWN: Final = _KEPT | _NAMED | _DROPPED | {"items", "anyOf"}

_FORMATS: Final = frozenset(
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]
) | {None}


def strict_schema(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Close all objects and require all of their members; None where strict mode has no such form.

    What fits the new schema fits the old one. Strict mode lacks objects with free keys, `oneOf`,
    `allOf`, lengths of texts, and values of any type.
    """
    try:
        return _strict(schema) if schema.get("type") == "object" else None
    except _NotStrictError:
        return None


class _NotStrictError(Exception):
    """The schema has no form in strict mode."""


def _strict(schema: Any) -> dict[str, Any]:
    if (
        not isinstance(schema, dict)
        or not schema.keys() <= _KNOWN
        or schema.get("format") not in _FORMATS
    ):
        raise _NotStrictError
    strict = {
        keyword: _inside(keyword, value)
        for keyword, value in schema.items()
        if keyword not in _DROPPED
    }
    if "$ref" in strict:  # may have no neighbours
        return {keyword: strict[keyword] for keyword in strict.keys() & {"$ref", "$defs"}}
    kinds = strict.get("type", [])
    if not kinds and not strict.keys() & {"enum", "const", "anyOf"}:
        raise _NotStrictError
    if "array" in kinds and "items" not in strict:
        raise _NotStrictError
    return _closed(strict) if "object" in kinds else strict


def _inside(keyword: str, value: Any) -> Any:
    if keyword in _NAMED:
        return {name: _strict(one) for name, one in value.items()}
    if keyword == "anyOf":
        return [_strict(one) for one in value]
    return _strict(value) if keyword == "items" else value


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    names = [*schema.get("properties", ())]
    is_open = schema.get("additionalProperties", False) is not False
    if is_open or not names or not {*schema.get("required", ())} <= {*names}:
        raise _NotStrictError
    return {**schema, "required": names, "additionalProperties": False}
