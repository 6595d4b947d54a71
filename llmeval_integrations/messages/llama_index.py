"""Messages and responses of LlamaIndex."""

from __future__ import annotations

from inspect import GEN_CREATED, getgeneratorstate, isgenerator
from typing import Any

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.messages.reply import Reply, text_of_blocks


def read(thing: Any) -> Reply | None:
    """Read a message or a response; None for anything else of LlamaIndex's.

    Raises InputError for a stream of which nobody kept what was read.
    """
    fields = vars(thing)  # a PydanticResponse has any attribute, and most are None
    if fields.get("structured_response") is not None:  # of an agent
        return Reply("", fields["structured_response"])
    if "response_txt" in fields:
        return Reply(_read_stream(thing))
    if "response" in fields:
        return _read_response(thing)
    if "message" in fields:
        return read(thing.message)
    if hasattr(thing, "role") and hasattr(thing, "content"):
        role = str(getattr(thing.role, "value", thing.role))
        text = text_of_blocks(getattr(thing, "blocks", None)) or text_of_blocks(thing.content)
        return Reply(text, by_model=role in ("assistant", "model", "chatbot"))
    text = fields.get("text")
    return Reply(text) if isinstance(text, str) else None


def _read_response(thing: Any) -> Reply | None:
    response = thing.response
    if response is None:
        return Reply("")
    if isinstance(response, str):
        if not response and getattr(thing, "is_done", True) is False:
            raise InputError("the stream of this response is not read; read it to its end first")
        return Reply(response)
    is_message = hasattr(response, "role") and hasattr(response, "content")
    return read(response) if is_message else Reply("", response)


def _read_stream(thing: Any) -> str:
    """Read a stream to its end; the response keeps the text for whoever asks again."""
    stream = thing.response_gen
    if thing.response_txt is None:
        if hasattr(stream, "__anext__"):
            raise InputError("an asynchronous stream is read first: await its get_response()")
        if isgenerator(stream) and getgeneratorstate(stream) != GEN_CREATED:
            raise InputError(
                "the stream of this response has been read, and its text is gone; evaluate the "
                "text, or read the stream by get_response()"
            )
    return str(thing.get_response().response or "")
