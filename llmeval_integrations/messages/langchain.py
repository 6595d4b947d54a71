"""Messages, generations and prompts of LangChain."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.messages.reply import Reply, first, has_refusal, text_of_blocks


def read(thing: Any) -> Reply | None:
    """Read a message, or what stands around one; None for anything else of LangChain's."""
    if hasattr(thing, "content") and hasattr(thing, "additional_kwargs"):
        return _read_message(thing)
    if hasattr(thing, "generations"):  # a result has a list of them for each prompt, or one list
        found = first(thing.generations)
        found = first(found) if isinstance(found, list) else found
        return None if found is None else read(found)
    if hasattr(thing, "message"):
        return read(thing.message)
    if hasattr(thing, "to_messages"):
        messages = thing.to_messages()
        return read(messages[-1]) if messages else None
    text = getattr(thing, "text", None)
    return Reply(text) if isinstance(text, str) else None


def join(chunks: list[Any]) -> list[Any]:
    """Join the chunks of each message that was streamed; other messages stay as they are."""
    messages: list[Any] = []
    for chunk in chunks:
        if messages and _continues(messages[-1], chunk):
            messages[-1] += chunk
        else:
            messages.append(chunk)
    return messages


def _continues(message: Any, chunk: Any) -> bool:
    """Return whether a chunk is a part of the message that was streamed before it."""
    are_chunks = all(type(each).__name__.endswith("MessageChunk") for each in (message, chunk))
    return are_chunks and chunk.id in (None, message.id)


def _read_message(message: Any) -> Reply:
    text = text_of_blocks(message.content)
    refused = bool(message.additional_kwargs.get("refusal")) or has_refusal(message.content)
    by_model = message.type in ("ai", "AIMessageChunk")
    return Reply("" if refused else text, refused=refused, by_model=by_model)
