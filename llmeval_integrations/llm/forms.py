"""The form of an answer, and OpenAI's chat completions, which many servers support."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final

from llmeval_integrations.llm.messages import Image, Message, Output, Request

_WORDS: Final = (
    "Reply with one JSON object and nothing else, without a code fence. "
    "It has to fit this JSON Schema:\n"
)
_DROPPED: Final = frozenset({"default", "examples", "$schema"})
"""Keywords that strict mode refuses and that neither allow nor forbid a value."""


def in_words(request: Request, output: Output) -> tuple[Message, ...]:
    """Return the messages; for the output "json" the last one ends with the wanted form."""
    if output != "json":
        return request.messages
    *others, last = request.messages
    words = _WORDS + json.dumps(request.schema, ensure_ascii=False)
    is_text = isinstance(last.content, str)
    content = f"{last.text}\n\n{words}" if is_text else (*last.blocks, words)
    return (*others, Message(last.role, content))


def split_system(messages: tuple[Message, ...]) -> tuple[str, list[Message]]:
    """Separate the system's text from the conversation, for vendors that receive them apart."""
    system = [message.text for message in messages if message.role == "system"]
    return "\n\n".join(system), [each for each in messages if each.role != "system"]


def openai_form(request: Request, output: Output) -> dict[str, Any]:
    """Return the arguments that request the form, in strict mode if the schema allows it."""
    if request.schema is None or output not in ("json_schema", "tool"):
        return {}
    schema, is_strict = strict_schema(request.schema)
    form = {"name": request.schema_name, "strict": is_strict}
    if output == "json_schema":
        wanted = {"type": "json_schema", "json_schema": {**form, "schema": schema}}
        return {"response_format": wanted}
    return {
        "tools": [{"type": "function", "function": {**form, "parameters": schema}}],
        "tool_choice": {"type": "function", "function": {"name": request.schema_name}},
    }


def chat_message(message: Message) -> dict[str, Any]:
    """Return a message as JSON for chat completions."""
    content: Any = message.content
    if not isinstance(content, str):
        content = [
            {"type": "image_url", "image_url": {"url": block.address}}
            if isinstance(block, Image)
            else {"type": "text", "text": block}
            for block in content
        ]
    return {"role": message.role, "content": content}


def strict_schema(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Close all objects and require all of their properties, and return whether that worked.

    A value that fits the new schema fits the old one. Strict mode lacks objects with free keys. If
    it lacks another keyword, the server refuses the form, and the next one is tried.
    """
    with suppress(ValueError):
        return _close(schema), True
    return schema, False


def _close(schema: Any) -> Any:
    """Close the objects of a nested schema; raises ValueError for one with free keys."""
    if not isinstance(schema, dict):
        return schema
    strict = {word: each for word, each in schema.items() if word not in _DROPPED}
    for word in strict.keys() & {"properties", "$defs", "definitions"}:
        strict[word] = {name: _close(each) for name, each in strict[word].items()}
    if "anyOf" in strict:
        strict["anyOf"] = [*map(_close, strict["anyOf"])]
    if "items" in strict:
        strict["items"] = _close(strict["items"])
    if "$ref" in strict:  # may have no neighbours
        return {word: strict[word] for word in strict.keys() & {"$ref", "$defs"}}
    if "object" in strict.get("type", ()):
        names = [*strict.get("properties", ())]
        is_open = strict.get("additionalProperties", False) is not False
        if is_open or not names or not {*strict.get("required", ())} <= {*names}:
            raise ValueError(schema)
        strict |= {"required": names, "additionalProperties": False}
    return strict
