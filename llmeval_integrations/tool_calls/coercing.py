"""Reading values as the types that a schema asks for. Pure functions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_text import parse
from llmeval_integrations.json_value import write_scalar
from llmeval_integrations.tool_calls.expected import AnyOf
from llmeval_integrations.tool_calls.schema_parts import SchemaPart, Types


def coerce(value: Any, schema: SchemaPart) -> Any:
    """Give the value of the type that the schema asks for, where it can be read as such.

    A text becomes what its JSON says where the schema allows that type and no text; True and
    False may be capitalised. A number, a boolean becomes a text where only a text is allowed.
    Members and items likewise. Whatever cannot be read stays as it is.
    """
    if isinstance(value, AnyOf):
        return AnyOf([coerce(one, schema) for one in value.values], value.optional)
    types = schema.types
    if isinstance(value, str):
        value = _from_text(value, types)
    elif isinstance(value, (bool, int, float, Decimal)) and types == {"string"}:
        return write_scalar(value)
    if isinstance(value, dict):
        return {key: coerce(item, schema.member(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [coerce(item, schema.item(position)) for position, item in enumerate(value)]
    return value


def _from_text(text: str, types: Types) -> Any:
    if not types or "string" in types:
        return text
    value = parse(text.lower() if text in ("True", "False") else text, "strict")
    return value if not isinstance(value, Defect) and types & _types(value) else text


def _types(value: Any) -> set[str]:
    """Give JSON Schema's names for the type of a value."""
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
