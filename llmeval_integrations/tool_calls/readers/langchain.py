"""Calls of LangChain, which stand in a message's lists and in its content."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, call, text_in, type_of

_CALLS = ("tool_call", "tool_call_chunk", "invalid_tool_call")
_OTHERS = frozenset(
    [
        *("server_tool_call", "server_tool_call_chunk", "server_tool_result", "non_standard"),
        *("text-plain", "video", "audio", "file", "image"),
    ]
)


def read(value: Fields) -> list[Part] | None:
    """Read a call or block; of a call that is invalid LangChain says what is wrong."""
    kind = type_of(value)
    if kind in _CALLS and ("args" in value or "arguments" in value):
        arguments = value.get("args", value.get("arguments"))
        found = call(value, value.get("name"), arguments, value.get("id"))
        return [found._replace(problem=found.problem or text_in(value, "error") or None)]
    return [] if kind in _OTHERS else None
