"""Writes requests in the form of OpenAI's chat completions, which other APIs share."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from llmeval_integrations.llm.messages import Image, Message, Output, Request

_STRICT: Final = frozenset(
    """
    type enum const pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum
    minItems maxItems title description required additionalProperties $ref items anyOf properties
    $defs definitions
    """.split()  # noqa: SIM905 - a list would fill a page
)
"""The keywords that strict mode accepts."""

_DROPPED: Final = frozenset({"default", "examples", "$schema"})
"""Keywords that strict mode refuses and that neither allow nor forbid a value."""


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

    A value that fits the new schema fits the old one. Strict mode lacks objects with free keys,
    `oneOf`, `allOf`, lengths of texts, and values of any type.
    """
    with suppress(ValueError):
        if schema.get("type") == "object":
            return _close(schema), True
    return schema, False


def _close(schema: Any) -> Any:
    """Close the objects of a nested schema; raises ValueError if strict mode lacks a part of it."""
    if not isinstance(schema, dict) or not schema.keys() <= _STRICT | _DROPPED:
        raise ValueError(schema)
    strict = {word: each for word, each in schema.items() if word not in _DROPPED}
    for word in strict.keys() & {"properties", "$defs", "definitions"}:
        strict[word] = {name: _close(each) for name, each in strict[word].items()}
    if "anyOf" in strict:
        strict["anyOf"] = [*map(_close, strict["anyOf"])]
    if "items" in strict:
        strict["items"] = _close(strict["items"])
    if "$ref" in strict:  # may have no neighbours
        return {word: strict[word] for word in strict.keys() & {"$ref", "$defs"}}
    kinds = strict.get("type", ())  # one, or a list of them
    has_type = kinds or strict.keys() & {"enum", "const", "anyOf"}
    if not has_type or ("array" in kinds and "items" not in strict):
        raise ValueError(schema)
    if "object" in kinds:
        names = [*strict.get("properties", ())]
        is_open = strict.get("additionalProperties", False) is not False
        if is_open or not names or not {*strict.get("required", ())} <= {*names}:
            raise ValueError(schema)
        strict |= {"required": names, "additionalProperties": False}
    return strict
