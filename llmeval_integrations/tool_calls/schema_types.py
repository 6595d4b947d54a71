"""JSON Schema out of what tool definitions call a schema."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.schemas.document import NAMED

_TYPES: Final[dict[str, str | None]] = {
    **dict.fromkeys(("dict", "map"), "object"),
    **dict.fromkeys(("list", "tuple", "set"), "array"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("int", "long"), "integer"),
    **dict.fromkeys(("none", "nonetype"), "null"),
    **dict.fromkeys(("any", "type_unspecified"), None),  # any value will do
    "bool": "boolean",
    "str": "string",
}
_COUNTS: Final = {
    f"{side}_{what.lower()}": f"{side}{what}"
    for side in ("max", "min")
    for what in ("Items", "Length", "Properties")
}
# As Google's SDK dumps them.
_SNAKE_CASE: Final = {
    **_COUNTS,
    "any_of": "anyOf",
    "additional_properties": "additionalProperties",
    "defs": "$defs",
    "ref": "$ref",
}
_SCHEMAS: Final = frozenset(
    [
        *("items", "additionalItems", "additionalProperties", "propertyNames", "contains", "not"),
        *("if", "then", "else", "anyOf", "oneOf", "allOf", "prefixItems"),
    ]
)


def convert_schema(schema: Any, *, is_googles: bool = False) -> Any:
    """Return a schema as JSON Schema writes it.

    The names of Python's types and those in capitals become JSON Schema's, `nullable` adds null,
    keywords that are null are dropped. Google's schemas, known by a type in capitals or `any_of`,
    and those in them may have keywords in snake case and counts that are texts. Names of
    properties, defaults and enums stay as they are.
    """
    if isinstance(schema, list):  # as items are before 2020
        return [convert_schema(one, is_googles=is_googles) for one in schema]
    if not isinstance(schema, dict):
        return schema
    # Where each keyword without a value is null.
    is_dumped = "any_of" in schema or ("ref" in schema and "defs" in schema)
    kind = schema.get("type")
    is_googles = is_googles or is_dumped or (isinstance(kind, str) and kind.isupper())
    found: dict[str, Any] = {}
    given: str
    for given, value in schema.items():
        if value is None and (is_dumped or given not in ("default", "const")):
            continue
        key: str = _SNAKE_CASE.get(given, given) if is_googles else given
        if key in NAMED and isinstance(value, dict):
            found[key] = {
                name: convert_schema(part, is_googles=is_googles) for name, part in value.items()
            }
        elif key in _SCHEMAS:
            found[key] = convert_schema(value, is_googles=is_googles)
        elif is_googles and key in _COUNTS.values() and str(value).isdecimal():
            found[key] = int(value)  # JSON of Google's has 64 bits as a text
        else:
            found[key] = value
    return _convert_type(found)


def _convert_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Write the type as JSON Schema does; where any value will do there is none."""
    given = schema.pop("type", [])
    names = given if isinstance(given, list) else [given]
    types = [
        _TYPES.get(name.lower(), name.lower()) if isinstance(name, str) else name for name in names
    ]
    if types and None not in types:
        schema["type"] = types if isinstance(given, list) else types[0]
    if schema.pop("nullable", None) is not True:
        return schema
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    outside: dict[str, Any] = {
        key: schema.pop(key) for key in ("default", "$defs") if key in schema
    }
    return {**outside, "anyOf": [schema, {"type": "null"}]}
