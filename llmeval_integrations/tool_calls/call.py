"""Read one tool call in the shape of any API or framework; each shape is one row of a table.

Objects of SDKs and their dumps have the same fields, so no SDK is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from llmeval_integrations.core.quote import quote

Fields: TypeAlias = Mapping[str, Any]


class ToolCall(msgspec.Struct, frozen=True):
    """The name of a tool, and the arguments for it."""

    name: str
    """The name; empty if `problem` says why there is none."""

    arguments: Any = {}
    """The arguments by name, as JSON values. Until they are parsed, they may be a text."""

    id: str | None = None
    """The id that the model's API gives the call."""

    problem: str | None = None
    """Why the arguments cannot be read, or why this is not a call."""


Part: TypeAlias = ToolCall | str
"""A call, or a text that the model wrote."""


class Shape(NamedTuple):
    """Where an API writes the parts of a call."""

    types: tuple[str, ...]
    """The types of a block that contains a call; an empty text for a block without a type."""

    inside: str
    """The member that contains the call; an empty text if the block itself is the call."""

    name: str
    arguments: tuple[str, ...]
    id_members: tuple[str, ...]
    """The members for the id."""


SHAPES: Final = (
    # OpenAI's chat API, and its responses API, which Google's interactions resemble
    Shape(("", "function"), "function", "name", ("arguments", "parameters"), ("id",)),
    Shape(("function_call",), "", "name", ("arguments",), ("call_id", "id")),
    Shape(("custom",), "custom", "name", ("input",), ("id",)),
    Shape(("custom_tool_call",), "", "name", ("input",), ("call_id", "id")),
    # Anthropic
    Shape(("tool_use",), "", "name", ("input",), ("id",)),
    # LangChain
    Shape(
        ("tool_call", "tool_call_chunk", "invalid_tool_call"),
        *("", "name", ("args", "arguments"), ("id",)),
    ),
    # Pydantic AI
    Shape(("tool-call",), "", "tool_name", ("args",), ("tool_call_id",)),
    # Google; OpenAI's messages had the same before they had tools
    Shape(("",), "function_call", "name", ("args", "arguments"), ("id",)),
    Shape(("",), "functionCall", "name", ("args",), ("id",)),
    # Amazon Bedrock
    Shape(("",), "toolUse", "name", ("input",), ("toolUseId",)),
)
_LLAMA_INDEX: Final = Shape((), "", "tool_name", ("tool_kwargs",), ("tool_call_id", "tool_id"))

_PLAIN: Final = ("arguments", "args", "input", "parameters")
_BESIDE_NAME: Final = frozenset(("name", "id", "type", "index", *_PLAIN))
_MALFORMED: Final = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")

_MESSAGES: Final = ("ai", "AIMessageChunk", "message", "model_output")
"""The types of messages that may have no role. Blocks of other types, such as `reasoning`, are not
calls, unless they have a name and arguments."""

_OWN_CALLS: Final = ("_call", "_call_chunk", "-call", "_use", "_request")
"""The ends of the types of calls that an API makes by itself, such as `mcp_call`."""

# Google's and Amazon's parts have no type but these members, here in lower case without "_".
_OTHER_MEMBERS: Final = frozenset(
    [
        *("text", "thought", "thoughtsignature", "inlinedata", "filedata", "executablecode"),
        *("codeexecutionresult", "functionresponse", "toolcall", "toolresponse"),
        *("mediaresolution", "mediaprocessing", "audiotranscription"),
        *("reasoningcontent", "toolresult", "citationscontent", "guardcontent", "cachepoint"),
        *("image", "document", "video", "audio", "searchresult"),
    ]
)


def no_call(value: Any) -> ToolCall:
    """Return a call whose problem is that the value is not a call."""
    return ToolCall("", problem=f"not a tool call: {quote(value)}")


def fields_of(value: Any) -> Fields:
    """Return the members of a JSON object, or the fields of an object of an SDK or framework."""
    if type(value) is dict:  # the most frequent case; asking for a Mapping takes ten times as long
        return value
    if value is None or isinstance(value, (str, list, type)):
        return {}
    if isinstance(value, Mapping):
        return value
    if not (is_dataclass(value) or hasattr(value, "model_dump")):
        return {}
    if not hasattr(value, "__dict__"):
        return {one.name: getattr(value, one.name, None) for one in fields(value)}
    extra = getattr(value, "__pydantic_extra__", None)  # fields that an SDK does not know yet
    return {**vars(value), **(extra or {})}


def type_of(value: Fields) -> str:
    """Return the type that a block or message names, or an empty text."""
    return text_in(value, "type", "block_type", "part_kind")


def text_in(value: Fields, *names: str) -> str:
    """Return the first text under these names that is not empty, or an empty text."""
    for name in names:
        text = value.get(name)
        if text and isinstance(text, str):
            return text
    return ""


def list_in(value: Fields, name: str) -> list[Any]:
    """Return the list under a name, or an empty list."""
    found = value.get(name)
    return [*found] if isinstance(found, (list, tuple)) else []


def read_block(value: Fields) -> list[Part] | None:
    """Return the call or text of a block; an empty list if it has none, None if it is unknown."""
    kind = type_of(value)
    if kind in ("", "function") and (call := _read_plain(value)):
        return [call]
    if "tool_kwargs" in value:
        return [_read_shape(_LLAMA_INDEX, value, value)]
    for shape in SHAPES:
        if kind not in shape.types:
            continue
        held = value.get(shape.inside) if shape.inside else value
        if not held or isinstance(held, str):
            if kind:
                return None
            continue
        inner = fields_of(held)
        if type_of(inner) == "server_tool_use":  # Amazon's API has made this call itself
            return []
        return [_read_shape(shape, value, inner)]
    if not kind and (failure := read_failure(value)):
        return [failure]
    return _read_other(kind, value)


def _read_shape(shape: Shape, value: Fields, inner: Fields) -> ToolCall:
    name = inner.get(shape.name)
    if not name or not isinstance(name, str):
        return no_call(value)
    arguments = next((inner[key] for key in shape.arguments if key in inner), None)
    if type_of(value) in ("custom", "custom_tool_call"):
        arguments = {"input": arguments}  # always one text, even if it is JSON
    number = text_in(inner, *shape.id_members) or text_in(value, *shape.id_members)
    return ToolCall(name, arguments, number or None, text_in(value, "error") or None)


def _read_plain(value: Fields) -> ToolCall | None:
    """Read `{"name", "arguments"}`, the form that prompts ask for; a name alone is a call, too."""
    name = text_in(value, "name")
    if not name:
        return None
    number, error = text_in(value, "id") or None, text_in(value, "error") or None
    for key in _PLAIN:
        if value.get(key) is not None:
            return ToolCall(name, value[key], number, error)
    if "role" in value or "content" in value:
        return None
    # Google's SDK dumps every member that a call may have, with null if it has none.
    is_alone = all(value[key] is None for key in value.keys() - _BESIDE_NAME)
    return ToolCall(name, None, number, error) if is_alone else None


def read_failure(candidate: Fields) -> ToolCall | None:
    """Return a call with the reason why Google's API could not read it, or None."""
    ended = text_in(candidate, "finishReason", "finish_reason").rpartition(".")[2]
    if ended not in _MALFORMED:
        return None
    said = text_in(candidate, "finishMessage", "finish_message")
    return ToolCall("", problem=f"{ended}: {said}" if said else ended)


def _read_other(kind: str, value: Fields) -> list[Part] | None:
    """Read a text; return an empty list for a known block of another kind, None for others."""
    if kind in ("text", "output_text"):
        text = value.get("content" if "part_kind" in value else "text")
        return [text] if isinstance(text, str) else None
    if kind:
        is_call = text_in(value, "name") and any(key in value for key in _PLAIN)
        is_unknown = is_call and not kind.endswith(_OWN_CALLS)
        return None if is_unknown or "role" in value or kind in _MESSAGES else []
    if "promptFeedback" in value or "prompt_feedback" in value:  # Google blocked the question
        return []
    names = [str(name).replace("_", "").lower() for name, one in value.items() if one is not None]
    if not names or not all(name in _OTHER_MEMBERS or name.endswith("metadata") for name in names):
        return None
    own = value.get("tool_call", value.get("toolCall"))  # without a name, Google's own call
    if own is not None and (not fields_of(own) or "name" in fields_of(own)):
        return None
    text = value.get("text") or ""
    if not isinstance(text, str):
        return None
    return [] if value.get("thought") else [text]
