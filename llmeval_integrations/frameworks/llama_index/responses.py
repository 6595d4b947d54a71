"""Read the responses of LlamaIndex's query engines, chats and agents."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from llmeval_integrations.core.errors import InputError


def split_response(response: Any) -> tuple[Any, list[str] | None]:
    """Return the answer of a response object, and the texts of its source nodes."""
    if response is None:
        return None, None
    has_answer = is_stream(response) or hasattr(response, "response")
    if not (has_answer and hasattr(response, "source_nodes")):
        raise InputError(
            f"{type(response).__name__} is not a response of a query engine; "
            "to evaluate a text, call evaluate(response=text)"
        )
    output = response if is_stream(response) else response.response
    if output == "" and hasattr(type(response), "chat_stream"):
        raise InputError("the stream of this chat response has not been read to its end")
    return output, [node.get_content() for node in response.source_nodes]


def is_stream(response: Any) -> bool:
    """Return whether this is a streaming response."""
    # A Pydantic response claims to have every attribute, but its class does not.
    return hasattr(type(response), "response_txt")


def collect(response: Any) -> Any:
    """Read an asynchronous stream to its end; return anything else unchanged."""
    if not _is_async_stream(response):
        return response
    # A thread is needed, since this one may already run an event loop.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, response.get_response()).result()


async def collect_async(response: Any) -> Any:
    """Read an asynchronous stream to its end in the running loop; return the rest unchanged."""
    return await response.get_response() if _is_async_stream(response) else response


def _is_async_stream(response: Any) -> bool:
    """Return whether this is an asynchronous stream; raise InputError if part of it was read."""
    stream: Any = getattr(response, "response_gen", None) if is_stream(response) else None
    if not hasattr(stream, "__anext__"):
        return False
    frame = getattr(stream, "ag_frame", None)
    is_new = frame is not None and frame.f_lineno == stream.ag_code.co_firstlineno
    is_whole = frame is None and response.response_txt is not None
    if not (is_new or is_whole):
        raise InputError(
            "the stream of this response has been read, and its text is gone; evaluate the text, "
            "or read the stream by get_response()"
        )
    return True
