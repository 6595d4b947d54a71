"""Calls of Anthropic, blocks in a message's content."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, raw_call, type_of


def read(value: Fields) -> list[Part] | None:
    """Read a block; those of tools that the API runs have other types."""
    if type_of(value) != "tool_use":
        return None
    return [raw_call(value, value.get("name"), value.get("input"), value.get("id"))]
