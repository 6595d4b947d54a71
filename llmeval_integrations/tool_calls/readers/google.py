"""Calls of Google: parts of a content, candidates that went wrong, steps of an interaction."""

from __future__ import annotations

from llmeval_integrations.tool_calls.readers.shape import (
    Fields,
    Part,
    RawCall,
    call,
    fields_of,
    text_in,
    type_of,
)

_WRONG = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
_STEPS = frozenset(
    [
        *("user_input", "thought", "function_result", "code_execution_result"),
        *("google_search_result", "google_maps_result", "url_context_result"),
        *("file_search_result", "mcp_server_tool_result"),
    ]
)
# Parts have no type but these members, here without underscores and capitals.
_MEMBERS = frozenset(
    [
        *("text", "thought", "thoughtsignature", "inlinedata", "filedata", "executablecode"),
        *("codeexecutionresult", "functionresponse", "toolcall", "toolresponse"),
        *("mediaresolution", "mediaprocessing", "audiotranscription"),
    ]
)


def read(value: Fields) -> list[Part] | None:
    """Read a part, a step, or a candidate whose call Google's API could not read."""
    kind = type_of(value)
    if kind:
        return [] if kind in _STEPS else None
    ended = text_in(value, "finishReason", "finish_reason").rpartition(".")[2]
    if ended in _WRONG:
        said = text_in(value, "finishMessage", "finish_message")
        return [RawCall("", problem=f"{ended}: {said}" if said else ended)]
    if "promptFeedback" in value or "prompt_feedback" in value:  # a question that it blocks
        return []
    function = value.get("function_call") or value.get("functionCall")
    if function is not None:  # or a message of OpenAI's from before tools
        inner = fields_of(function)
        arguments = inner.get("args", inner.get("arguments"))
        return [call(function, inner.get("name"), arguments, inner.get("id"))]
    return _other_part(value)


def _other_part(value: Fields) -> list[Part] | None:
    names = {str(name) for name, one in value.items() if one is not None}
    if not names or not all(map(_is_member, names)):
        return None
    own = value.get("tool_call", value.get("toolCall"))  # has a type, but no name
    if own is not None and (not fields_of(own) or "name" in fields_of(own)):
        return None
    text = value.get("text") or ""
    if not isinstance(text, str):
        return None
    return [] if value.get("thought") else [text]


def _is_member(name: str) -> bool:
    plain = name.replace("_", "").lower()
    return plain in _MEMBERS or plain.endswith("metadata")
