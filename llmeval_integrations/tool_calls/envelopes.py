"""What frameworks put around messages: states, results, and how these are saved. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

OF_A_MESSAGE: Final = frozenset(
    [
        *("role", "tool_calls", "toolCalls", "toolInvocations", "invalid_tool_calls"),
        *("message", "choices", "candidates"),
    ]
)
"""Members that a state has none of: messages beside them are those that were answered."""


_KINDS: Final = {
    "HumanMessage": "human",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "AIMessage": "ai",
}
"""The types of messages by their classes, of which LangChain.js saves these alone."""


def messages_of(value: Any) -> Any:
    """Return the messages of a state, those in results of LangChain's; all else as it is.

    Pydantic objects are asked for their fields: where one is declared as a message of any kind,
    its calls are not in what they dump.
    """
    if isinstance(value, (list, tuple)):
        return [_message_of(item) for item in value]
    members = value if isinstance(value, Mapping) else _fields(value)
    messages = members.get("messages")
    is_state = isinstance(messages, (list, tuple)) and OF_A_MESSAGE.isdisjoint(members)
    return messages if is_state else _message_of(value)


def _message_of(value: Any) -> Any:
    """Return the message of a result, the first where there are several; all else as it is."""
    result, several = value, _fields(value).get("generations")
    while isinstance(several, list) and several:
        result = several = several[0]
    message = _fields(result).get("message")
    return message if hasattr(type(message), "model_dump") else value


def _fields(value: Any) -> Mapping[str, Any]:
    is_model = hasattr(type(value), "model_dump")
    return getattr(value, "__dict__", {}) if is_model else {}


def restored(value: Any) -> Any:
    """Return the messages that LangChain saved as JSON; all else as it is.

    `messages_to_dict` writes `{"type", "data"}`, `dumpd` `{"lc", "type": "constructor", "kwargs"}`.
    """
    if isinstance(value, list):
        return [_restored(item) for item in value]
    return _restored(value)


def _restored(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    data, members = item.get("data"), item.get("kwargs")
    if item.keys() == {"type", "data"} and isinstance(data, dict) and "content" in data:
        return {"type": item["type"], **data}
    if "lc" not in item or item.get("type") != "constructor" or not isinstance(members, dict):
        return item
    message = members.get("message")  # of a generation
    if message is not None:
        return {**members, "message": _restored(message)}
    classes = item.get("id")
    kind = _KINDS.get(str(classes[-1])) if isinstance(classes, list) and classes else None
    return members if kind is None else {"type": kind, **members}
