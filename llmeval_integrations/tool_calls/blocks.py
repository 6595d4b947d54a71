"""The blocks of a message that stand beside calls, as each API names them."""

from __future__ import annotations

from typing import Any, Final

_CALLS: Final = frozenset(
    [
        *("function_call", "tool_use", "tool_call", "invalid_tool_call", "custom_tool_call"),
        *("tool-call", "tool-invocation", "dynamic-tool", "function.call"),
    ]
)
# Written as calls are, with a name and arguments, but what they call is the API's own to run.
_OF_THE_API: Final = frozenset(
    [
        *("mcp_call", "mcp_approval_request", "mcp_tool_use", "mcp_server_tool_call"),
        *("server_tool_use", "server_tool_call", "server_tool_call_chunk"),
        *("builtin-tool-call", "tool.execution"),
    ]
)
# The Vercel AI SDK's, which announce a call or answer it, and may repeat its name and arguments.
_ABOUT_CALLS: Final = frozenset(
    [
        *("tool-result", "tool-error", "tool-approval-request", "tool-output-denied"),
        *("tool-input-start", "tool-call-streaming-start"),
    ]
)
_OTHERS: Final = frozenset(
    [
        *("text", "text-plain", "output_text", "input_text", "refusal", "citation", "citable"),
        *("thinking", "redacted_thinking", "reasoning", "compaction", "program"),
        *("user_input", "thought"),
        *("user-prompt", "system-prompt", "retry-prompt", "retry-feedback", "instruction"),
        *("image", "image_url", "audio", "video", "file", "document", "container_upload"),
        *("mcp_list_tools", "mcp_tool_listing", "mcp_approval_response", "additional_tools"),
        *("cache", "fallback", "non_standard"),
        *("source", "source-url", "source-document", "step-start"),
        *("builtin-tool-return", "tool-return", *_ABOUT_CALLS),
        *("message.output", "message.input", "function.result", "agent.handoff"),
    ]
)
# What else an API does by itself, such as `web_search_call`, and what it or a tool gave back.
_ENDINGS: Final = ("_call", "_result", "_output")
_DATA: Final = "data-"  # with a name of the user's behind it, in messages of the Vercel AI SDK

# Google's parts, and Amazon's, have no type but these members, here without underscores and
# capitals.
_PART: Final = frozenset(
    [
        *("text", "thought", "thoughtsignature", "inlinedata", "filedata", "executablecode"),
        *("codeexecutionresult", "functionresponse", "toolcall", "toolresponse"),
        *("mediaresolution", "mediaprocessing", "audiotranscription"),
        *("reasoningcontent", "toolresult", "citationscontent", "guardcontent", "cachepoint"),
    ]
)
# What Google calls by itself has no name; a call under such a key that has one is another's.
_OWN_CALLS: Final = ("tool_call", "toolCall")
NAMES: Final = ("name", "tool_name", "toolName")
"""What a call has its name under."""

_TYPES: Final = ("type", "block_type", "part_kind")
_TEXTS: Final = frozenset(("text", "text-plain", "output_text"))


def type_of(block: dict[str, Any]) -> str | None:
    """Return the type that a block says it has."""
    return text_under(_TYPES, block)


def text_under(names: tuple[str, ...], block: dict[str, Any]) -> str | None:
    """Return the first text that stands under one of these names."""
    for name in names:
        value = block.get(name)
        if isinstance(value, str):
            return value
    return None


def is_call_type(kind: str | None) -> bool:
    """Whether blocks of this type are calls."""
    return kind in _CALLS


def only_looks_like_a_call(block: Any) -> bool:
    """Whether an API makes this call by itself, or this is about a call that stands elsewhere."""
    if not isinstance(block, dict):
        return False
    inner = block.get("toolUse")  # Amazon has the type within
    kind = type_of(inner if isinstance(inner, dict) else block)
    if kind in _OF_THE_API or block.get("providerExecuted") is True:
        return True
    return kind in _ABOUT_CALLS and "state" not in block  # which a UI message's own parts have


def named_by_type(block: dict[str, Any]) -> str | None:
    """Return the tool that a call in a UI message of the Vercel AI SDK names in its type."""
    kind = type_of(block) or ""
    is_part = kind.startswith("tool-") and "toolCallId" in block and "state" in block
    return kind.removeprefix("tool-") if is_part else None


def is_other_type(kind: str) -> bool:
    """Whether blocks of this type are known to be something else than calls."""
    if kind in _OTHERS or kind in _OF_THE_API or kind.startswith(_DATA):
        return True
    return kind.endswith(_ENDINGS) and not is_call_type(kind)


def is_known(block: Any) -> bool:
    """Whether this has the type of a call, or of what is known to be something else."""
    kind = type_of(block) if isinstance(block, dict) else None
    return kind is not None and (is_call_type(kind) or is_other_type(kind))


def is_other_block(item: Any) -> bool:
    """Whether this is a block that is known to be something else than a call."""
    if not isinstance(item, dict):
        return False
    if only_looks_like_a_call(item):
        return True
    kind = type_of(item)
    if kind is not None:
        return is_other_type(kind)
    members = {name for name, value in item.items() if value is not None}
    text = item.get("text")
    return (
        bool(members)
        and all(map(_is_of_a_part, members))
        and (text is None or isinstance(text, str))
        and all(item.get(key) is None or is_googles_own(key, item[key]) for key in _OWN_CALLS)
    )


def is_googles_own(key: str, call: Any) -> bool:
    """Whether this, under this key, is what Google calls by itself."""
    if key not in _OWN_CALLS or not isinstance(call, dict):
        return False
    return "function" not in call and text_under(NAMES, call) is None


def _is_of_a_part(member: str) -> bool:
    name = member.replace("_", "").lower()
    return name in _PART or name.endswith("metadata")


def said_by(block: dict[str, Any]) -> str:
    """Return the text that a model says in a block; an empty one where it is another block.

    Pydantic AI, and what OpenTelemetry records, have it under `content`.
    """
    kind = type_of(block)
    is_text = kind in _TEXTS if kind is not None else not block.get("thought")
    text = block.get("text" if kind is None or "text" in block else "content")
    return text if is_text and isinstance(text, str) else ""
