"""Streams of SDKs that end as soon as their text is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

from llmeval_integrations.guards.watch import CallsWatcher, Doomed, Watcher


def stop_early(
    stream: Any, watcher: Watcher | CallsWatcher, length: int | None = None
) -> StreamGuard:
    """Pass on the chunks of a model's stream, and end it as soon as its text is lost.

    The chunk that shows it is the last one. Then the connection is closed, and the model stops.

    Example: `stream = stop_early(stream, watch(JsonSchema(schema)), length=900)` takes the place of
    the SDK's stream. After it, `stream.doomed` says where the text was lost, and `stream.saved` how
    many characters were not written.

    Args:
        stream: What an SDK of OpenAI (chat completions, responses) or Anthropic (messages) returns
            with `stream=True`, blocking or asynchronous, or an iterator of texts.
        watcher: What `watch` made for this one answer.
        length: How many characters a whole answer has, as a rule; without it `saved` is None.
    """
    return StreamGuard(stream, watcher, length)


class StreamGuard:
    """A stream that ends where its text is lost; `stop_early` makes it."""

    def __init__(self, stream: Any, watcher: Watcher | CallsWatcher, length: int | None) -> None:
        self._stream, self._watcher, self._length = stream, watcher, length
        self.characters = 0
        """How many characters of text or arguments came."""

    @property
    def doomed(self) -> Doomed | None:
        """Where and why the text is lost; None where the stream came to its own end."""
        return self._watcher.doomed

    @property
    def saved(self) -> int | None:
        """How many characters the model did not write, if the answer had the usual length."""
        if self._length is None:
            return None
        return max(self._length - self.characters, 0) if self.doomed else 0

    def __iter__(self) -> Iterator[Any]:
        for chunk in self._stream:
            is_lost = self._is_lost(chunk)
            if is_lost and hasattr(self._stream, "close"):
                self._stream.close()
            yield chunk
            if is_lost:
                return

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._stream:
            is_lost = self._is_lost(chunk)
            if is_lost:
                close = "close" if hasattr(self._stream, "close") else "aclose"  # of a generator
                await getattr(self._stream, close)()
            yield chunk
            if is_lost:
                return

    def _is_lost(self, chunk: Any) -> bool:
        """Feed the watcher what a chunk adds to the text or the calls that it watches."""
        for delta in _read(chunk):
            if isinstance(self._watcher, CallsWatcher):
                if delta.call is None:
                    continue
                self._watcher.feed(delta.text, delta.name, delta.call)
            elif delta.call is None:
                self._watcher.feed(delta.text)
            else:
                continue
            self.characters += len(delta.text)
        return self.doomed is not None


class _Delta(NamedTuple):
    """What a chunk adds."""

    text: str
    call: int | None = None
    """Which tool call the text is an argument's of; None for the answer's own text."""
    name: str | None = None


def _read(chunk: Any) -> Iterator[_Delta]:
    """Read what a chunk of any of the SDKs adds."""
    if isinstance(chunk, str):
        yield _Delta(chunk)
    elif hasattr(chunk, "choices"):
        yield from _read_chat(chunk)
    else:
        yield from _read_event(chunk)


def _read_chat(chunk: Any) -> Iterator[_Delta]:
    """Read a chunk of OpenAI's chat completions; of several answers the first is watched."""
    for choice in chunk.choices:
        if choice.index:
            continue
        if choice.delta.content:
            yield _Delta(choice.delta.content)
        for call in choice.delta.tool_calls or ():
            if call.function is not None:
                yield _Delta(call.function.arguments or "", call.index or 0, call.function.name)


def _read_event(event: Any) -> Iterator[_Delta]:
    """Read an event of OpenAI's responses or Anthropic's messages."""
    kind = getattr(event, "type", None)
    if kind == "response.output_text.delta":
        yield _Delta(event.delta)
    elif kind == "response.output_item.added" and event.item.type == "function_call":
        yield _Delta("", event.output_index, event.item.name)
    elif kind == "response.function_call_arguments.delta":
        yield _Delta(event.delta, event.output_index)
    elif kind == "content_block_start" and event.content_block.type == "tool_use":
        yield _Delta("", event.index, event.content_block.name)
    elif kind == "content_block_delta" and event.delta.type == "text_delta":
        yield _Delta(event.delta.text)
    elif kind == "content_block_delta" and event.delta.type == "input_json_delta":
        yield _Delta(event.delta.partial_json, event.index)
