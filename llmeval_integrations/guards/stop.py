"""End the stream of an SDK as soon as its text can no longer pass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeAlias

from llmeval_integrations.guards.reader import Doomed
from llmeval_integrations.guards.watch import Watcher

_Delta: TypeAlias = "tuple[str, int | None, str | None]"
"""What a chunk adds: a text, the index of the call that it belongs to, and the tool's name."""


def stop_early(stream: Any, watcher: Watcher, length: int | None = None) -> StreamGuard:
    """Pass on the chunks of a model's stream, and end it as soon as its text can no longer pass.

    The chunk that decides this is the last one. Then the connection is closed, and the model stops.

    Example: `stream = stop_early(stream, watch(JsonSchema(schema)), length=900)` replaces the SDK's
    stream. At its end, `stream.doomed` tells where and why the text failed, and `stream.saved` how
    many characters were not written.

    Args:
        stream: What an SDK of OpenAI (chat completions, responses) or Anthropic (messages) returns
            with `stream=True`, blocking or asynchronous, or an iterator of texts.
        watcher: The watcher that `watch` returned for this one answer.
        length: The usual length of a complete answer in characters. Without it, `saved` is None.
    """
    return StreamGuard(stream, watcher, length)


class StreamGuard:
    """A stream that ends as soon as its text can no longer pass. `stop_early` returns it."""

    def __init__(self, stream: Any, watcher: Watcher, length: int | None) -> None:
        self._stream, self._watcher, self._length = stream, watcher, length
        self.characters = 0
        """How many characters of the text or the arguments arrived."""

    @property
    def doomed(self) -> Doomed | None:
        """Where and why the text failed; None if the stream was not stopped."""
        return self._watcher.doomed

    @property
    def saved(self) -> int | None:
        """How many characters the model did not write, if the answer had the usual length."""
        if self._length is None:
            return None
        return max(self._length - self.characters, 0) if self.doomed else 0

    def __iter__(self) -> Iterator[Any]:
        for chunk in self._stream:
            self._feed(chunk)
            if self.doomed and hasattr(self._stream, "close"):
                self._stream.close()
            yield chunk
            if self.doomed:
                return

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._stream:
            self._feed(chunk)
            if self.doomed:
                close = "close" if hasattr(self._stream, "close") else "aclose"  # generators
                await getattr(self._stream, close)()
            yield chunk
            if self.doomed:
                return

    def _feed(self, chunk: Any) -> None:
        """Feed the watcher what a chunk adds to the text or to the calls."""
        for text, call, name in _read(chunk):
            if (self._watcher.tools is None) == (call is None):
                self._watcher.feed(text, name, call or 0)
                self.characters += len(text)


def _read(chunk: Any) -> Iterator[_Delta]:
    """Read what a text, a chunk of OpenAI's chat completions, or an event adds."""
    if isinstance(chunk, str):
        yield chunk, None, None
    elif hasattr(chunk, "choices"):
        for choice in chunk.choices:
            if choice.index:  # if there are several answers, only the first is watched
                continue
            if choice.delta.content:
                yield choice.delta.content, None, None
            for call in choice.delta.tool_calls or ():
                if call.function is not None:
                    yield call.function.arguments or "", call.index or 0, call.function.name
    else:
        yield from _read_event(chunk, getattr(chunk, "type", None))


def _read_event(chunk: Any, kind: str | None) -> Iterator[_Delta]:
    """Read an event of OpenAI's responses or Anthropic's messages."""
    if kind == "response.output_text.delta":
        yield chunk.delta, None, None
    elif kind == "response.output_item.added" and chunk.item.type == "function_call":
        yield "", chunk.output_index, chunk.item.name
    elif kind == "response.function_call_arguments.delta":
        yield chunk.delta, chunk.output_index, None
    elif kind == "content_block_start" and chunk.content_block.type == "tool_use":
        yield "", chunk.index, chunk.content_block.name
    elif kind == "content_block_delta" and chunk.delta.type == "text_delta":
        yield chunk.delta.text, None, None
    elif kind == "content_block_delta" and chunk.delta.type == "input_json_delta":
        yield chunk.delta.partial_json, chunk.index, None
