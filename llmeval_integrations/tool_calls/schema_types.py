"""JSON Schema out of what tool definitions call a schema. Pure functions."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

TYPES: Final[dict[str, str | None]] = {
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "float": "number",
    "double": "number",
    "int": "integer",
    "long": "integer",
    "bool": "boolean",
    "str": "string",
    "none": "null",
    "nonetype": "null",
    "any": None,
    "type_unspecified": None,
}
"""Names of types in lower case, and JSON Schema's name; None where any value will do."""

_COUNTS: Final[dict[str, str]] = {
    "max_items": "maxItems",
    "max_length": "maxLength",
    "max_properties": "maxProperties",
    "min_items": "minItems",
    "min_length": "minLength",
    "min_properties": "minProperties",
}
# As Google's SDK dumps them.
_SNAKE_CASE: Final[dict[str, str]] = {
    "any_of": "anyOf",
    "additional_properties": "additionalProperties",
    "defs": "$defs",
    "ref": "$ref",
    **_COUNTS,
}
_ONE = (
    *("items", "additionalItems", "additionalProperties", "propertyNames", "contains"),
    *("not", "if", "then", "else"),
)
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def as_json_schema(schema: Any, *, is_googles: bool = False) -> Any:
    """Return the JSON Schema that is meant.

    The names of Python's types (TYPES) and those in capitals become JSON Schema's, `nullable`
    adds null, keywords that are null are dropped. Google's schemas, told by a type in capitals or
    `any_of`, and those in them may have keywords in snake case and counts that are texts. Names of
    properties, defaults and enums stay what they are.
    """
    if not isinstance(schema, dict):
        return schema
    # Where each keyword without a value is null.
    dumped = "any_of" in schema or ("ref" in schema and "defs" in schema)
    is_googles = is_googles or dumped or _is_in_capitals(schema.get("type"))
    meant: dict[str, Any] = {}
    for given, value in schema.items():
        if value is None and (dumped or given not in ("default", "const")):
            continue
        key = _SNAKE_CASE[given] if is_googles and given in _SNAKE_CASE else given
        meant[key] = _keyword(key, value, is_googles=is_googles)
    if "type" in meant:
        _set_type(meant, meant.pop("type"))
    if meant.pop("nullable", None) is True:
        return _nullable(meant)
    return meant


def _is_in_capitals(kind: Any) -> bool:
    return isinstance(kind, str) and kind.isupper()


def _keyword(key: str, value: Any, *, is_googles: bool) -> Any:
    inner = partial(as_json_schema, is_googles=is_googles)
    if key in (*_ONE, *_SEVERAL) and isinstance(value, list):  # as items are before 2020
        return list(map(inner, value))
    if key in _ONE:
        return inner(value)
    if key in _NAMED and isinstance(value, dict):
        return {name: inner(part) for name, part in value.items()}
    if is_googles and key in _COUNTS.values() and isinstance(value, str) and value.isdecimal():
        return int(value)  # JSON of Google's has 64 bits as a text
    return value


def _set_type(schema: dict[str, Any], given: Any) -> None:
    """Write the type as JSON Schema does; where any is meant there is none."""
    names = given if isinstance(given, list) else [given]
    types = [_type(name) for name in names]
    if None not in types:
        schema["type"] = types if isinstance(given, list) else types[0]


def _type(name: Any) -> Any:
    if not isinstance(name, str):
        return name
    return TYPES.get(name.lower(), name.lower())


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema:
        return {**schema, "type": [kind, "null"]}
    outside: dict[str, Any] = {
        key: schema.pop(key) for key in ("default", "$defs") if key in schema
    }
    return {**outside, "anyOf": [schema, {"type": "null"}]}
