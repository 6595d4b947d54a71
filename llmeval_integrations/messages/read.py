"""Read the messages, responses and states that an application passes to an evaluator."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import add_article
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.messages.reply import Reply, library_of, read_mapping, read_object
from llmeval_integrations.tool_calls.call import without_answer

_FIRST: Final = 3
"""How many states of a stream are searched for messages."""

_STATES: Final = {"StateSnapshot": "values", "GraphOutput": "value"}
"""The objects in which LangGraph returns a state; the second is that of `version="v2"`."""

_MESSAGE_OF_LLAMA_INDEX: Final = frozenset(("role", "message", "tool_calls"))
"""The fields of LlamaIndex's messages, and of what contains one."""

_MODES: Final = ("values", "updates", "messages", None)
"""The modes of a stream that contain messages; if a graph streams several, the first is read."""


class Messages(NamedTuple):
    """The messages in an output."""

    reply: Reply
    """The last reply of the model."""

    items: tuple[Any, ...]
    """All messages, for evaluators of tool calls; the chunks of a stream are joined."""


class Answer(NamedTuple):
    """What evaluators of texts and of JSON evaluate."""

    value: Any
    """The parsed answer of messages, or else their text. Any other value is unchanged."""

    label: Literal["empty", "refused"] | None = None
    """Why there is no answer; the value is then the empty text."""


def read_messages(thing: Any) -> Messages | None:
    """Read messages, responses and states, as objects or as JSON; return None for anything else.

    Raises InputError for a stream.
    """
    found = find_messages(thing)
    if found is not None:
        return found
    things = thing.get("messages", thing) if isinstance(thing, Mapping) else thing
    things = things if isinstance(things, (list, tuple)) else [things]
    replies = [read_mapping(one) if isinstance(one, Mapping) else None for one in things]
    known = [reply for reply in replies if reply is not None]
    return Messages(_last(known), (*things,)) if known and len(known) == len(things) else None


def read_answer(thing: Any) -> Answer:
    """Read an output or a reference; None is an empty output.

    Raises InputError for a stream.
    """
    if thing is None or type(thing) is str:
        return Answer(thing or "", None if thing else "empty")
    found = find_messages(thing)
    if found is None:
        return Answer(thing)
    reply = found.reply
    if reply.value is not MISSING:
        return Answer(reply.value)
    if reply.refused:
        return Answer("", "refused")
    return Answer(reply.text, None if reply.text else "empty")


def read_items(thing: Any) -> Any:
    """Return all messages of an output, for evaluators of tool calls, or any other value as it is.

    Raises InputError for a stream.
    """
    found = None if type(thing) is str else find_messages(thing)
    if found is None:
        return thing
    return [] if found.reply.refused else [*found.items]


def find_messages(thing: Any) -> Messages | None:
    """Read messages, responses and states of known libraries; return None for anything else.

    These are messages, chunks, responses, lists of them, states of LangGraph, what it streams as a
    list, and the result of `with_structured_output(include_raw=True)`. A mapping or list of plain
    JSON is an ordinary value, whatever its members are called.

    Raises InputError for a sample, and for a stream, which could not be read twice.
    """
    if isinstance(thing, Messages):
        return thing
    kind = type(thing)
    if kind.__module__ == "langgraph.types" and kind.__name__ in _STATES:
        return find_messages(getattr(thing, _STATES[kind.__name__]))
    if isinstance(thing, (list, tuple)) or (kind is dict and "ns" in thing):
        data = _unwrap_parts(thing if isinstance(thing, list) else [thing])
        if data is not None:
            return _read_list(data)
    if isinstance(thing, (list, tuple)):
        is_plain = {*map(type, thing)} <= {dict}  # no objects of a library
        return _read_states(thing) if is_plain else _read_list(thing)
    if kind is dict or isinstance(thing, Mapping):  # the first check is fast
        if "raw" in thing and "parsed" in thing and "parsing_error" in thing:
            return _read_structured(thing["raw"], thing["parsed"])
        if "messages" in thing:
            return _read_updates([thing])
        return _read_states([thing]) if len(thing) == 1 else None  # perhaps an update
    if isinstance(thing, Sample):
        raise InputError("a Sample is not an output; pass its output, or call evaluate(sample)")
    if isinstance(thing, (Iterator, AsyncIterator)):
        raise InputError(
            f"{add_article(kind.__name__)} is a stream; collect it first, such as by list(...), or "
            "join its texts"
        )
    reply = read_object(thing)
    if reply is None:
        return None
    return Messages(reply, _items_of(thing, reply))


def _items_of(thing: Any, reply: Reply) -> tuple[Any, ...]:
    """Return the messages in an object of a library."""
    library = library_of(thing)
    if library == "pydantic_ai" and hasattr(thing, "all_messages"):
        return (*_messages_of_run(thing),)
    if library == "llama_index" and _MESSAGE_OF_LLAMA_INDEX.isdisjoint(vars(thing)):
        return ({"role": "assistant", "content": reply.text},)  # the response of an engine
    return (thing,)


def _messages_of_run(run: Any) -> Iterator[Any]:
    """Yield the messages of a run of Pydantic AI, without the call for its answer.

    A `ToolOutput` may give the tool for the answer any name.
    """
    name = getattr(run, "_output_tool_name", None) or MISSING
    for message in run.all_messages():
        parts = [part for part in message.parts if getattr(part, "tool_name", None) != name]
        yield replace(message, parts=parts)


# --- lists of messages ----------------------------------------------------------------------------


def _read_list(things: Sequence[Any]) -> Messages | None:
    """Read a list of messages, of chunks, of states, or of what a graph streams."""
    # A graph streams messages as pairs of a chunk and its origin.
    if all(
        isinstance(one, (list, tuple)) and len(one) == 2 and isinstance(one[1], Mapping)
        for one in things
    ):
        things = [chunk for chunk, _ in things]
    if not (library_of(things[0]) or library_of(things[-1])):
        return _read_states(things)
    if not _are_messages(things):
        is_pair = len(things) == 2 and isinstance(things[1], Mapping)
        return _read_list([things[0]]) if is_pair and library_of(things[0]) else None
    messages = _join_chunks(things)
    read = (read_mapping(one) if isinstance(one, Mapping) else read_object(one) for one in messages)
    replies = [reply for reply in read if reply is not None]
    if all(hasattr(one, "candidates") for one in messages):  # Google streams responses
        refused = any(reply.refused for reply in replies)
        text = "" if refused else "".join(reply.text for reply in replies)
        return Messages(Reply(text, refused=refused), (*messages,))
    return Messages(_last(replies), (*messages,)) if replies else None


def _are_messages(things: Sequence[Any]) -> bool:
    """Return whether these are objects of a library, perhaps with messages as mappings."""
    others = [thing for thing in things if library_of(thing) is None]
    return len(others) < len(things) and all(
        isinstance(thing, Mapping) and read_mapping(thing) is not None for thing in others
    )


def _join_chunks(chunks: Sequence[Any]) -> list[Any]:
    """Join the chunks of each message that LangChain streams; keep other messages."""
    messages: list[Any] = []
    for chunk in chunks:
        pair = (messages[-1], chunk) if messages else ()
        are_chunks = pair and all(type(one).__name__.endswith("MessageChunk") for one in pair)
        if are_chunks and chunk.id in (None, messages[-1].id):
            messages[-1] += chunk
        else:
            messages.append(chunk)
    return messages


def _last(replies: list[Reply]) -> Reply:
    """Return the last reply of the model, or else the last message."""
    return next((reply for reply in reversed(replies) if reply.by_model), replies[-1])


# --- states of a graph ----------------------------------------------------------------------------


def _unwrap_parts(parts: Sequence[Any]) -> list[Any] | None:
    """Return what a graph streams with its mode or namespace: the data of one mode.

    Such a part is a tuple that ends with the data, or with `version="v2"` a mapping. The states of
    subgraphs are skipped. None for anything else.
    """
    found: dict[Any, list[Any]] = {}
    for part in parts:
        if isinstance(part, dict) and part.keys() >= {"type", "ns", "data"}:
            namespace, mode, data = part["ns"], part["type"], part["data"]
        elif isinstance(part, (list, tuple)) and len(part) in (2, 3):
            *names, data = part
            mode = names.pop() if isinstance(names[-1], str) else None
            namespace = names[0] if names else ()
        else:
            return None
        if not (isinstance(namespace, (list, tuple)) and isinstance(mode, (str, type(None)))):
            return None
        if not namespace or isinstance(data, (list, tuple)):  # each message is streamed only once
            found.setdefault(mode, []).append(data)
    return next((found[mode] for mode in _MODES if mode in found), None)


def _read_states(states: Sequence[Any]) -> Messages | None:
    """Read the states that a graph streams: the last of them, or the messages of all updates."""
    first = [state for state in states[:_FIRST] if isinstance(state, Mapping)]
    parts = [part for state in first for part in (state, *state.values())]
    if not any(map(_messages_in, parts)) or not all(isinstance(one, Mapping) for one in states):
        return None
    if _messages_in(states[-1]):
        return _read_updates(states[-1:])
    return _read_updates([part for state in states for part in state.values()])


def _read_structured(raw: Any, parsed: Any) -> Messages | None:
    """Read a structured answer of LangChain; it may be a call that could not be parsed."""
    reply = read_object(raw)
    if reply is None:
        return None
    calls = [*getattr(raw, "tool_calls", ()), *getattr(raw, "invalid_tool_calls", ())]
    if parsed is not None:
        reply = reply._replace(value=parsed)
    elif calls and not (reply.text or reply.refused):
        arguments = calls[0]["args"]
        is_text = isinstance(arguments, str)
        reply = reply._replace(**{"text" if is_text else "value": arguments})
    return Messages(reply, (raw,))


def _read_updates(updates: Sequence[Any]) -> Messages | None:
    """Read the messages of all these states, and the last parsed answer."""
    states = [update for update in updates if isinstance(update, Mapping)]
    messages = [one for state in states for one in _messages_in(state)]
    # As in a graph's state, a message replaces an earlier one with its id.
    messages = [*{getattr(one, "id", None) or id(one): one for one in messages}.values()]
    found = _read_list(messages) if messages else None
    answers = [state.get("structured_response") for state in states]
    answer = next((one for one in reversed(answers) if one is not None), None)
    if found is None or answer is None:
        return found
    items = tuple(without_answer(found.items))
    value = asdict(answer) if is_dataclass(type(answer)) else answer
    return Messages(found.reply._replace(value=value), items)


def _messages_in(state: Any) -> list[Any]:
    """Return the messages of a state; none where a mapping is something else."""
    found = state.get("messages") if isinstance(state, Mapping) else None
    if library_of(found):
        return [found]
    return [*found] if isinstance(found, (list, tuple)) and _are_messages(found) else []
