"""Read the reply of a model from the messages and responses of each library, and from their JSON.

A reader returns the reply in an object, or None for anything else. No library is imported. Objects
are recognized by the module of their class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import GEN_CREATED, getgeneratorstate, isgenerator
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import add_article
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.tool_calls.call import is_answer, members_of, refuse_stream

_REFUSALS: Final = frozenset(
    ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "LANGUAGE")
)
"""The finish reasons of Google with which there is no answer, or only a hidden part of one."""

_MODELS: Final = (None, "assistant", "model", "chatbot", "ai", "AIMessageChunk")
"""The roles of messages that a model wrote. The parts of a stream have no role."""


class Reply(NamedTuple):
    """The text of a message, and what else a library says about it."""

    text: str
    """What the model wrote; empty if it wrote nothing or refused."""

    value: Any = MISSING
    """The answer that the library parsed, if it did."""

    refused: bool = False
    """Whether the model or its provider refused to answer."""

    by_model: bool = True
    """Whether a model wrote it, and not a user, a system or a tool."""


def _reply(content: Any, role: Any, value: Any = None, *, refused: Any = False) -> Reply:
    """Return the reply with this content, which may contain a refusal."""
    blocks = content if isinstance(content, (list, tuple)) else ()
    refused = bool(refused) or any(_get(block, "type") == "refusal" for block in blocks)
    text = "" if refused else text_of_blocks(content)
    return Reply(text, MISSING if value is None or refused else value, refused, role in _MODELS)


def text_of_blocks(content: Any) -> str:
    """Return the text of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    return join(map(_text_of, content)) if isinstance(content, (list, tuple)) else ""


def _text_of(block: Any) -> Any:
    kind = _get(block, "type") or _get(block, "block_type")
    return _get(block, "text") if kind in ("text", "output_text") else block


def join(parts: Iterable[Any]) -> str:
    """Join the parts that are texts."""
    return "".join(part for part in parts if isinstance(part, str))


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _has(thing: Any, *names: str) -> bool:
    is_mapping = isinstance(thing, Mapping)
    return all(name in thing if is_mapping else hasattr(thing, name) for name in names)


def _first(values: Any) -> Any:
    """Return the first of several choices, candidates or generations, or None."""
    return values[0] if isinstance(values, (list, tuple)) and values else None


# --- readers --------------------------------------------------------------------------------------


def _read_chat(thing: Any) -> Reply | None:
    """Read a completion or a response of OpenAI, or a message of OpenAI or Anthropic."""
    if _has(thing, "choices"):
        choice = _first(_get(thing, "choices"))
        message = _get(choice, "message")
        return Reply(_get(choice, "text") or "") if message is None else _read_chat(message)
    if isinstance(output := _get(thing, "output"), list):
        contents = [_get(item, "content") for item in output if _get(item, "type") == "message"]
        blocks = [block for content in contents for block in content or ()]
        return _reply(blocks, None, _get(thing, "output_parsed"))
    if not _has(thing, "content", "role"):
        return None
    content, value = _get(thing, "content"), _get(thing, "parsed")
    blocks = content if value is None and isinstance(content, list) else []
    values = (_get(block, "parsed_output") for block in blocks)
    value = next((one for one in values if one is not None), value)
    refused = _get(thing, "refusal") or _get(thing, "stop_reason") == "refusal"
    return _reply(content, _get(thing, "role"), value, refused=refused)


def _read_google(thing: Any) -> Reply | None:
    """Read a response, a candidate or a content of Google."""
    if _has(thing, "candidates"):
        candidate = _first(_get(thing, "candidates"))
        if candidate is None:
            return Reply("", refused=_get(thing, "prompt_feedback") is not None)
        reply, value = _read_google(candidate), _get(thing, "parsed")
        return reply if value is None or reply is None else reply._replace(value=value)
    if _has(thing, "finish_reason"):
        reason = _get(thing, "finish_reason")
        refused = getattr(reason, "name", reason) in _REFUSALS
        inner = _read_google(_get(thing, "content"))
        return Reply("" if refused or inner is None else inner.text, refused=refused)
    if not _has(thing, "parts"):
        return None
    parts = [part for part in _get(thing, "parts") or [] if not _get(part, "thought")]
    return _reply([_get(part, "text") for part in parts], _get(thing, "role"))


def _read_langchain(thing: Any) -> Reply | None:
    """Read a message, or a generation or result with one."""
    if _has(thing, "content", "additional_kwargs"):
        return _reply(thing.content, thing.type, refused=thing.additional_kwargs.get("refusal"))
    if hasattr(thing, "generations"):  # one list, or a list for each prompt
        found = _first(thing.generations)
        found = _first(found) if isinstance(found, list) else found
        return None if found is None else _read_langchain(found)
    if hasattr(thing, "message"):
        return _read_langchain(thing.message)
    prompt = getattr(thing, "text", None)
    return Reply(prompt) if isinstance(prompt, str) else None


def _read_llama_index(thing: Any) -> Reply | None:
    """Read a message or a response.

    Raises InputError for a stream that was read without keeping its text.
    """
    fields = vars(thing)  # a PydanticResponse has every attribute, and most are None
    if fields.get("structured_response") is not None:  # of an agent
        return Reply("", fields["structured_response"])
    if "response_txt" in fields:
        return Reply(_read_stream(thing))
    if "response" in fields:
        response = thing.response
        if response == "" and getattr(thing, "is_done", True) is False:
            raise InputError("the stream of this response is not read; read it to its end first")
        if response is None or isinstance(response, str):
            return Reply(response or "")
        is_message = _has(response, "role", "content")
        return _read_llama_index(response) if is_message else Reply("", response)
    if "message" in fields:
        reply = _read_llama_index(thing.message)
        return reply and reply._replace(value=_structured(fields.get("raw"), reply.text))
    if _has(thing, "role", "content"):
        role = str(getattr(thing.role, "value", thing.role))
        text = text_of_blocks(getattr(thing, "blocks", None))
        return _reply(text or thing.content, role)
    text = fields.get("text")
    return Reply(text, _structured(fields.get("raw"), text)) if isinstance(text, str) else None


def _structured(raw: Any, text: str) -> Any:
    """Return the object of which a structured LLM of LlamaIndex wrote the text, if it did."""
    dump = getattr(raw, "model_dump_json", None) if text[:1] == "{" else None
    return raw if dump is not None and dump() == text else MISSING


def _read_pydantic_ai(thing: Any) -> Reply | None:
    """Read the result of a run, or a message.

    Raises InputError for a run that is not complete, and for an event of its stream.
    """
    if _has(thing, "output", "all_messages"):
        return Reply(thing.output) if isinstance(thing.output, str) else Reply("", thing.output)
    if _has(thing, "all_messages") or _has(thing, "event_kind"):
        kind = add_article(type(thing).__name__)
        raise InputError(f"{kind} is part of a stream; pass the output or the result of the run")
    if not _has(thing, "parts", "kind"):
        return None
    by_model, calls = thing.kind == "response", [*filter(is_answer, map(members_of, thing.parts))]
    texts = [part.content for part in thing.parts if part.part_kind == "text"]
    return Reply(join(texts), calls[-1]["args"] if calls else MISSING, by_model=by_model)


def _read_stream(thing: Any) -> str:
    """Read a stream to its end. The response keeps the text, so it can be read again."""
    stream, text = thing.response_gen, thing.response_txt
    is_open = getattr(stream, "ag_frame", None) is not None
    if hasattr(stream, "__anext__") and (text is None or is_open):
        raise InputError("the stream is asynchronous; await its get_response() first")
    if text is not None:
        return str(text)
    if isgenerator(stream) and getgeneratorstate(stream) != GEN_CREATED:
        raise InputError(
            "the stream of this response has been read, and its text is lost; evaluate the text, "
            "or read the stream with get_response()"
        )
    return str(thing.get_response().response or "")


_READERS: Final[dict[str, Callable[[Any], Reply | None]]] = {
    "langchain_core": _read_langchain,
    "llama_index": _read_llama_index,
    "openai": _read_chat,
    "anthropic": _read_chat,
    "google": _read_google,
    "pydantic_ai": _read_pydantic_ai,
}
"""The reader of each known package."""


def library_of(thing: Any) -> str | None:
    """Return the known package that defines an object's class or one of its bases."""
    for base in type(thing).__mro__:
        package = base.__module__.partition(".")[0]
        if package in _READERS:
            return package
    return None


def read_object(thing: Any) -> Reply | None:
    """Read an object of a known library.

    Raises InputError for a chunk or an event of a stream of OpenAI or Anthropic.
    """
    library = library_of(thing)
    if library in ("openai", "anthropic"):
        refuse_stream(thing)
    return None if library is None else _READERS[library](thing)


def read_mapping(thing: Mapping[str, Any]) -> Reply | None:
    """Read a message or a response as JSON, of OpenAI, Anthropic, Google or LangChain."""
    if isinstance(thing.get("data"), Mapping) and "type" in thing:  # as LangChain saves messages
        thing = {"type": thing["type"], **thing["data"]}
    if isinstance(thing.get("candidates"), list):
        return _read_google(thing)
    is_response = isinstance(thing.get("choices"), list) or thing.get("object") == "response"
    role = thing.get("role") or thing.get("type")
    if not is_response and not (isinstance(role, str) and "content" in thing):
        return None
    return _read_chat({**thing, "role": role})
