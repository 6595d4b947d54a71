"""Calls of Pydantic AI, parts of a message."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, call, text_in


def read(value: Fields) -> list[Part] | None:
    """Read a part; all that are no text and no call say something else."""
    kind = text_in(value, "part_kind")
    if kind == "tool-call":
        number = value.get("tool_call_id")
        return [call(value, value.get("tool_name"), value.get("args"), number)]
    if kind == "text":
        return [text_in(value, "content")]
    return [] if kind else None
