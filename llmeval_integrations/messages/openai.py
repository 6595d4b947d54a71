"""Responses, messages and chunks of OpenAI's SDK."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.messages.reply import Reply, first, has_refusal, join, text_of_blocks


def read(thing: Any) -> Reply | None:
    """Read a completion, a response, or a message of one; None for anything else of OpenAI's."""
    if hasattr(thing, "choices"):
        choice = first(thing.choices)
        if choice is None:
            return Reply("")
        message = getattr(choice, "message", None) or getattr(choice, "delta", None)
        return Reply(getattr(choice, "text", None) or "") if message is None else read(message)
    if isinstance(output := getattr(thing, "output", None), list):
        return _read_response(thing, output)
    if not (hasattr(thing, "content") and hasattr(thing, "role")):
        return None
    refused = bool(getattr(thing, "refusal", None)) or has_refusal(thing.content)
    value = getattr(thing, "parsed", None)
    text = "" if refused else text_of_blocks(thing.content)
    by_model = thing.role in (None, "assistant", "model")
    return Reply(text, MISSING if value is None or refused else value, refused, by_model)


def _read_response(thing: Any, output: list[Any]) -> Reply:
    contents = [item.content for item in output if getattr(item, "type", None) == "message"]
    refused = any(map(has_refusal, contents))
    value = getattr(thing, "output_parsed", None)
    text = "" if refused else join(map(text_of_blocks, contents))
    return Reply(text, MISSING if value is None or refused else value, refused)


def read_part(thing: Any) -> Reply | None:
    """Read a part of a stream, a chunk or an event; None for anything else of OpenAI's."""
    name = type(thing).__name__
    if name == "ChatCompletionChunk":
        return read(thing)
    if not name.endswith("Event"):
        return None
    text = thing.delta if thing.type == "response.output_text.delta" else ""
    return Reply(text, refused=thing.type == "response.refusal.delta")
