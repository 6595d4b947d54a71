"""Find out, while a text is being written, whether it can still pass, and end its stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from llmeval_integrations.core.errors import InputError, InvalidOptionError
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.evaluators.json_schema import JsonSchema
from llmeval_integrations.evaluators.tool_call_schema import ToolCallSchema
from llmeval_integrations.guards.reader import Doomed, Reader
from llmeval_integrations.messages.reply import library_of
from llmeval_integrations.tool_calls.tools import Tool


class _Delta(NamedTuple):
    """What a chunk adds: a text, or a part of a call's arguments."""

    text: str
    call: int | None = None
    """The index of the call; None for a text."""
    name: str | None = None
    """The name of the call's tool, with its first part."""
    id: str | None = None


def watch(evaluator: JsonSchema | ToolCallSchema) -> Watcher:
    """Watch one text, or the calls of one answer, while a model writes it.

    If the watcher reports a failure, the evaluator will not pass the text, whatever follows. It may
    report a failure late, or never if only the end of the text shows it, as when the text is cut
    off. Members may come in any order. The watcher expects each member once in its object, although
    parsing would use the last of two.

    Example:
        >>> watcher = watch(JsonSchema({"properties": {"age": {"type": "integer"}}}))
        >>> watcher.feed('{"age": "3')
        >>> watcher.feed('", "name": ')
        Doomed(offset=11, pointer='/age', keyword='type', reason='"3" is not of type "integer"')

    Args:
        evaluator: A JsonSchema with its own schema, or a ToolCallSchema with its own tools.

    Raises:
        InvalidOptionError: The evaluator has no schema or tools, or its parsing is lenient.
    """
    if not isinstance(evaluator, (JsonSchema, ToolCallSchema)):
        raise InvalidOptionError(
            f"watch accepts a JsonSchema or a ToolCallSchema, got {quote(evaluator)}"
        )
    if evaluator.parsing == "lenient":
        raise InvalidOptionError(
            "with lenient parsing, a text may end anywhere, so no failure shows before its end; "
            'give parsing="markdown" or "strict"'
        )
    return Watcher(evaluator)


class Watcher:
    """Reads one text, or the arguments of tool calls, in chunks. `watch` returns it."""

    def __init__(self, evaluator: JsonSchema | ToolCallSchema) -> None:
        self.doomed: Doomed | None = None
        """Where and why the text fails; None while it may still conform."""
        self.tools: Mapping[str, Tool] | None = None
        """The tools, if it reads the arguments of tool calls instead of a text."""
        self._parsing = evaluator.parsing
        self._readers: dict[Hashable, tuple[str, Reader]] = {}
        if isinstance(evaluator, ToolCallSchema):
            self.tools = evaluator.toolbox.tools
            if self.tools is None:
                raise InvalidOptionError("watch needs a tool_call_schema with tools of its own")
        elif evaluator.compiled is None:
            raise InvalidOptionError("watch needs a json_schema with a schema of its own")
        else:
            self._readers[0] = "", Reader(evaluator.compiled, self._parsing)

    def feed(
        self, chunk: str | None, name: str | None = None, index: Hashable = 0
    ) -> Doomed | None:
        """Read a chunk; return where and why the text fails, or None while it may still conform.

        Args:
            chunk: The next part of the text, or of the arguments of a call. None adds nothing.
            name: The tool's name, required with the first chunk of a call.
            index: The index of the call, if several calls are written at once.

        Raises:
            InputError: The chunk is not a text, or it belongs to no call that has a name.
        """
        if chunk is not None and not isinstance(chunk, str):
            raise InputError(f"feed accepts the next part of a text, got {quote(chunk)}")
        if self.doomed is None and index not in self._readers:
            self._open(name, index)
        if self.doomed is None:
            tool, reader = self._readers[index]
            self.doomed = reader.feed(chunk or "")
            if self.doomed is not None and tool:
                self.doomed = self.doomed._replace(reason=f"{tool}: {self.doomed.reason}")
        return self.doomed

    def _open(self, name: str | None, index: Hashable) -> None:
        """Start to read the arguments of a call."""
        if self.tools is None:
            raise InputError(f"this watcher reads one text, so there is no call {index!r}")
        if name is None:
            raise InputError(f"the first chunk of call {index!r} needs the tool's name")
        if name in self.tools:
            self._readers[index] = name, Reader(self.tools[name].compiled, self._parsing)
        else:
            reason = f"there is no tool {name!r}: {hint(name, self.tools)}"
            self.doomed = Doomed(0, "", "unknown_tool", reason)


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

    Raises:
        InvalidOptionError: This is not a watcher. While the stream is read, an unknown chunk is an
            InputError.
    """
    if not isinstance(watcher, Watcher):
        raise InvalidOptionError(
            f"stop_early needs the watcher that watch(evaluator) returns, got {quote(watcher)}"
        )
    return StreamGuard(stream, watcher, length)


@dataclass
class StreamGuard:
    """A stream that ends as soon as its text can no longer pass. `stop_early` returns it."""

    stream: Any
    watcher: Watcher
    length: int | None
    characters: int = 0
    """How many characters of the text or the arguments arrived."""
    _ids: dict[int | None, str] = field(default_factory=dict, init=False)
    """The id of the last call at each index; some servers give all calls the same index."""

    @property
    def doomed(self) -> Doomed | None:
        """Where and why the text failed; None if the stream was not stopped."""
        return self.watcher.doomed

    @property
    def saved(self) -> int | None:
        """How many characters the model did not write, if the answer had the usual length."""
        if self.length is None:
            return None
        return max(self.length - self.characters, 0) if self.doomed else 0

    def __iter__(self) -> Iterator[Any]:
        for chunk in self.stream:
            self._feed(chunk)
            if self.doomed and hasattr(self.stream, "close"):
                self.stream.close()
            yield chunk
            if self.doomed:
                return

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self.stream:
            self._feed(chunk)
            if self.doomed:
                # Generators have only `aclose`, the SDKs only `close`. LiteLLM's `close` blocks.
                names = [name for name in ("aclose", "close") if hasattr(self.stream, name)]
                if names:
                    await getattr(self.stream, names[0])()
            yield chunk
            if self.doomed:
                return

    def _feed(self, chunk: Any) -> None:
        """Feed the watcher what a chunk adds to the text or to the calls."""
        for text, index, name, id_ in _read(chunk):
            if id_:
                self._ids[index] = id_
            call = 0 if index is None else (index, self._ids.get(index))
            is_watched = (self.watcher.tools is None) == (index is None)
            if is_watched and (text or name):
                self.watcher.feed(text, name, call)
                self.characters += len(text)


def _read(chunk: Any) -> Iterator[_Delta]:
    """Read what a text, a chunk of OpenAI's chat completions, or an event adds."""
    if isinstance(chunk, str):
        yield _Delta(chunk)
    elif hasattr(chunk, "choices"):
        for choice in chunk.choices:
            if choice.index:  # if there are several answers, only the first is watched
                continue
            delta = getattr(choice, "delta", None)
            if delta is None:  # of OpenAI's first completions, or of Azure's filter without a text
                yield _Delta(getattr(choice, "text", ""))
                continue
            yield _Delta(delta.content or "")
            for call in delta.tool_calls or ():
                its = call.function
                if its is not None:
                    yield _Delta(its.arguments or "", call.index or 0, its.name, call.id)
    elif library_of(chunk) in ("openai", "anthropic"):
        yield from _read_event(chunk, getattr(chunk, "type", None))
    else:
        raise InputError(f"stop_early reads texts and chunks of SDKs, got {quote(chunk)}")


def _read_event(chunk: Any, kind: str | None) -> Iterator[_Delta]:
    """Read an event of OpenAI's responses or Anthropic's messages."""
    if kind == "chunk":  # of OpenAI's chat.completions.stream
        yield from _read(chunk.chunk)
    elif kind == "response.output_text.delta":
        yield _Delta(chunk.delta)
    elif kind == "response.output_item.added" and chunk.item.type == "function_call":
        yield _Delta("", chunk.output_index, chunk.item.name)
    elif kind == "response.function_call_arguments.delta":
        yield _Delta(chunk.delta, chunk.output_index)
    elif kind == "content_block_start" and chunk.content_block.type == "tool_use":
        yield _Delta("", chunk.index, chunk.content_block.name)
    elif kind == "content_block_delta" and chunk.delta.type == "text_delta":
        yield _Delta(chunk.delta.text)
    elif kind == "content_block_delta" and chunk.delta.type == "input_json_delta":
        yield _Delta(chunk.delta.partial_json, chunk.index)
