"""What stands beside calls: texts, and what says something else, as an API's own calls."""

from __future__ import annotations

from typing import Final

from llmeval_integrations.tool_calls.readers.shape import Fields, Part, fields_of, type_of

_TEXTS: Final = ("text", "output_text")
_TYPES: Final = frozenset(
    [
        # of OpenAI
        *("refusal", "input_text", "image_url", "input_image", "input_file", "input_audio"),
        *("reasoning", "compaction", "program", "additional_tools"),
        *("mcp_list_tools", "mcp_approval_request", "mcp_approval_response"),
        # of Anthropic
        *("thinking", "redacted_thinking", "image", "document", "search_result", "citation"),
        *("server_tool_use", "mcp_tool_use", "container_upload", "fallback"),
        # of Google's interactions
        *("user_input", "thought", "function_result", "code_execution_result"),
        *("google_search_result", "google_maps_result", "url_context_result"),
        *("file_search_result", "mcp_server_tool_result"),
        # of LangChain and LlamaIndex
        *("server_tool_call_chunk", "server_tool_result", "non_standard", "text-plain"),
        *("video", "audio", "file", "citable", "cache"),
    ]
)
_ENDS: Final = ("_call", "_call_output", "tool_result")
"""How the types of calls end that an API makes by itself, as `web_search_call`, and of results."""

# Parts of Google's and Amazon's have no type but these members, here without underscores and
# capitals.
_MEMBERS: Final = frozenset(
    [
        *("text", "thought", "thoughtsignature", "inlinedata", "filedata", "executablecode"),
        *("codeexecutionresult", "functionresponse", "toolcall", "toolresponse"),
        *("mediaresolution", "mediaprocessing", "audiotranscription"),
        *("reasoningcontent", "toolresult", "citationscontent", "guardcontent", "cachepoint"),
        *("image", "document", "video", "audio", "searchresult"),
    ]
)


def read(value: Fields) -> list[Part] | None:
    """Read a text, or nothing from a block that is known to say something else."""
    kind = type_of(value)
    if kind in _TEXTS:
        text = value.get("content" if "part_kind" in value else "text")
        return [text] if isinstance(text, str) else None
    if kind:
        is_known = "part_kind" in value or kind in _TYPES or kind.endswith(_ENDS)
        return [] if is_known else None
    if "promptFeedback" in value or "prompt_feedback" in value:  # of Google's, which it blocks
        return []
    names = [str(name) for name, one in value.items() if one is not None]
    if not names or not all(map(_is_member, names)):
        return None
    own = value.get("tool_call", value.get("toolCall"))  # of Google's, which has no name
    if own is not None and (not fields_of(own) or "name" in fields_of(own)):
        return None
    text = value.get("text") or ""
    if not isinstance(text, str):
        return None
    return [] if value.get("thought") else [text]


def _is_member(name: str) -> bool:
    plain = name.replace("_", "").lower()
    return plain in _MEMBERS or plain.endswith("metadata")
