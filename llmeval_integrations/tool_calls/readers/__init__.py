"""Readers of tool calls, one for each API or framework, tried in order.

A reader takes the fields of a call, or of a block that stands beside calls, and gives what it says,
or None where it does not know it. No reader imports an SDK: objects of SDKs and their dumps have
the same fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from llmeval_integrations.tool_calls.readers import (
    anthropic,
    bedrock,
    google,
    langchain,
    llama_index,
    openai,
    other,
    plain,
    pydantic_ai,
)
from llmeval_integrations.tool_calls.readers.shape import Fields, Part

READERS: Final[tuple[Callable[[Fields], list[Part] | None], ...]] = (
    plain.read,
    openai.read,
    anthropic.read,
    llama_index.read,
    langchain.read,
    pydantic_ai.read,
    google.read,
    bedrock.read,
    other.read,
)
