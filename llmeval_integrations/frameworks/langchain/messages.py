"""What an evaluator sees of LangChain's messages."""

from __future__ import annotations

from typing import Any

import msgspec

from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import MISSING, Missing, Sample
from llmeval_integrations.frameworks._messages import seen


def seen_by(evaluator: Evaluator, sample: Sample) -> Sample:
    """Return a sample with what the evaluator sees of messages in it."""
    views = {}
    for field in ("output", "reference"):
        given = getattr(sample, field)
        message = last_message(given)
        if message is not MISSING:
            views[field] = seen(evaluator, given, _said(given, message))
    return msgspec.structs.replace(sample, **views) if views else sample


def _said(given: Any, message: Any) -> Any:
    """Return the structured response of an agent's state, else the text of its last message."""
    response = given.get("structured_response") if isinstance(given, dict) else None
    return text(message) if response is None else response


def text(message: Any) -> str:
    """Return the text of a message."""
    from llmeval_integrations.llm.clients.langchain import text_of

    return text_of(message)


def last_message(thing: Any) -> Any:
    """Return a message, the last of a list or of LangGraph's state; MISSING where none is."""
    messages = thing.get("messages") if isinstance(thing, dict) else thing
    if messages is None or isinstance(messages, (str, Missing)):
        return MISSING
    from langchain_core.messages import BaseMessage

    if not isinstance(messages, (list, tuple)):
        messages = [messages]
    are_messages = messages and all(isinstance(each, BaseMessage) for each in messages)
    return messages[-1] if are_messages else MISSING
