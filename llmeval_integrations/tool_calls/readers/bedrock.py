"""Calls of Amazon Bedrock, blocks in a message's content."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, fields_of, raw_call, type_of


def read(value: Fields) -> list[Part] | None:
    """Read a block; a call that the API makes by itself is none."""
    if "toolUse" not in value or type_of(value):
        return None
    inner = fields_of(value["toolUse"])
    if type_of(inner) == "server_tool_use":
        return []
    return [raw_call(value, inner.get("name"), inner.get("input"), inner.get("toolUseId"))]
