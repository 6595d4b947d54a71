"""Messages of Anthropic's SDK."""

from __future__ import annotations

from typing import Any

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.messages.reply import Reply, text_of_blocks


def read(thing: Any) -> Reply | None:
    """Read a message; None for anything else of Anthropic's."""
    if not (hasattr(thing, "content") and hasattr(thing, "role")):
        return None
    refused = getattr(thing, "stop_reason", None) == "refusal"
    blocks = thing.content if isinstance(thing.content, list) else []
    values = [getattr(block, "parsed_output", None) for block in blocks]
    value = next((one for one in values if one is not None), MISSING)
    return Reply("" if refused else text_of_blocks(thing.content), value, refused)


def read_part(thing: Any) -> Reply | None:
    """Read an event of a stream; None for anything else of Anthropic's."""
    if not type(thing).__name__.endswith("Event"):
        return None
    delta = getattr(thing, "delta", None)
    text = getattr(delta, "text", None) if thing.type == "content_block_delta" else None
    return Reply(text or "", refused=getattr(delta, "stop_reason", None) == "refusal")
