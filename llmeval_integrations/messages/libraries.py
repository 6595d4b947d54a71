"""Readers of messages and responses, one for each library, by the modules of its objects.

A reader takes an object and gives the reply in it, or None for anything else of the library. No
reader imports a library. `join` and the readers of parts are for what was streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import GEN_CREATED, getgeneratorstate, isgenerator
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.messages.reply import Reply, first, has_refusal, join, text_of_blocks

_REFUSALS: Final = frozenset(
    ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "LANGUAGE")
)
"""Google's reasons to finish that leave no answer, or a part of one that is not shown."""

_ROLES: Final = {"ai": "assistant", "human": "user"}
"""What LangChain calls the roles that APIs have."""


def read_openai(thing: Any) -> Reply | None:
    """Read a completion, a response, or a message of one."""
    if hasattr(thing, "choices"):
        choice = first(thing.choices)
        if choice is None:
            return Reply("")
        message = getattr(choice, "message", None) or getattr(choice, "delta", None)
        return (
            Reply(getattr(choice, "text", None) or "") if message is None else read_openai(message)
        )
    if isinstance(output := getattr(thing, "output", None), list):
        contents = [item.content for item in output if getattr(item, "type", None) == "message"]
        refused = any(map(has_refusal, contents))
        value = getattr(thing, "output_parsed", None)
        text = "" if refused else join(map(text_of_blocks, contents))
        return Reply(text, MISSING if value is None or refused else value, refused)
    if not (hasattr(thing, "content") and hasattr(thing, "role")):
        return None
    refused = bool(getattr(thing, "refusal", None)) or has_refusal(thing.content)
    value = getattr(thing, "parsed", None)
    text = "" if refused else text_of_blocks(thing.content)
    by_model = thing.role in (None, "assistant", "model")
    return Reply(text, MISSING if value is None or refused else value, refused, by_model)


def _read_openai_part(thing: Any) -> Reply | None:
    """Read a chunk or an event."""
    name = type(thing).__name__
    if name == "ChatCompletionChunk":
        return read_openai(thing)
    if not name.endswith("Event"):
        return None
    text = thing.delta if thing.type == "response.output_text.delta" else ""
    return Reply(text, refused=thing.type == "response.refusal.delta")


def _read_anthropic(thing: Any) -> Reply | None:
    """Read a message."""
    if not (hasattr(thing, "content") and hasattr(thing, "role")):
        return None
    refused = getattr(thing, "stop_reason", None) == "refusal"
    blocks = thing.content if isinstance(thing.content, list) else []
    values = [getattr(block, "parsed_output", None) for block in blocks]
    value = next((one for one in values if one is not None), MISSING)
    return Reply("" if refused else text_of_blocks(thing.content), value, refused)


def _read_anthropic_part(thing: Any) -> Reply | None:
    """Read an event."""
    if not type(thing).__name__.endswith("Event"):
        return None
    delta = getattr(thing, "delta", None)
    text = getattr(delta, "text", None) if thing.type == "content_block_delta" else None
    return Reply(text or "", refused=getattr(delta, "stop_reason", None) == "refusal")


def read_google(thing: Any) -> Reply | None:
    """Read a response, a candidate or a content."""
    if hasattr(thing, "candidates"):
        candidate = first(thing.candidates)
        if candidate is None:
            return Reply("", refused=getattr(thing, "prompt_feedback", None) is not None)
        reply = read_google(candidate)
        value = getattr(thing, "parsed", None)
        return reply if value is None or reply is None else reply._replace(value=value)
    if hasattr(thing, "finish_reason"):
        reason = getattr(thing.finish_reason, "name", thing.finish_reason)
        reply = None if thing.content is None else read_google(thing.content)
        refused = reason in _REFUSALS
        return Reply("" if refused or reply is None else reply.text, refused=refused)
    if not hasattr(thing, "parts"):
        return None
    text = join(part.text for part in thing.parts or [] if not getattr(part, "thought", None))
    return Reply(text, by_model=getattr(thing, "role", None) != "user")


def _read_google_part(thing: Any) -> Reply | None:
    """Read a response that is a part of a stream."""
    return read_google(thing) if hasattr(thing, "candidates") else None


def _read_langchain(thing: Any) -> Reply | None:
    """Read a message, or what stands around one."""
    if hasattr(thing, "content") and hasattr(thing, "additional_kwargs"):
        refused = bool(thing.additional_kwargs.get("refusal")) or has_refusal(thing.content)
        text = "" if refused else text_of_blocks(thing.content)
        return Reply(text, refused=refused, by_model=thing.type in ("ai", "AIMessageChunk"))
    if hasattr(thing, "generations"):  # a result has a list of them for each prompt, or one list
        found = first(thing.generations)
        found = first(found) if isinstance(found, list) else found
        return None if found is None else _read_langchain(found)
    if hasattr(thing, "message"):
        return _read_langchain(thing.message)
    if hasattr(thing, "to_messages"):
        messages = thing.to_messages()
        return _read_langchain(messages[-1]) if messages else None
    prompt = getattr(thing, "text", None)
    return Reply(prompt) if isinstance(prompt, str) else None


def join_chunks(chunks: list[Any]) -> list[Any]:
    """Join LangChain's chunks of each message that was streamed; other messages stay."""
    messages: list[Any] = []
    for chunk in chunks:
        pair = (messages[-1], chunk) if messages else ()
        are_chunks = pair and all(type(one).__name__.endswith("MessageChunk") for one in pair)
        if are_chunks and chunk.id in (None, messages[-1].id):
            messages[-1] += chunk
        else:
            messages.append(chunk)
    return messages


def _read_llama_index(thing: Any) -> Reply | None:
    """Read a message or a response.

    Raises InputError for a stream of which nobody kept what was read.
    """
    fields = vars(thing)  # a PydanticResponse has any attribute, and most are None
    if fields.get("structured_response") is not None:  # of an agent
        return Reply("", fields["structured_response"])
    if "response_txt" in fields:
        return Reply(_read_stream(thing))
    if "response" in fields:
        response = thing.response
        if isinstance(response, str):
            if not response and getattr(thing, "is_done", True) is False:
                raise InputError(
                    "the stream of this response is not read; read it to its end first"
                )
            return Reply(response)
        if hasattr(response, "role") and hasattr(response, "content"):
            return _read_llama_index(response)
        return Reply("") if response is None else Reply("", response)
    if "message" in fields:
        return _read_llama_index(thing.message)
    if hasattr(thing, "role") and hasattr(thing, "content"):
        role = str(getattr(thing.role, "value", thing.role))
        text = text_of_blocks(getattr(thing, "blocks", None)) or text_of_blocks(thing.content)
        return Reply(text, by_model=role in ("assistant", "model", "chatbot"))
    text = fields.get("text")
    return Reply(text) if isinstance(text, str) else None


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


def read_mapping(thing: Mapping[str, Any]) -> Reply | None:
    """Read a message or a response in JSON, of OpenAI's, Anthropic's, Google's or LangChain's."""
    if isinstance(thing.get("data"), Mapping) and "type" in thing:  # as LangChain saves messages
        thing = {"type": thing["type"], **thing["data"]}
    if isinstance(thing.get("candidates"), list):
        return read_google(_as_object(thing))
    is_response = isinstance(thing.get("choices"), list) or thing.get("object") == "response"
    role = thing.get("role") or thing.get("type")
    if not is_response and not (isinstance(role, str) and "content" in thing):
        return None
    return read_openai(_as_object({"role": _ROLES.get(str(role), role), **thing}))


def _as_object(value: Any) -> Any:
    """Return a JSON value whose objects have their members as attributes."""
    if isinstance(value, Mapping):
        return SimpleNamespace(**{str(name): _as_object(part) for name, part in value.items()})
    return [_as_object(part) for part in value] if isinstance(value, list) else value


class Library(NamedTuple):
    """How the objects of a library are read."""

    read: Callable[[Any], Reply | None]
    read_part: Callable[[Any], Reply | None] | None = None
    """Reads a part of a stream; None where the library streams whole messages."""


LIBRARIES: Final = {
    "langchain_core": Library(_read_langchain),
    "llama_index": Library(_read_llama_index),
    "openai": Library(read_openai, _read_openai_part),
    "anthropic": Library(_read_anthropic, _read_anthropic_part),
    "google": Library(read_google, _read_google_part),
}
"""The packages whose objects are known."""
