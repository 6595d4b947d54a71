"""The text of an output, for evaluators that look at characters."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.json_defects import Defect
from llmeval_integrations.json_text import parse
from llmeval_integrations.json_value import canonical
from llmeval_integrations.wording import shown


def text_of(output: Any) -> str:
    """Return a text as it is, bytes decoded, a JSON value as compact JSON, all else as its repr."""
    if isinstance(output, str):
        return str.__str__(output)  # a subclass may say something else of itself
    if isinstance(output, (bytes, bytearray)):
        return output.decode(errors="replace")
    value = parse(output, "lenient")
    return shown(output) if isinstance(value, Defect) else canonical(value)
