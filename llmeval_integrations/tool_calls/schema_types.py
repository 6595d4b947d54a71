"""JSON Schema out of what tool definitions call a schema. Pure functions."""

from __future__ import annotations

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

# As Google's SDK dumps them.
_SNAKE_CASE: Final[dict[str, str]] = {
    "any_of": "anyOf",
    "additional_properties": "additionalProperties",
    "defs": "$defs",
    "max_items": "maxItems",
    "max_length": "maxLength",
    "max_properties": "maxProperties",
    "min_items": "minItems",
    "min_length": "minLength",
    "min_properties": "minProperties",
    "ref": "$ref",
}
_ONE = ("items", "additionalProperties", "not", "contains", "if", "then", "else", "propertyNames")
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def as_json_schema(schema: Any) -> Any:
    """Return the JSON Schema that is meant.

    The names of Python's types (TYPES) and those in capitals become JSON Schema's, `nullable`
    adds null, keywords that are null are dropped, snake case as Google's SDK dumps it becomes
    camel case. Names of properties, defaults and enums stay what they are.
    """
    if not isinstance(schema, dict):
        return schema
    # Where each keyword without a value is null.
    dumped = "any_of" in schema or ("ref" in schema and "defs" in schema)
    meant: dict[str, Any] = {}
    for given, value in schema.items():
        if value is None and (dumped or given not in ("default", "const")):
            continue
        key = _SNAKE_CASE[given] if dumped and given in _SNAKE_CASE else given
        meant[key] = _keyword(key, value)
    if "type" in meant:
        _set_type(meant, meant.pop("type"))
    if meant.pop("nullable", None) is True:
        return _nullable(meant)
    return meant


def _keyword(key: str, value: Any) -> Any:
    if key in _ONE:
        return as_json_schema(value)
    if key in _SEVERAL and isinstance(value, list):
        return [as_json_schema(part) for part in value]
    if key in _NAMED and isinstance(value, dict):
        return {name: as_json_schema(part) for name, part in value.items()}
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
