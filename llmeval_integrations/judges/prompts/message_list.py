"""Reading the messages of a template: who speaks, and what is text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.messages import ROLES, Message

_OUR_ROLES: Final = {
    "developer": "system",
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
}


def messages_of(template: Any) -> tuple[Message, ...]:
    """Return the messages of a template: a text is one of the user's.

    Raises InvalidOptionError, with the number of the message from 1, for a role that is not one
    of ours, a part that is not text, and a key that would be ignored.
    """
    if isinstance(template, str):
        return (Message("user", template),)
    if not isinstance(template, (list, tuple)) or not template:
        raise InvalidOptionError(
            f"prompt: template={quote(template)} is not a text or a list of messages, which are "
            "written {'role': ..., 'content': ...}"
        )
    return tuple(_message(entry, number) for number, entry in enumerate(template, 1))


def parts_of(message: Message) -> tuple[str, ...]:
    """Return the parts of a message; a text is one."""
    return (message.content,) if isinstance(message.content, str) else message.content


def _message(entry: Any, number: int) -> Message:
    if isinstance(entry, Message):
        entry = {"role": entry.role, "content": entry.content}
    if not isinstance(entry, Mapping) or set(entry) != {"role", "content"}:
        raise InvalidOptionError(
            f"prompt: message {number}, {quote(entry)}, is not a mapping with role and content "
            "and nothing else"
        )
    role, content = entry["role"], entry["content"]
    if role not in ROLES:
        ours = _OUR_ROLES.get(role) if isinstance(role, str) else None
        raise InvalidOptionError(
            f"prompt: message {number}: role {quote(role)} is not one of {', '.join(ROLES)}"
            + (f"; it is called {ours} here, whichever the model" if ours else "")
        )
    if isinstance(content, str):
        return Message(role, content)
    if not isinstance(content, (list, tuple)) or not content:
        raise InvalidOptionError(
            f"prompt: message {number}: content {quote(content)} is not a text or a list of parts"
        )
    return Message(role, tuple(_part(part, number) for part in content))


def _part(part: Any, number: int) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or "type" not in part:
        problem = f'{quote(part)} is not of the form {{"type": "text", "text": ...}}'
    elif part["type"] != "text":
        problem = f"type {quote(part['type'])} is not 'text', and a prompt holds only text"
    elif set(part) != {"type", "text"} or not isinstance(part["text"], str):
        problem = f"{quote(part)} has not exactly a type and a text"
    else:
        return str(part["text"])
    raise InvalidOptionError(f"prompt: message {number}: part {problem}")
