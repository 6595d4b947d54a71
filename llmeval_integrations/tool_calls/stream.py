"""Join the chunks and events of a stream into calls and texts."""

from __future__ import annotations

from typing import Any, Final

from llmeval_integrations.tool_calls.call import Fields, fields_of, list_in, text_in

_EVENTS: Final = (
    *("message_start", "message_delta", "message_stop", "content_block_"),  # Anthropic's messages
    "response.",  # OpenAI's responses
    *("content.", "refusal.", "logprobs.", "tool_calls."),  # the helper of OpenAI's chat API
)
"""The beginnings of the types of events."""


def join_stream(value: Any) -> Any:
    """Return the calls and texts whose chunks or events are in a list; keep any other value.

    They are of OpenAI's chat API, of its responses, or of Anthropic's messages.
    """
    things = value if isinstance(value, (list, tuple)) else [value]
    if not (things and (_is_part(fields_of(things[0])) or _is_part(fields_of(things[-1])))):
        return value
    stream = _Stream()
    for thing in things:
        stream.add(thing)
    return stream.blocks


def _is_part(members: Fields) -> bool:
    """Return whether this is a chunk or an event."""
    kind = members.get("type")
    if isinstance(kind, str) and (kind == "chunk" or kind.startswith(_EVENTS)):
        return True
    return members.get("object") == "chat.completion.chunk" or bool(_deltas(members))


class _Stream:
    """The blocks of a stream so far; each part is added to its block."""

    def __init__(self) -> None:
        self.blocks: list[Any] = []
        self._open: dict[Any, dict[str, Any]] = {}
        """The last block at each index."""

    def add(self, thing: Any) -> None:
        """Add a chunk or an event, or keep any other value."""
        members = fields_of(thing)
        kind = text_in(members, "type")
        if kind == "chunk":  # of the helper, which yields the chunk itself in an event
            members = fields_of(members.get("chunk"))
        for delta in _deltas(members):
            self._add_delta(delta)
        if kind.startswith(_EVENTS):
            self._add_event(kind, members)
        # In Anthropic's helper, a text with a snapshot repeats an event.
        elif not (_is_part(members) or (kind == "text" and "snapshot" in members)):
            self.blocks.append(thing)

    def _start(self, index: Any, block: dict[str, Any]) -> dict[str, Any]:
        self.blocks.append(block)
        self._open[index] = block
        return block

    def _add_delta(self, delta: Fields) -> None:
        """Add the text of a chunk, and the parts of calls in it."""
        if text := text_in(delta, "content"):
            self.blocks.append({"type": "text", "text": text})
        for part in map(fields_of, list_in(delta, "tool_calls")):
            index, number = part.get("index"), text_in(part, "id")
            call = self._open.get(index)
            if call is None or number not in ("", call["id"]):  # some servers repeat the index
                call = {"type": "tool_call", "id": number, "name": "", "arguments": ""}
                self._start(index, call)
            function = fields_of(part.get("function"))
            call["name"] = call["name"] or text_in(function, "name")
            call["arguments"] += text_in(function, "arguments")

    def _add_event(self, kind: str, event: Fields) -> None:
        """Add a complete item of OpenAI's, or the beginning or a part of a block of Anthropic's."""
        index = event.get("index")
        if kind == "response.output_item.done":
            self.blocks.append(event.get("item"))
        elif kind == "content_block_start":
            self._start(index, {**fields_of(event.get("content_block"))})
        elif kind == "content_block_delta" and index in self._open:
            block, delta = self._open[index], fields_of(event.get("delta"))
            for name, part in (("text", "text"), ("input", "partial_json")):
                if part in delta:  # before its first part, the input is an empty object
                    block[name] = text_in(block, name) + text_in(delta, part)


def _deltas(chunk: Fields) -> list[Fields]:
    """Return the part of the first choice in a chunk of OpenAI's chat API, if it has one."""
    if "choices" not in chunk:
        return []
    choices = map(fields_of, list_in(chunk, "choices"))
    return [fields_of(one["delta"]) for one in choices if "delta" in one and not one.get("index")]
