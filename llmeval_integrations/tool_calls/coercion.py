"""What a value says where another type was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import TYPES, equal, write_scalar
from llmeval_integrations.json_values.numbers import read_number
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.matching.node import AnyOf

if TYPE_CHECKING:
    from llmeval_integrations.tool_calls.node import ToolNode

_LITERALS: Final = {"true": True, "false": False, "null": None}


class AnySpelling(msgspec.Struct, frozen=True, eq=False):
    """A number or boolean in place of a text, for which any text will do that says the same."""

    value: Any

    text: str
    """One that will do, and that the schema allows where it names any that will."""

    def spell(self, other: Any) -> str:
        """Return the other value where it is a text that says the same, or the own text."""
        return other if isinstance(other, str) and _is_spelling(other, self.value) else self.text


def coerce(node: ToolNode, value: Any) -> Any:
    """Return the value of the type that the schema asks for, where it can be read as such.

    A text becomes what it says where the schema allows that type and no text, or names it by
    `enum` or `const` without a type. A number or boolean may have any spelling where only a text
    is allowed. Members and items likewise. Whatever cannot be read stays as it is.
    """
    if isinstance(value, AnyOf):
        return AnyOf(tuple(coerce(node, one) for one in value.values), value.optional)
    if isinstance(value, str):
        value = _coerce_text(node, value)
    elif isinstance(value, (bool, int, float)) and node.types == {"string"}:
        texts = [one for one in node.allowed if isinstance(one, str)]
        known = [one for one in texts if _is_spelling(one, value)]
        text = known[0] if known else write_scalar(value)
        return text if len(known) == 1 else AnySpelling(value, text)
    if isinstance(value, dict):
        return {key: coerce(node.member(key), item) for key, item in value.items()}
    if isinstance(value, list):
        return [coerce(node.item(n), item) for n, item in enumerate(value)]
    return value


def _coerce_text(node: ToolNode, text: str) -> Any:
    if "string" in node.types or not (node.types or node.allowed) or text in node.allowed:
        return text
    value = _read_text(text)
    if isinstance(value, Defect):
        return text
    if node.types:
        return value if node.types & list_types(value) else text
    return value if any(equal(value, one) for one in node.allowed) else text


def _read_text(text: str) -> Any:
    """Return the literal, number or JSON value that a text says, or a Defect.

    A number may have a plus sign, zeros in front, and no digits on one side of the point.
    """
    text = text.strip()
    if text.lower() in _LITERALS:
        return _LITERALS[text.lower()]
    number = read_number(text)
    return parse(text, "strict") if number is None else number


def _is_spelling(text: str, value: Any) -> bool:
    """Whether a text says a number or a boolean."""
    said = _read_text(text)
    return isinstance(said, bool) is isinstance(value, bool) and equal(said, value)


def list_types(value: Any) -> set[str]:
    """Return JSON Schema's names for the type of a value."""
    kind = TYPES[type(value)]
    if kind != "number":
        return {kind}
    return {"number", "integer"} if value % 1 == 0 else {"number"}
