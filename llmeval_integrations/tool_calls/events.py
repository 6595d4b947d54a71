"""Joining the events in which Anthropic and OpenAI's Responses stream a message. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

# Of an SDK's first event the message alone has been read.
_FIRST: Final = ("message_start", "message", "response.created")
_WITH_BLOCKS: Final = (
    "content_block_start",
    "response.output_item.added",
    "response.output_item.done",
)
_PIECES: Final = {
    "text_delta": "text",
    "input_json_delta": "input",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}
"""The member of a block to which a delta, by its type or that of its event, adds a text."""


def is_streamed(value: Any) -> bool:
    """Whether this is a list of events, one of which has a block in it."""
    return (
        isinstance(value, list)
        and all(isinstance(event, dict) and isinstance(event.get("type"), str) for event in value)
        and any(event["type"] in _WITH_BLOCKS for event in value)
    )


def message_of_events(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the blocks that events have together, of one message after another."""
    blocks: dict[tuple[int, Any], dict[str, Any]] = {}
    pieces: defaultdict[tuple[int, Any], defaultdict[str, list[str]]]
    pieces = defaultdict(lambda: defaultdict(list))
    message = 0
    for event in events:
        message += event["type"] in _FIRST
        index = event.get("index", event.get("output_index"))
        place = message, index if isinstance(index, int) else None
        block = event.get("content_block", event.get("item"))
        if isinstance(block, dict):  # at its beginning, or as a whole at its end
            blocks[place] = block
            pieces.pop(place, None)
            continue
        member, piece = _piece(event)
        if member and isinstance(piece, str):
            pieces[place][member].append(piece)
    for place, block in blocks.items():
        said = {member: "".join(texts) for member, texts in pieces[place].items()}
        blocks[place] = {**block, **said}
    return {"role": "assistant", "content": list(blocks.values())}


def _piece(event: dict[str, Any]) -> tuple[str | None, Any]:
    """Return what an event adds a text to, and the text."""
    delta = event.get("delta")
    if not isinstance(delta, dict):
        return _PIECES.get(event["type"]), delta
    return _PIECES.get(str(delta.get("type"))), delta.get("partial_json", delta.get("text"))
