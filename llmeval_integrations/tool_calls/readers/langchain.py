"""Calls of LangChain, which stand in a message's lists and in its content."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, raw_call, text_in, type_of


def read(value: Fields) -> list[Part] | None:
    """Read a call; of one that is invalid LangChain says what is wrong."""
    if type_of(value) not in ("tool_call", "tool_call_chunk", "invalid_tool_call"):
        return None
    arguments = value.get("args", value.get("arguments"))
    found = raw_call(value, value.get("name"), arguments, value.get("id"))
    return [found._replace(problem=found.problem or text_in(value, "error") or None)]
