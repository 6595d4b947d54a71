"""What a judge asks."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from llmeval_integrations.llm.messages import Message

Output = Literal["auto", "json_schema", "tool", "json", "text"]
OUTPUTS: Final[tuple[Output, ...]] = ("auto", "json_schema", "tool", "json", "text")
"""How an answer in a given form is asked for: by the provider's own structured output, by a
forced tool call, by words in the prompt, or not at all; "auto" takes the first that works."""


class JudgeRequest(msgspec.Struct, frozen=True):
    """One question to a model."""

    messages: tuple[Message, ...]
    """The conversation so far, the question last."""

    schema: dict[str, Any] | None = None
    """The JSON schema of the wanted answer, an object; None where it is free text."""

    schema_name: str = "answer"
    """What the answer is called on the wire."""

    output: Output = "auto"
    """How the form of the answer is asked for; other than "auto" it overrules the client's."""

    temperature: float | None = None
    """The sampling temperature; None leaves it to the client."""

    max_tokens: int | None = None
    """The longest reply, in tokens; None leaves it to the client."""

    fence: str = ""
    """A mark in the messages that is drawn anew for each call, and so no part of a cache key."""

    draw: tuple[int, ...] = ()
    """Which of several replies to the same question is wanted: its number in each vote around it,
    the outermost one's first. Each is cached by itself."""

    without: frozenset[str] = frozenset()
    """Parameters of the vendor's call that are left out; clients say this to themselves, when a
    model's server refuses them."""
