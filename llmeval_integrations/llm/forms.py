"""The form of an answer, and OpenAI's chat completions, which many servers support."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from llmeval_integrations.llm.messages import Image, Message, Output, Request
from llmeval_integrations.llm.reply import Reply, finish_of, text_or_calls, usage_of
from llmeval_integrations.messages.reply import text_of_blocks

_WORDS: Final = (
    "Reply with one JSON object and nothing else, without a code fence. "
    "It has to fit this JSON Schema:\n"
)
_STRICT: Final = frozenset(
    ["type", "enum", "const", "pattern", "format", "multipleOf", "minimum", "maximum",
     "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "title", "description",
     "required", "additionalProperties", "$ref", "items", "anyOf", "properties", "$defs",
     "definitions"]
)  # fmt: skip
"""The keywords that strict mode accepts."""

_DROPPED: Final = frozenset({"default", "examples", "$schema"})
"""Keywords that strict mode refuses and that neither allow nor forbid a value."""

_FORMATS: Final = frozenset(
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", None]
)


def in_words(request: Request, output: Output) -> tuple[Message, ...]:
    """Return the messages; for the output "json" the last one ends with the wanted form."""
    if output != "json":
        return request.messages
    *others, last = request.messages
    words = _WORDS + json.dumps(request.schema, ensure_ascii=False)
    is_text = isinstance(last.content, str)
    content = f"{last.text}\n\n{words}" if is_text else (*last.blocks, words)
    return (*others, Message(last.role, content))


def openai_form(request: Request, output: Output) -> dict[str, Any]:
    """Return the arguments that request the form, in strict mode if the schema allows it."""
    if request.schema is None or output not in ("json_schema", "tool"):
        return {}
    strict = strict_schema(request.schema)
    name, schema, is_strict = request.schema_name, strict or request.schema, strict is not None
    if output == "json_schema":
        form = {"name": name, "schema": schema, "strict": is_strict}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    function = {"name": name, "parameters": schema, "strict": is_strict}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": name}},
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


def read_chat(response: Mapping[str, Any], name: str, output: Output) -> Reply:
    """Read a completion; `name` is used if the completion does not name its model."""
    choice = response["choices"][0]
    message = choice["message"]
    # a call of a custom tool has no function
    functions = [call.get("function") for call in message.get("tool_calls") or ()]
    calls = [function["arguments"] for function in functions if function is not None]
    litellm = message.get("provider_specific_fields") or {}
    refusal = message.get("refusal") or litellm.get("refusal")
    content = message.get("content")
    if isinstance(content, list):  # some servers send parts, with the reasoning among them
        content = text_of_blocks(content)
    return Reply(
        text=refusal or text_or_calls(content, calls),
        finish="refused" if refusal else finish_of(choice.get("finish_reason")),
        usage=usage_of(response.get("usage")),
        model=response.get("model") or name,
        output=output,
    )


def strict_schema(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Close all objects and require all of their properties; None if strict mode cannot do so.

    A value that fits the new schema fits the old one. Strict mode lacks objects with free keys,
    `oneOf`, `allOf`, lengths of texts, and values of any type.
    """
    try:
        return _strict(schema) if schema.get("type") == "object" else None
    except ValueError:
        return None


def _strict(schema: Any) -> dict[str, Any]:
    """Make a nested schema strict; raises ValueError if strict mode cannot express it."""
    if not isinstance(schema, dict) or not schema.keys() <= _STRICT | _DROPPED:
        raise ValueError(schema)
    strict = {word: each for word, each in schema.items() if word not in _DROPPED}
    for word in ("properties", "$defs", "definitions"):
        if word in strict:
            strict[word] = {name: _strict(each) for name, each in strict[word].items()}
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(each) for each in strict["anyOf"]]
    if "items" in strict:
        strict["items"] = _strict(strict["items"])
    if "$ref" in strict:  # may have no neighbours
        return {word: strict[word] for word in strict.keys() & {"$ref", "$defs"}}
    kinds = strict.get("type", [])
    has_type = kinds or strict.keys() & {"enum", "const", "anyOf"}
    has_items = "array" not in kinds or "items" in strict
    if not has_type or not has_items or strict.get("format") not in _FORMATS:
        raise ValueError(schema)
    if "object" not in kinds:
        return strict
    names = [*strict.get("properties", ())]
    is_open = strict.get("additionalProperties", False) is not False
    if is_open or not names or not {*strict.get("required", ())} <= {*names}:
        raise ValueError(schema)
    return {**strict, "required": names, "additionalProperties": False}
