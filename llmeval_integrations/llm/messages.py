"""What is said to a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import msgspec

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote

Role = Literal["system", "user", "assistant"]
ROLES: Final[tuple[Role, ...]] = ("system", "user", "assistant")

Output = Literal["auto", "json_schema", "tool", "json", "text"]
OUTPUTS: Final[tuple[Output, ...]] = ("auto", "json_schema", "tool", "json", "text")
"""How an answer in a given form is asked for: by the provider's own structured output, by a
forced tool call, by words in the prompt, or not at all; "auto" takes the first that works."""


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Role
    """Who speaks: system, user or assistant."""

    content: str | tuple[str, ...]
    """The text, or its parts."""

    @property
    def text(self) -> str:
        """The content as one text, its parts in paragraphs of their own."""
        return "\n\n".join(self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The content as parts."""
        return (self.content,) if isinstance(self.content, str) else self.content


class Request(msgspec.Struct, frozen=True):
    """One question to a model."""

    messages: tuple[Message, ...]
    """The conversation so far, the question last."""

    schema: dict[str, Any] | None = None
    """The JSON Schema of the wanted answer, an object; None for free text."""

    schema_name: str = "answer"
    """What the answer is called on the wire."""

    output: Output = "auto"
    """How the form of the answer is asked for; other than "auto" it overrules the client's."""

    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    """The sampling temperature; None leaves it to the client."""

    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """The longest reply, in tokens; None leaves it to the client."""

    fence: str = ""
    """A mark in the messages that is drawn anew for each call, and so no part of a cache key."""

    draw: tuple[int, ...] = ()
    """Which of several replies to the same question is wanted: its number in each vote around it,
    the outermost one's first. Each is cached by itself."""

    @property
    def text(self) -> str:
        """All messages as one text."""
        return "\n\n".join(message.text for message in self.messages)

    @classmethod
    def of(cls, prompt: Any, **fields: Any) -> Request:
        """Make a request of a text or a list of messages; raises InvalidOptionError."""
        messages = [Message("user", prompt)] if isinstance(prompt, str) else prompt
        try:
            return msgspec.convert({"messages": messages, **fields}, cls)
        except msgspec.ValidationError as error:
            what, _, place = str(error).partition(" - at `$.")
            name = place.rstrip("`")
            shown = f"{name}={quote(fields[name])}" if name in fields else f"prompt={quote(prompt)}"
            where = "" if name in fields else f" at {name}"
            raise InvalidOptionError(f"{shown}: {what}{where}") from None


def split_system(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Part the system's text from the conversation, for vendors that take them apart.

    A prompt of system messages alone is said by the user, because a conversation cannot be empty.
    """
    system = [message for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not others:
        return "", [Message("user", message.content) for message in system]
    return "\n\n".join(message.text for message in system), others
