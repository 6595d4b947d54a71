"""Calls of Anthropic, blocks in a message's content."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, call, type_of

_OTHERS = frozenset(
    [
        *("thinking", "redacted_thinking", "image", "document", "search_result", "citation"),
        *("server_tool_use", "mcp_tool_use", "container_upload", "fallback"),
    ]
)
_RESULT = "tool_result"
"""How the types of results end, those of tools that the API runs as well."""


def read(value: Fields) -> list[Part] | None:
    """Read a block; what the API calls by itself is no call."""
    kind = type_of(value)
    if kind == "tool_use":
        return [call(value, value.get("name"), value.get("input"), value.get("id"))]
    return [] if kind in _OTHERS or kind.endswith(_RESULT) else None
