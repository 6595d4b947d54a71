"""Joining what streams a message, such as the chunks of OpenAI's chats. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from llmeval_integrations.tool_calls.events import is_streamed, message_of_events


def joined(value: Any) -> Any:
    """Return the message that chunks have together, of the first choice, or that events have.

    All else is returned as it is.
    """
    if is_streamed(value):
        return message_of_events(value)
    chunks = value if isinstance(value, list) else [value]
    choices = [choice for chunk in chunks for choice in _choices(chunk)]
    deltas = [choice["delta"] for choice in choices if choice.get("index", 0) == 0]
    if not choices or not all(map(_is_chunk, chunks)):
        return value
    texts = [delta.get("content") for delta in deltas]
    return {
        "role": "assistant",
        "content": "".join(text for text in texts if isinstance(text, str)),
        "tool_calls": _calls(piece for delta in deltas for piece in _pieces(delta)),
    }


def _choices(chunk: Any) -> list[dict[str, Any]]:
    """Return the choices of a chunk; none of anything else."""
    found = chunk.get("choices") if isinstance(chunk, dict) else None
    choices = found if isinstance(found, list) else []
    is_streamed = all(
        isinstance(one, dict) and isinstance(one.get("delta"), dict) for one in choices
    )
    return choices if is_streamed else []


def _is_chunk(item: Any) -> bool:
    """Whether this is a chunk; the last one, which tells the usage, has no choices."""
    return isinstance(item, dict) and (bool(_choices(item)) or item.get("choices") == [])


def _pieces(delta: dict[str, Any]) -> list[Any]:
    """Return the pieces of calls in a delta; before tools it was one of a function's."""
    pieces = delta.get("tool_calls")
    if isinstance(pieces, list):
        return pieces
    alone = delta.get("function_call")
    return [{"index": 0, "function": alone}] if isinstance(alone, dict) else []


def _calls(pieces: Iterable[Any]) -> list[dict[str, Any]]:
    """Join the pieces of each call, which have its index; where there is none, an id begins one."""
    calls: defaultdict[Any, list[Any]] = defaultdict(list)
    latest: Any = None
    for piece in pieces:
        if isinstance(piece, dict):
            index, number = piece.get("index"), piece.get("id")
            latest = index if isinstance(index, int) else str(number) if number else latest
            calls[latest].append(piece)
    return [_call(found) for found in calls.values()]


def _call(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    call = _whole(pieces)
    for wrapper in ("function", "custom"):
        inner = [piece[wrapper] for piece in pieces if isinstance(piece.get(wrapper), dict)]
        if inner:
            call[wrapper] = _whole(inner)
    return call


def _whole(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Join the texts of the arguments; of all else the first that says something counts."""
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for piece in pieces:
        for key, value in piece.items():
            if value is not None:
                found[key].append(value)
    whole = {key: next((one for one in found[key] if one != ""), "") for key in found}
    for key in ("arguments", "input"):
        if key in found and all(isinstance(one, str) for one in found[key]):
            whole[key] = "".join(found[key])
    return whole
