"""Reading values as the types that a schema asks for. Pure functions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import equal, write_scalar
from llmeval_integrations.json_values.numbers import read_number
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.tool_calls.expected import AnyOf, AnySpelling
from llmeval_integrations.tool_calls.schema_parts import SchemaPart, Types
from llmeval_integrations.tool_calls.schema_walk import types_of

_LITERALS: Final = {"true": True, "false": False, "null": None}


def coerce(value: Any, schema: SchemaPart) -> Any:
    """Return the value of the type that the schema asks for, where it can be read as such.

    A text becomes what it says where the schema allows that type and no text: a number may have a
    plus sign, zeros in front, and no digits on one side of the point, True, False and null may be
    capitalised, objects and arrays are JSON. A number, a boolean may have AnySpelling where only a
    text is allowed. Where an `enum` or a `const` stands without a type, a text that is not among
    its values becomes the one that it says. Members and items likewise. Whatever cannot be read
    stays as it is.
    """
    if isinstance(value, AnyOf):
        return AnyOf([coerce(one, schema) for one in value.values], value.optional)
    types = schema.types
    if isinstance(value, str):
        value = _from_text(value, types) if types else _from_chosen_text(value, schema.allowed)
    elif isinstance(value, (bool, int, float, Decimal)) and types == {"string"}:
        known = [one for one in schema.allowed if isinstance(one, str) and _says(one, value)]
        text = known[0] if known else write_scalar(value)
        return text if len(known) == 1 else AnySpelling(value, text)
    if isinstance(value, dict):
        return {key: coerce(item, schema.member(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [coerce(item, schema.item(n)) for n, item in enumerate(value)]
    return value


def spelled(value: Any, beside: Any) -> Any:
    """Return the text for AnySpelling: the one beside it where that says the same, or its own."""
    if not isinstance(value, AnySpelling):
        return value
    return beside if isinstance(beside, str) and _says(beside, value.value) else value.text


def _says(text: str, value: Any) -> bool:
    """Whether a text says a number or a boolean."""
    kinds = frozenset(("boolean",) if isinstance(value, bool) else ("number",))
    return equal(_from_text(text, kinds), value)


def _from_text(text: str, types: Types) -> Any:
    if "string" in types:
        return text
    value = _said(text.strip())
    return value if not isinstance(value, Defect) and types & types_of(value) else text


def _from_chosen_text(text: str, allowed: list[Any]) -> Any:
    """Read a text where only some values are allowed, of whatever types."""
    if not allowed or text in allowed:
        return text
    value = _said(text.strip())
    return value if any(equal(value, one) for one in allowed) else text


def _said(text: str) -> Any:
    """Return what a text says, or a Defect."""
    if text.lower() in _LITERALS:
        return _LITERALS[text.lower()]
    number = read_number(text)
    return parse(text, "strict") if number is None else number
