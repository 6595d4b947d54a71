"""Messages, and what stands around them: responses, results, states and lists."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.tool_calls.readers import read_block
from llmeval_integrations.tool_calls.readers.google import read as read_candidate
from llmeval_integrations.tool_calls.readers.shape import (
    Fields,
    Part,
    RawCall,
    fields_of,
    list_in,
    text_in,
    type_of,
    unknown,
)

_MOST_LEVELS: Final = 8
"""How deep a message may stand in what is around it; a value may hold itself."""

_OTHERS: Final = frozenset(("user", "human", "system", "developer", "tool", "function"))
_BLOCKS: Final = ("content", "parts", "blocks", "output", "steps")
_AROUND: Final = frozenset(
    [
        *("choices", "candidates", "generations", "message", "output", "messages"),
        *("data", "kwargs", "content"),
    ]
)
_MESSAGE: Final = frozenset(("role", "content", "tool_calls", "invalid_tool_calls"))


def read_parts(value: Any, levels: int = _MOST_LEVELS) -> list[Part] | None:
    """Return the calls and texts of a model; None where no reader knows the value.

    In a list whatever no reader knows is a call with a problem.
    """
    if not levels:
        return []
    if isinstance(value, (list, tuple)):
        return _joined([part for item in value for part in _read_item(item, levels - 1)], value)
    fields = fields_of(value)
    inner = _inner(fields)
    if inner is not None:
        return read_parts(inner, levels - 1)
    found = read_block(fields)
    return _read_message(fields, levels) if found is None else found


def _read_item(item: Any, levels: int) -> list[Part]:
    found = read_parts(fields_of(item), levels)
    return [unknown(item)] if found is None else found


def _joined(parts: list[Part], items: Any) -> list[Part]:
    """Join the texts of blocks, in which a tag may begin in one and end in another."""
    return parts if any(_is_message(fields_of(item)) for item in items) else _calls_or_text(parts)


def _calls_or_text(parts: list[Part]) -> list[Part]:
    calls = [part for part in parts if isinstance(part, RawCall)]
    return [*calls] or ["".join(part for part in parts if isinstance(part, str))]


def _inner(fields: Fields) -> Any:
    """Return what a response, a result or a state is around; None of anything else."""
    if _AROUND.isdisjoint(fields):
        return None
    for name in ("choices", "candidates", "generations"):
        if several := list_in(fields, name):
            return several[0]
    message, output = fields.get("message"), fields_of(fields.get("output"))
    if message is not None and not isinstance(message, str):  # of a choice, or a generation
        return message
    if "message" in output:  # Amazon's
        return output["message"]
    if isinstance(fields.get("messages"), (list, tuple)) and _MESSAGE.isdisjoint(fields):
        return fields["messages"]
    for name in ("data", "kwargs"):  # as LangChain saves messages
        saved = fields_of(fields.get(name))
        if "type" in fields and ("content" in saved or "message" in saved):
            return {"type": fields["type"], **saved}
    content = fields.get("content")  # of a candidate
    if not fields_of(content) or "role" in fields or read_candidate(fields) is not None:
        return None
    return content


def _read_message(fields: Fields, levels: int) -> list[Part] | None:
    """Read the calls that a message lists, else its blocks, else its text."""
    if not _is_message(fields):
        return None
    if (text_in(fields, "role") or type_of(fields)) in _OTHERS:
        return []
    if listed := _listed(fields):
        return [part for item in listed for part in _read_item(item, levels - 1)]
    if wrong := read_candidate(fields_of(fields.get("response_metadata"))):
        return wrong
    content = fields.get("content")
    if isinstance(content, str) and content:
        return [content]
    found: list[Part] = []
    for block in next((blocks for name in _BLOCKS if (blocks := list_in(fields, name))), []):
        is_text = isinstance(block, str)
        found += [block] if is_text else read_parts(fields_of(block), levels - 1) or []
    return _calls_or_text(found)


def _is_message(fields: Fields) -> bool:
    """Whether this is a message, or has blocks as one; all steps of Google's have a type."""
    if not _MESSAGE.isdisjoint(fields):
        return True
    steps = list_in(fields, "steps")
    return (bool(steps) and all(type_of(fields_of(step)) for step in steps)) or any(
        isinstance(fields.get(name), (list, tuple)) for name in ("parts", "blocks", "output")
    )


def _listed(message: Fields) -> list[Any]:
    """Return what a message lists as calls, apart from its blocks."""
    streamed = list_in(message, "tool_call_chunks")
    if streamed:  # beside them LangChain lists calls whose arguments it has completed
        return [{**fields_of(one), "type": "tool_call"} for one in streamed]
    calls, invalid = list_in(message, "tool_calls"), list_in(message, "invalid_tool_calls")
    if calls and not invalid:  # LangChain may list these among the blocks alone
        blocks = map(fields_of, list_in(message, "content"))
        invalid = [block for block in blocks if type_of(block) == "invalid_tool_call"]
    if calls or invalid:
        return [*calls, *invalid]
    extra = fields_of(message.get("additional_kwargs"))
    alone = extra.get("function_call")
    return list_in(extra, "tool_calls") or ([{"function_call": alone}] if alone else [])
