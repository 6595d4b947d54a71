"""What a model replied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from llmeval_integrations.core.sample import MISSING


class Reply(NamedTuple):
    """The text of a message, and what else a library says of it."""

    text: str
    """What the model wrote; empty where it wrote nothing, or refused."""

    value: Any = MISSING
    """The answer as the library parsed it, where it did."""

    refused: bool = False
    """Whether the model, or who runs it, refused an answer."""

    by_model: bool = True
    """Whether the model wrote it; a user, a system or a tool else."""


def text_of_blocks(content: Any) -> str:
    """Return the text of a message's content: a text, or blocks of which some have a text."""
    if isinstance(content, str):
        return content
    return "".join(map(_text_of_block, content)) if isinstance(content, (list, tuple)) else ""


def has_refusal(content: Any) -> bool:
    """Return whether one of the blocks of a message refuses."""
    blocks = content if isinstance(content, (list, tuple)) else ()
    return any(_get(block, "type") == "refusal" for block in blocks)


def first(values: Any) -> Any:
    """Return the first of several choices, candidates or generations; None where there is none."""
    return values[0] if isinstance(values, (list, tuple)) and values else None


def join(parts: Iterable[Any]) -> str:
    """Join the texts among these."""
    return "".join(part for part in parts if isinstance(part, str))


def _text_of_block(block: Any) -> str:
    if isinstance(block, str):
        return block
    is_text = _get(block, "type") in ("text", "output_text") or _get(block, "block_type") == "text"
    text = _get(block, "text") if is_text else None
    return text if isinstance(text, str) else ""


def _get(block: Any, name: str) -> Any:
    return block.get(name) if isinstance(block, Mapping) else getattr(block, name, None)
