"""Readers of tool calls, one for each API or framework, tried in order.

A reader takes the type and the fields of a call, or of a block that stands beside calls, and gives
what it says, or None where it does not know it. No reader imports an SDK: objects of SDKs and their
dumps have the same fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from llmeval_integrations.tool_calls.call import (
    Fields,
    Part,
    RawCall,
    fields_of,
    raw_call,
    text_in,
    type_of,
)

_BESIDE_NAME: Final = frozenset(("name", "id", "type", "index"))
_MALFORMED: Final = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")

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
"""The types of blocks that are no calls of the model's."""

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


def read_plain(kind: str, value: Fields) -> list[Part] | None:
    """Read `{"name", "arguments"}`, as models are asked to write; a name alone is a call, too."""
    name = text_in(value, "name")
    if not name or kind not in ("", "function"):
        return None
    keys = ("arguments", "args", "input", "parameters")
    given = next((value[key] for key in keys if value.get(key) is not None), None)
    if given is None:  # Google's SDK dumps all that a call might have, as null
        others = value.keys() - _BESIDE_NAME
        if "role" in value or "content" in value or any(value[key] is not None for key in others):
            return None
    return [RawCall(name, given, value.get("id"), text_in(value, "error") or None)]


def read_openai(kind: str, value: Fields) -> list[Part] | None:
    """Read a call of a chat, or an item of a response; Google's interactions have the same."""
    function = value.get("function")
    if kind in ("", "function") and function is not None and not isinstance(function, str):
        inner = fields_of(function)
        arguments = inner.get("arguments", inner.get("parameters"))
        return [raw_call(inner, inner.get("name"), arguments, value.get("id"))]
    number = text_in(value, "call_id", "id")
    if kind == "function_call":
        return [raw_call(value, value.get("name"), value.get("arguments"), number)]
    inner = fields_of(value.get("custom")) if kind == "custom" else value
    if kind == "custom_tool_call" or (kind == "custom" and inner):
        # The input of a custom tool is one text, even where that is JSON.
        return [raw_call(value, inner.get("name"), {"input": inner.get("input")}, number)]
    return None


def read_anthropic(kind: str, value: Fields) -> list[Part] | None:
    """Read a block of Anthropic's; those of tools that the API runs have other types."""
    if kind != "tool_use":
        return None
    return [raw_call(value, value.get("name"), value.get("input"), value.get("id"))]


def read_llama_index(_: str, value: Fields) -> list[Part] | None:
    """Read a selection of tools, or a block of LlamaIndex's."""
    if "tool_kwargs" not in value:
        return None
    number = text_in(value, "tool_call_id", "tool_id")
    return [raw_call(value, value.get("tool_name"), value["tool_kwargs"], number)]


def read_langchain(kind: str, value: Fields) -> list[Part] | None:
    """Read a call of LangChain's, which says of an invalid one what is wrong."""
    if kind not in ("tool_call", "tool_call_chunk", "invalid_tool_call"):
        return None
    arguments = value.get("args", value.get("arguments"))
    found = raw_call(value, value.get("name"), arguments, value.get("id"))
    return [found._replace(problem=found.problem or text_in(value, "error") or None)]


def read_pydantic_ai(_: str, value: Fields) -> list[Part] | None:
    """Read a part of Pydantic AI's."""
    if text_in(value, "part_kind") != "tool-call":
        return None
    return [raw_call(value, value.get("tool_name"), value.get("args"), value.get("tool_call_id"))]


def read_google(kind: str, value: Fields) -> list[Part] | None:
    """Read a part of Google's, or a candidate whose call its API could not read."""
    if kind:
        return None
    ended = text_in(value, "finishReason", "finish_reason").rpartition(".")[2]
    if ended in _MALFORMED:
        said = text_in(value, "finishMessage", "finish_message")
        return [RawCall("", problem=f"{ended}: {said}" if said else ended)]
    function = value.get("function_call") or value.get("functionCall")
    if function is None:
        return None
    inner = fields_of(function)  # or of a message of OpenAI's from before tools
    arguments = inner.get("args", inner.get("arguments"))
    return [raw_call(function, inner.get("name"), arguments, inner.get("id"))]


def read_bedrock(kind: str, value: Fields) -> list[Part] | None:
    """Read a block of Amazon's; a call that the API makes by itself is none."""
    if "toolUse" not in value or kind:
        return None
    inner = fields_of(value["toolUse"])
    if type_of(inner) == "server_tool_use":
        return []
    return [raw_call(value, inner.get("name"), inner.get("input"), inner.get("toolUseId"))]


def read_other(kind: str, value: Fields) -> list[Part] | None:
    """Read a text, or nothing from a block that is known to say something else."""
    if kind in ("text", "output_text"):
        text = value.get("content" if "part_kind" in value else "text")
        return [text] if isinstance(text, str) else None
    if kind:
        is_known = "part_kind" in value or kind in _TYPES or kind.endswith(_ENDS)
        return [] if is_known else None
    if "promptFeedback" in value or "prompt_feedback" in value:  # of Google's, which it blocks
        return []
    names = [str(name).replace("_", "").lower() for name, one in value.items() if one is not None]
    if not names or not all(name in _MEMBERS or name.endswith("metadata") for name in names):
        return None
    own = value.get("tool_call", value.get("toolCall"))  # of Google's, which has no name
    if own is not None and (not fields_of(own) or "name" in fields_of(own)):
        return None
    text = value.get("text") or ""
    if not isinstance(text, str):
        return None
    return [] if value.get("thought") else [text]


READERS: Final[tuple[Callable[[str, Fields], list[Part] | None], ...]] = (
    read_plain,
    read_openai,
    read_anthropic,
    read_llama_index,
    read_langchain,
    read_pydantic_ai,
    read_google,
    read_bedrock,
    read_other,
)
