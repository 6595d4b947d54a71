"""Reading tool calls from whatever holds them. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_text import Parsing, parse
from llmeval_integrations.tool_calls.blocks import (
    is_call_type,
    is_other_block,
    is_other_type,
    type_of,
)
from llmeval_integrations.tool_calls.call import ToolCall, not_a_call, read_call
from llmeval_integrations.tool_calls.tags import OPENING, contents

_BLOCKS = ("content", "parts", "blocks", "output")
_NO_STATE = frozenset(
    ("role", "tool_calls", "invalid_tool_calls", "message", "choices", "candidates")
)
_MESSAGE = _NO_STATE.union(_BLOCKS)
_OF_OTHERS = frozenset(("user", "human", "system", "developer", "tool", "function"))


def read_calls(value: Any, parsing: Parsing = "markdown") -> list[ToolCall] | Defect:
    """Return the calls that a model's output or a reference holds, or the defect that prevents it.

    A text with `<tool_call>` in it holds the calls in its tags. A JSON object or array is read as
    that value; any other text is an answer in prose unless it is broken JSON.
    Prose, null and what is empty hold no calls. Objects of SDKs and frameworks are read as what
    they dump.

    A value is a call (see `read_call`), a message, a response around messages, or a list of any
    of these, whose calls come one after another; or LangGraph's state, which has such a list under
    `messages`. In a message the first of these that holds calls
    counts: `tool_calls` and `invalid_tool_calls`, `additional_kwargs.tool_calls`, the blocks of
    `content`, `parts`, `blocks` or `output`, the tags in a text. Blocks of other types, there or
    in a list by themselves, hold none, nor does what an API calls by itself, such as OpenAI's
    `mcp_call` and Anthropic's `server_tool_use`, nor messages of users, systems and tools.
    Whatever else stands in a list is a call with a `problem`.
    """
    if isinstance(value, str) and OPENING in value and not _is_json(value):
        return list(_in_tags(value, parsing))
    parsed = parse(_dumped(_without_state(value)), parsing)
    if isinstance(parsed, Defect):
        return [] if parsed.name in ("prose", "empty") else parsed
    parsed = _without_state(parsed)  # of a text
    if isinstance(parsed, list):
        return list(_in_list(parsed, parsing, among_blocks=True))
    if isinstance(parsed, dict) and parsed:
        calls = _in_object(parsed, parsing)
        if calls is not None:
            return calls
    elif not parsed or isinstance(value, str):
        return []
    problem = not_a_call(parsed).problem or ""
    return Defect("not_a_call", problem[:1].upper() + problem[1:])


def _is_json(text: str) -> bool:
    """Whether this is JSON with tags in its texts."""
    return text.lstrip()[:1] in ("{", "[", "`") and not isinstance(parse(text), Defect)


def _without_state(value: Any) -> Any:
    """Return the messages of a state, whatever else it holds; all else as it is."""
    if not isinstance(value, Mapping) or not _NO_STATE.isdisjoint(value):
        return value
    messages = value.get("messages")
    return messages if isinstance(messages, (list, tuple)) else value


def _dumped(value: Any) -> Any:
    """Let the objects in a list dump themselves, as one by itself does."""
    if not isinstance(value, (list, tuple)):
        return value
    dumped = [parse(item) if hasattr(type(item), "model_dump") else item for item in value]
    return [old if isinstance(new, Defect) else new for old, new in zip(value, dumped)]


def _in_tags(text: str, parsing: Parsing) -> Iterator[ToolCall]:
    for content in contents(text):
        value = parse(content, parsing)
        if isinstance(value, Defect):
            yield ToolCall("", problem=f"no JSON in the tags ({value.name}): {value.reason}")
        else:
            yield from _in_list(value if isinstance(value, list) else [value], parsing)


def _in_list(
    items: Iterable[Any], parsing: Parsing, *, among_blocks: bool = False
) -> Iterator[ToolCall]:
    for item in items:
        calls = _in_object(item, parsing) if isinstance(item, dict) else None
        if calls is not None:
            yield from calls
        elif not (among_blocks and is_other_block(item)):
            yield not_a_call(item)


def _in_object(value: dict[str, Any], parsing: Parsing) -> list[ToolCall] | None:
    """Read a call, a message or a response; None where it is none of these."""
    call = read_call(value, parsing)
    if call is not None:
        return [call]
    if _MESSAGE.isdisjoint(value):
        return None
    inner = _inner(value)
    if inner is not None:
        return _in_object(inner, parsing) or []
    return _in_message(value, parsing)


def _inner(response: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message within a response: the first choice or candidate."""
    for key in ("choices", "candidates", "message", "content"):
        value = response.get(key)
        first = value[0] if isinstance(value, list) and value and key != "content" else value
        if isinstance(first, dict):
            return first
    return None


def _in_message(message: dict[str, Any], parsing: Parsing) -> list[ToolCall]:
    found = [*_given(message, "tool_calls"), *_given(message, "invalid_tool_calls")]
    extra = message.get("additional_kwargs")
    if not found and isinstance(extra, dict):
        found = _given(extra, "tool_calls")
    if found:
        return [_with_error(item, parsing) for item in found]
    for key in _BLOCKS:
        calls = list(_in_blocks(_given(message, key), parsing))
        if calls:
            return calls
    content = message.get("content")
    if isinstance(content, str) and OPENING in content and not _is_of_others(message):
        return list(_in_tags(content, parsing))
    return []


def _is_of_others(message: dict[str, Any]) -> bool:
    """Whether no model says this, or it does in its thoughts."""
    role, kind = message.get("role"), type_of(message)
    if isinstance(role, str) and role:
        return role in _OF_OTHERS
    return kind is not None and (kind in _OF_OTHERS or is_other_type(kind))


def _given(message: dict[str, Any], key: str) -> list[Any]:
    value = message.get(key)
    return value if isinstance(value, list) else []


def _with_error(item: Any, parsing: Parsing) -> ToolCall:
    """Read an item of a list of calls; LangChain says of an invalid one what is wrong."""
    call = (read_call(item, parsing) if isinstance(item, dict) else None) or not_a_call(item)
    error = item.get("error") if isinstance(item, dict) else None
    if error and call.problem is None:
        return msgspec.structs.replace(call, problem=str(error))
    return call


def _in_blocks(blocks: list[Any], parsing: Parsing) -> Iterator[ToolCall]:
    """Read the calls among blocks of text, thinking and the like."""
    for block in blocks:
        if not isinstance(block, dict):
            continue
        call = read_call(block, parsing)
        if call is not None:
            yield call
        elif is_call_type(type_of(block)):
            yield not_a_call(block)
