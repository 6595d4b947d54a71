"""The text of an output, for evaluators that look at characters."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.quoting import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.parse import parse


def to_text(output: Any) -> str:
    """Return a text as it is, bytes decoded, a JSON value as compact JSON, all else as its repr."""
    if isinstance(output, str):
        return str.__str__(output)  # a subclass may say something else of itself
    if isinstance(output, (bytes, bytearray)):
        return output.decode(errors="replace")
    value = parse(output, "lenient")
    return quote(output) if isinstance(value, Defect) else canonical(value)


def to_storable_text(value: Any) -> str:
    """Return the text of a value, JSON where it is none; halves of surrogate pairs as escapes."""
    text = to_text(value)
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
