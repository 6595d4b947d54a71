"""The text of an output, for evaluators of texts."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.equality import canonical
from llmeval_integrations.json_values.parse import parse


def to_text(output: Any) -> str:
    """Return a text itself, bytes decoded, a JSON value as compact JSON, other values as repr."""
    if isinstance(output, str):
        return str.__str__(output)  # an enum or another subclass may have its own `__str__`
    if isinstance(output, (bytes, bytearray)):
        return output.decode(errors="replace")
    value = parse(output, "lenient")
    return quote(output) if isinstance(value, Defect) else canonical(value)


def to_storable_text(value: Any) -> str:
    """Return the text of a value as `to_text` does, with halves of surrogate pairs escaped."""
    text = to_text(value)
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
