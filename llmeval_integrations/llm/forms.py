"""Asking for the form of an answer: by words, or by a schema as OpenAI's strict mode wants it."""

from __future__ import annotations

import json
from typing import Any, Final

from llmeval_integrations.llm.messages import Message, Output, Request

_WORDS: Final = (
    "Reply with one JSON object and nothing else, without a code fence. "
    "It has to fit this JSON Schema:\n"
)
_KEPT: Final = frozenset(
    ["type", "enum", "const", "pattern", "format", "multipleOf", "minimum", "maximum",
     "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "title", "description",
     "required", "additionalProperties", "$ref"]
)  # fmt: skip
"""Keywords that strict mode takes and that hold no schema."""

_NAMED: Final = frozenset({"properties", "$defs", "definitions"})
"""Keywords that hold schemas by name."""

_DROPPED: Final = frozenset({"default", "examples", "$schema"})
"""Keywords that it does not take and that allow or forbid no value."""

_KNOWN: Final = _KEPT | _NAMED | _DROPPED | {"items", "anyOf"}

_FORMATS: Final = frozenset(
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", None]
)


def in_words(request: Request, output: Output) -> tuple[Message, ...]:
    """Return the messages, with the wanted form at their end for the output "json"."""
    if output != "json":
        return request.messages
    *others, last = request.messages
    words = _WORDS + json.dumps(request.schema, ensure_ascii=False)
    is_text = isinstance(last.content, str)
    content = f"{last.text}\n\n{words}" if is_text else (*last.parts, words)
    return (*others, Message(last.role, content))


def openai_form(request: Request, output: Output) -> dict[str, Any]:
    """Return the arguments of OpenAI's chat completions, which many speak, that ask for the form.

    Strictly where the schema can be strict.
    """
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


def strict_schema(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Close all objects and require all of their members; None where strict mode has no such form.

    What fits the new schema fits the old one. Strict mode lacks objects with free keys, `oneOf`,
    `allOf`, lengths of texts, and values of any type.
    """
    try:
        return _strict(schema) if schema.get("type") == "object" else None
    except _NotStrictError:
        return None


class _NotStrictError(Exception):
    """The schema has no form in strict mode."""


def _strict(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, dict) or not schema.keys() <= _KNOWN:
        raise _NotStrictError
    strict = {
        keyword: _inside(keyword, value)
        for keyword, value in schema.items()
        if keyword not in _DROPPED
    }
    if "$ref" in strict:  # may have no neighbours
        return {keyword: strict[keyword] for keyword in strict.keys() & {"$ref", "$defs"}}
    kinds = strict.get("type", [])
    has_type = kinds or strict.keys() & {"enum", "const", "anyOf"}
    has_items = "array" not in kinds or "items" in strict
    if not has_type or not has_items or schema.get("format") not in _FORMATS:
        raise _NotStrictError
    if "object" not in kinds:
        return strict
    names = [*strict.get("properties", ())]
    is_open = strict.get("additionalProperties", False) is not False
    if is_open or not names or not {*strict.get("required", ())} <= {*names}:
        raise _NotStrictError
    return {**strict, "required": names, "additionalProperties": False}


def _inside(keyword: str, value: Any) -> Any:
    if keyword in _NAMED:
        return {name: _strict(one) for name, one in value.items()}
    if keyword == "anyOf":
        return [_strict(one) for one in value]
    return _strict(value) if keyword == "items" else value
