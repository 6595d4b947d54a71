"""Reading values as the types that a schema asks for."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import equal, write_scalar
from llmeval_integrations.matching.node import AnyOf
from llmeval_integrations.tool_calls.node import ToolNode, types_of
from llmeval_integrations.tool_calls.spelling import AnySpelling, read_text, says


def coerce(value: Any, node: ToolNode) -> Any:
    """Return the value of the type that the schema asks for, where it can be read as such.

    A text becomes what it says where the schema allows that type and no text, or names it by
    `enum` or `const` without a type. A number or boolean may have any spelling where only a text is
    allowed. Members and items likewise. Whatever cannot be read stays as it is.
    """
    if isinstance(value, AnyOf):
        return AnyOf(tuple(coerce(one, node) for one in value.values), value.optional)
    if isinstance(value, str):
        value = _read(value, node)
    elif isinstance(value, (bool, int, float)) and node.types == {"string"}:
        known = [one for one in node.allowed if isinstance(one, str) and says(one, value)]
        text = known[0] if known else write_scalar(value)
        return text if len(known) == 1 else AnySpelling(value, text)
    if isinstance(value, dict):
        return {key: coerce(item, node.member(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [coerce(item, node.item(n)) for n, item in enumerate(value)]
    return value


def _read(text: str, node: ToolNode) -> Any:
    if "string" in node.types or not (node.types or node.allowed) or text in node.allowed:
        return text
    value = read_text(text)
    if isinstance(value, Defect):
        return text
    if node.types:
        return value if node.types & types_of(value) else text
    return value if any(equal(value, one) for one in node.allowed) else text
