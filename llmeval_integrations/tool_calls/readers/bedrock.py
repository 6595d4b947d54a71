"""Calls of Amazon Bedrock, blocks in a message's content."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, call, fields_of, type_of

_OTHERS = frozenset(
    [
        *("reasoningContent", "toolResult", "citationsContent", "guardContent", "cachePoint"),
        *("image", "document", "video", "audio", "searchResult"),
    ]
)


def read(value: Fields) -> list[Part] | None:
    """Read a block; a text block is the same as Google's."""
    if "toolUse" not in value:
        return [] if value and value.keys() <= _OTHERS else None
    inner = fields_of(value["toolUse"])
    if type_of(inner) == "server_tool_use":
        return []
    return [call(value, inner.get("name"), inner.get("input"), inner.get("toolUseId"))]
