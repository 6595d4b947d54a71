"""Calls of Pydantic AI, parts of a message."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, raw_call, text_in


def read(value: Fields) -> list[Part] | None:
    """Read a part."""
    if text_in(value, "part_kind") != "tool-call":
        return None
    return [raw_call(value, value.get("tool_name"), value.get("args"), value.get("tool_call_id"))]
