"""Read tool calls from the values of any API or framework: calls, blocks, messages, responses.

Objects of SDKs and their dumps have the same members, so no SDK is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import asdict

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote

Members: TypeAlias = Mapping[str, Any]


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

TYPE: Final = ("type", "block_type", "part_kind")
_NAME: Final = ("name", "tool_name")
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters", "tool_kwargs")
_ID: Final = ("call_id", "tool_call_id", "toolUseId", "tool_id", "id")
_BESIDE_NAME: Final = frozenset(("name", "id", "type", "index", *_ARGUMENTS))

_CALLS: Final = frozenset(
    [
        *("function_call", "custom_tool_call"),  # OpenAI's responses, and Google's interactions
        "tool_use",  # Anthropic
        *("tool_call", "tool_call_chunk", "invalid_tool_call"),  # LangChain
        "tool-call",  # Pydantic AI
    ]
)
"""The types of blocks that are calls."""

_AROUND_CALL: Final[dict[str, tuple[str, ...]]] = {
    "function": ("function",),  # OpenAI's chat API
    "custom": ("custom",),
    "": ("function", "function_call", "functionCall", "toolUse"),  # Google, and Amazon
}
"""The members that contain the call in a block of another type, or of none."""

_MALFORMED: Final = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
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

_MESSAGE: Final = frozenset(("role", "content", "tool_calls", "invalid_tool_calls"))
_MESSAGE_TYPES: Final = ("ai", "AIMessageChunk", "message", "model_output")
"""The types of messages that may have no role. Blocks of other types, such as `reasoning`, are not
calls, unless they have a name and arguments."""

_OTHER_ROLES: Final = frozenset(("user", "human", "system", "developer", "tool", "function"))
_BLOCKS: Final = ("content", "parts", "blocks", "output", "steps")
_AROUND_MESSAGE: Final = frozenset(
    (
        *("choices", "candidates", "generations", "message", "messages", "output"),
        *("data", "kwargs", "content"),
    )
)


_STREAMED: Final = ("chat.completion.chunk", "response.", "message_", "content_block_")
"""The beginnings of the types of chunks and events, of OpenAI's and Anthropic's streams."""


def read_parts(value: Any) -> list[Part] | None:
    """Return the calls and texts of a model, or None if no reader knows the value.

    In a list, a value that no reader knows becomes a call with a problem.
    """
    if isinstance(value, (list, tuple)):
        parts: list[Part] = []
        for item in value:
            found = read_parts(item if type(item) is dict else members_of(item))
            parts += [no_call(item)] if found is None else found
        if {*map(type, parts)} <= {ToolCall} or any(_is_message(members_of(one)) for one in value):
            return parts
        return _calls_or_text(parts)
    members = value if type(value) is dict else members_of(value)
    may_wrap = "role" not in members and not _AROUND_MESSAGE.isdisjoint(members)
    inner = _unwrap(members) if may_wrap else None
    if inner is not None:
        return read_parts(inner)
    # A message that lists calls may have a name and a type, like a call.
    found = None if members.get("tool_calls") else _read_block(members)
    return _read_message(members) if found is None and _is_message(members) else found


# --- blocks ---------------------------------------------------------------------------------------


def _read_block(value: Members) -> list[Part] | None:
    """Return the call or text of a block; an empty list if it has none, None if it is unknown."""
    kind = text_in(value, *TYPE)
    if is_answer(value):
        return []
    if kind in _CALLS or "tool_kwargs" in value:
        return [_read_call(kind, value, value)]
    if kind in ("", "function") and text_in(value, "name"):
        call = _read_call(kind, value, value)  # in the form that prompts ask for
        if call.arguments is not None or _is_name_alone(value):
            return [call]
    for name in _AROUND_CALL.get(kind, ()):
        inner = members_of(value.get(name))
        if inner:
            is_own = text_in(inner, *TYPE) == "server_tool_use"  # Amazon's API has made it itself
            return [] if is_own else [_read_call(kind, value, inner)]
    if not kind and (failure := _read_failure(value)):
        return [failure]
    return None if kind in ("function", "custom") else _read_other(kind, value)


def is_answer(block: Members) -> bool:
    """Return whether Pydantic AI's agents get their answer, an object, by this call."""
    name = f"{block.get('tool_name')}_"
    return block.get("part_kind") == "tool-call" and name.startswith("final_result_")


def _read_call(kind: str, value: Members, inner: Members) -> ToolCall:
    """Read the call `inner` of a block of this type; most blocks are the call themselves."""
    name, arguments = text_in(inner, *_NAME), None
    if not name:
        return no_call(value)
    for key in _ARGUMENTS:
        if inner.get(key) is not None:
            arguments = inner[key]
            break
    if kind in ("custom", "custom_tool_call"):
        arguments = {"input": arguments}  # always one text, even if it is JSON
    number = text_in(inner, *_ID)
    if not number and inner is not value:
        number = text_in(value, *_ID)
    return ToolCall(name, arguments, number or None, text_in(value, "error") or None)


def _is_name_alone(value: Members) -> bool:
    """Return whether a name is all that this says; a name alone is a call, too."""
    # Google's SDK dumps every member that a call may have, with null if it has none.
    is_alone = all(value[key] is None for key in value.keys() - _BESIDE_NAME)
    return is_alone and "role" not in value and "content" not in value


def _read_failure(candidate: Members) -> ToolCall | None:
    """Return a call with the reason why Google's API could not read it, or None."""
    ended = text_in(candidate, "finishReason", "finish_reason").rpartition(".")[2]
    if ended not in _MALFORMED:
        return None
    said = text_in(candidate, "finishMessage", "finish_message")
    return ToolCall("", problem=f"{ended}: {said}" if said else ended)


def _read_other(kind: str, value: Members) -> list[Part] | None:
    """Read a text; return an empty list for a known block of another kind, None for others."""
    if kind in ("text", "output_text"):
        text = value.get("content" if "part_kind" in value else "text")
        return [text] if isinstance(text, str) else None
    if kind:
        is_call = text_in(value, "name") and not value.keys().isdisjoint(_ARGUMENTS)
        is_unknown = is_call and not kind.endswith(_OWN_CALLS)
        return None if is_unknown or "role" in value or kind in _MESSAGE_TYPES else []
    if "promptFeedback" in value or "prompt_feedback" in value:  # Google blocked the question
        return []
    names = [str(name).replace("_", "").lower() for name, one in value.items() if one is not None]
    if not names or not all(name in _OTHER_MEMBERS or name.endswith("metadata") for name in names):
        return None
    own = value.get("tool_call", value.get("toolCall"))  # without a name, Google's own call
    if own is not None and (not members_of(own) or "name" in members_of(own)):
        return None
    text = value.get("text") or ""
    if not isinstance(text, str):
        return None
    return [] if value.get("thought") else [text]


# --- messages, and the objects around them --------------------------------------------------------


def _unwrap(around: Members) -> Any:
    """Return the message inside a response, a result or a state; None for other objects."""
    for name in ("choices", "candidates", "generations"):
        if several := list_in(around, name):
            return several[0]
    message, output = around.get("message"), members_of(around.get("output"))
    if message is not None and not isinstance(message, str):  # in a choice or a generation
        return message
    if "message" in output:  # Amazon's
        return output["message"]
    messages = around.get("messages")
    if isinstance(messages, (list, tuple)) and _MESSAGE.isdisjoint(around):
        is_answered = around.get("structured_response") is not None
        return [*without_answer(messages)] if is_answered else messages
    for name in ("data", "kwargs"):  # a message that LangChain has saved
        saved = members_of(around.get(name))
        if "type" in around and ("content" in saved or "message" in saved):
            return {"type": around["type"], **saved}
    content = around.get("content")  # in a candidate of Google's
    return content if members_of(content) and not _read_failure(around) else None


def _is_message(value: Members) -> bool:
    """Return whether this is a message, or has blocks like one; Google's steps all have a type."""
    if not _MESSAGE.isdisjoint(value):
        return True
    if any(isinstance(value.get(name), (list, tuple)) for name in ("parts", "blocks", "output")):
        return True
    steps = list_in(value, "steps")
    return bool(steps) and all(text_in(members_of(step), *TYPE) for step in steps)


def _read_message(message: Members) -> list[Part]:
    """Read the calls that a message lists, or else its blocks or its text."""
    if text_in(message, "role", *TYPE) in _OTHER_ROLES:
        return []
    if calls := _list_calls(message):
        return read_parts(calls) or []
    failure = _read_failure(members_of(message.get("response_metadata")))  # in LangChain's
    if failure is not None:
        return [failure]
    content = message.get("content")
    if isinstance(content, str) and content:
        return [content]
    found: list[Part] = []
    for block in next((blocks for name in _BLOCKS if (blocks := list_in(message, name))), []):
        is_text = isinstance(block, str)
        found += [block] if is_text else read_parts(members_of(block)) or []
    return _calls_or_text(found)


def without_answer(messages: Sequence[Any]) -> Iterator[Any]:
    """Yield messages without the calls by which LangChain's ToolStrategy gets the answer.

    The model's last message has this call, and LangChain answers it before all others. Other calls
    of its name have failed.
    """
    names: set[str] = set()
    messages = [_unwrap(members_of(one)) or one for one in messages]  # LangChain may save them
    calls = [[one for one in read_parts(each) or () if type(one) is ToolCall] for each in messages]
    for message, following, its in zip(messages, [*messages[1:], None], calls):
        if text_in(members_of(message), "role", *TYPE) not in _OTHER_ROLES:  # in the end, the last
            answered = text_in(members_of(following), *_ID)
            names = {call.name for call in its if call.id and call.id == answered}
    for message, its in zip(messages, calls):
        left = [asdict(call) for call in its if call.name not in names]
        yield message if len(left) == len(its) else {"role": "ai", "tool_calls": left}


def _calls_or_text(parts: list[Part]) -> list[Part]:
    """Return the calls of blocks, or else their joined texts, as a tag may span several."""
    calls: list[Part] = [part for part in parts if not isinstance(part, str)]
    return calls or ["".join(part for part in parts if isinstance(part, str))]


def _list_calls(message: Members) -> list[Any]:
    """Return the calls that a message lists outside its blocks."""
    streamed = list_in(message, "tool_call_chunks")
    if streamed:  # LangChain's `tool_calls` beside them have arguments that it has completed
        return [{**members_of(one), "type": "tool_call"} for one in streamed]
    calls, invalid = list_in(message, "tool_calls"), list_in(message, "invalid_tool_calls")
    if calls and not invalid:  # LangChain may list invalid calls only among the blocks
        blocks = map(members_of, list_in(message, "content"))
        invalid = [block for block in blocks if text_in(block, *TYPE) == "invalid_tool_call"]
    if calls or invalid:
        return [*calls, *invalid]
    extra = members_of(message.get("additional_kwargs"))
    alone = extra.get("function_call")
    return list_in(extra, "tool_calls") or ([{"function_call": alone}] if alone else [])


# --- members --------------------------------------------------------------------------------------


def members_of(value: Any) -> Members:
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


def text_in(value: Members, *names: str) -> str:
    """Return the first text under these names that is not empty, or an empty text."""
    for name in names:
        text = value.get(name)
        if text and isinstance(text, str):
            return text
    return ""


def list_in(value: Members, name: str) -> list[Any]:
    """Return the list under a name, or an empty list."""
    found = value.get(name)
    return [*found] if isinstance(found, (list, tuple)) else []


def no_call(value: Any) -> ToolCall:
    """Return a call whose problem is that the value is not a call."""
    return ToolCall("", problem=f"not a tool call: {quote(value)}")


def refuse_stream(value: Any) -> None:
    """Raise InputError for chunks or events of a stream, as one call is spread over several."""
    several = value if isinstance(value, (list, tuple)) else [value]
    for one in map(members_of, (*several[:1], *several[-1:])):
        if text_in(one, "object", "type").startswith(_STREAMED):
            raise InputError(
                "the chunks of a stream are not joined here; pass the message that the SDK joins, "
                "such as by get_final_completion() or get_final_message(), or the joined text"
            )
