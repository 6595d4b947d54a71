"""Calls of Google: parts of a content, and candidates that went wrong."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import (
    Fields,
    Part,
    RawCall,
    fields_of,
    raw_call,
    text_in,
    type_of,
)

_WRONG = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")


def read(value: Fields) -> list[Part] | None:
    """Read a part, or a candidate whose call Google's API could not read."""
    if type_of(value):
        return None
    ended = text_in(value, "finishReason", "finish_reason").rpartition(".")[2]
    if ended in _WRONG:
        said = text_in(value, "finishMessage", "finish_message")
        return [RawCall("", problem=f"{ended}: {said}" if said else ended)]
    function = value.get("function_call") or value.get("functionCall")
    if function is None:
        return None
    inner = fields_of(function)  # or of a message of OpenAI's from before tools
    arguments = inner.get("args", inner.get("arguments"))
    return [raw_call(function, inner.get("name"), arguments, inner.get("id"))]
