"""Calls of OpenAI: chats, which many others copy, and the Responses API."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import (
    Fields,
    Part,
    call,
    fields_of,
    text_in,
    type_of,
)

_TEXTS = ("text", "output_text")
_OTHERS = frozenset(
    [
        *("refusal", "input_text", "image_url", "input_image", "input_file", "input_audio"),
        *("reasoning", "compaction", "program", "additional_tools"),
        *("mcp_list_tools", "mcp_approval_request", "mcp_approval_response"),
    ]
)
_OWN_CALLS = ("_call", "_call_output")
"""How the types of calls end that the API makes by itself, such as `web_search_call`, and of
results."""


def read(value: Fields) -> list[Part] | None:
    """Read a call of a chat, or an item of a response; Google's interactions have the same."""
    kind = type_of(value)
    function = value.get("function")
    if kind in ("", "function") and function is not None and not isinstance(function, str):
        inner = fields_of(function)
        arguments = inner.get("arguments", inner.get("parameters"))
        return [call(inner, inner.get("name"), arguments, value.get("id"))]
    if kind == "custom" and (inner := fields_of(value.get("custom"))):
        return [_custom(value, inner, value.get("id"))]
    number = text_in(value, "call_id", "id")
    if kind in ("tool_call", "invalid_tool_call"):  # LangChain's
        return None
    if kind == "function_call":
        return [call(value, value.get("name"), value.get("arguments"), number)]
    if kind == "custom_tool_call":
        return [_custom(value, value, number)]
    if kind in _TEXTS:
        text = value.get("text")
        return [text] if isinstance(text, str) else None
    if kind in _OTHERS or kind.endswith(_OWN_CALLS):
        return []
    return None


def _custom(value: Fields, inner: Fields, number: object) -> Part:
    """Read a call of a custom tool, whose input is one text, even where that is JSON."""
    return call(value, inner.get("name"), {"input": inner.get("input")}, number)
