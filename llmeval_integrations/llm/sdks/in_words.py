"""Asking for an answer's form by words, where a model has no other way."""

from __future__ import annotations

import json

from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.request import JudgeRequest

_WORDS = (
    "Reply with one JSON object and nothing else, without a code fence. "
    "It has to fit this JSON Schema:\n"
)


def messages_in_words(request: JudgeRequest) -> tuple[Message, ...]:
    """Return the messages with the wanted form described at the end of the last one."""
    *others, last = request.messages
    schema = json.dumps(request.schema, ensure_ascii=False)
    return (*others, Message(last.role, f"{last.text}\n\n{_WORDS}{schema}"))
