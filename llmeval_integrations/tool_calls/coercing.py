"""Reading values as the types that a schema asks for. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_numbers import read_number
from llmeval_integrations.json_text import parse
from llmeval_integrations.json_value import equal, write_scalar
from llmeval_integrations.tool_calls.expected import AnyOf
from llmeval_integrations.tool_calls.schema_parts import SchemaPart, Types

_LITERALS: Final = {"true": True, "false": False, "null": None}


def coerce(value: Any, schema: SchemaPart, beside: Iterable[Any] = ()) -> Any:
    """Give the value of the type that the schema asks for, where it can be read as such.

    A text becomes what it says where the schema allows that type and no text: a number may have a
    plus sign, zeros in front, and no digits on one side of the point, True, False and null may be
    capitalised, objects and arrays are JSON. A number, a boolean becomes a text where only a text
    is allowed: of the values beside it, with which it is to be compared, the text that says the
    same, or else what JSON writes. Members and items likewise. Whatever cannot be read stays as
    it is.
    """
    if isinstance(value, AnyOf):
        return AnyOf([coerce(one, schema, beside) for one in value.values], value.optional)
    types = schema.types
    if isinstance(value, str):
        value = _from_text(value, types)
    elif isinstance(value, (bool, int, float, Decimal)) and types == {"string"}:
        return _as_text(value, beside)
    if isinstance(value, dict):
        others = [one for one in _choices(beside) if isinstance(one, dict)]
        return {
            key: coerce(item, schema.member(key), [one[key] for one in others if key in one])
            for key, item in value.items()
        }
    if isinstance(value, list):
        lists = [one for one in _choices(beside) if isinstance(one, list)]
        if schema.unordered:
            anywhere = [item for one in lists for item in one]
            return [coerce(item, schema.item(n), anywhere) for n, item in enumerate(value)]
        return [
            coerce(item, schema.item(n), [one[n] for one in lists if n < len(one)])
            for n, item in enumerate(value)
        ]
    return value


def _choices(values: Iterable[Any]) -> Iterator[Any]:
    """Give values, and of those for which there is a choice the accepted ones."""
    for value in values:
        if isinstance(value, AnyOf):
            yield from _choices(value.values)
        else:
            yield value


def _as_text(value: Any, beside: Iterable[Any]) -> str:
    kinds = frozenset(("boolean",) if isinstance(value, bool) else ("number",))
    for text in _choices(beside):
        if isinstance(text, str) and equal(_from_text(text, kinds), value):
            return text
    return write_scalar(value)


def _from_text(text: str, types: Types) -> Any:
    if not types or "string" in types:
        return text
    value = _said(text.strip())
    return value if not isinstance(value, Defect) and types & _types(value) else text


def _said(text: str) -> Any:
    """Give what a text says, or a Defect."""
    if text.lower() in _LITERALS:
        return _LITERALS[text.lower()]
    number = read_number(text)
    return parse(text, "strict") if number is None else number


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
