"""What is said to a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

Role = Literal["system", "user", "assistant"]
ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant")


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Role
    """Who speaks: system, user or assistant."""

    content: str | tuple[str, ...]
    """The text, or its parts."""

    @property
    def text(self) -> str:
        """The content as one text, its parts in paragraphs of their own."""
        return self.content if isinstance(self.content, str) else "\n\n".join(self.content)


def system_apart(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Part the system's text from the conversation, for vendors that take them apart.

    A prompt of system messages alone is said by the user, because a conversation cannot be empty.
    """
    system = [message for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not others:
        return "", [Message("user", message.content) for message in system]
    return "\n\n".join(message.text for message in system), others
