"""Calls of LlamaIndex: selections of tools, and blocks of a message."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, raw_call, text_in


def read(value: Fields) -> list[Part] | None:
    """Read a selection or a block."""
    if "tool_kwargs" not in value:
        return None
    number = text_in(value, "tool_call_id", "tool_id")
    return [raw_call(value, value.get("tool_name"), value["tool_kwargs"], number)]
