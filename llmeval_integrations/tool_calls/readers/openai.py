"""Calls of OpenAI: chats, which many others copy, and the Responses API."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import (
    Fields,
    Part,
    fields_of,
    raw_call,
    text_in,
    type_of,
)


def read(value: Fields) -> list[Part] | None:
    """Read a call of a chat, or an item of a response; Google's interactions have the same."""
    kind, function = type_of(value), value.get("function")
    if kind in ("", "function") and function is not None and not isinstance(function, str):
        inner = fields_of(function)
        arguments = inner.get("arguments", inner.get("parameters"))
        return [raw_call(inner, inner.get("name"), arguments, value.get("id"))]
    if kind == "custom" and (inner := fields_of(value.get("custom"))):
        return [_custom(value, inner, value.get("id"))]
    number = text_in(value, "call_id", "id")
    if kind == "function_call":
        return [raw_call(value, value.get("name"), value.get("arguments"), number)]
    return [_custom(value, value, number)] if kind == "custom_tool_call" else None


def _custom(value: Fields, inner: Fields, number: object) -> Part:
    """Read a call of a custom tool, whose input is one text, even where that is JSON."""
    return raw_call(value, inner.get("name"), {"input": inner.get("input")}, number)
