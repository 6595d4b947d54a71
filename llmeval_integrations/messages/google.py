"""Responses of Google's SDK."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.messages.reply import Reply, first, join

_REFUSALS: Final = frozenset(
    ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "LANGUAGE")
)
"""Reasons to finish that leave no answer, or a part of one that is not shown."""


def read(thing: Any) -> Reply | None:
    """Read a response, a candidate or a content; None for anything else of Google's."""
    if hasattr(thing, "candidates"):
        candidate = first(thing.candidates)
        if candidate is None:
            return Reply("", refused=getattr(thing, "prompt_feedback", None) is not None)
        reply = read(candidate)
        value = getattr(thing, "parsed", None)
        return reply if value is None or reply is None else reply._replace(value=value)
    if hasattr(thing, "finish_reason"):
        reason = getattr(thing.finish_reason, "name", thing.finish_reason)
        reply = None if thing.content is None else read(thing.content)
        refused = reason in _REFUSALS
        text = "" if refused or reply is None else reply.text
        return Reply(text, refused=refused)
    if not hasattr(thing, "parts"):
        return None
    parts = thing.parts or []
    text = join(part.text for part in parts if not getattr(part, "thought", None))
    return Reply(text, MISSING, by_model=getattr(thing, "role", None) != "user")


def read_part(thing: Any) -> Reply | None:
    """Read a response that is a part of a stream; None for anything else of Google's."""
    return read(thing) if hasattr(thing, "candidates") else None
