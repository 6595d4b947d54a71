"""Reading tool calls from whatever holds them. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, check, parse
from llmeval_integrations.tool_calls.attempts import is_attempt, is_plain
from llmeval_integrations.tool_calls.blocks import (
    is_call_type,
    is_known,
    is_other_block,
    is_other_type,
    named_by_type,
    only_looks_like_a_call,
    said_by,
    type_of,
)
from llmeval_integrations.tool_calls.call import ToolCall, not_a_call, read_call
from llmeval_integrations.tool_calls.envelopes import OF_A_MESSAGE, messages_of, restored
from llmeval_integrations.tool_calls.opening import opened
from llmeval_integrations.tool_calls.streaming import joined
from llmeval_integrations.tool_calls.tags import OPENING, contents

_BLOCKS = ("content", "parts", "blocks", "output")
_CALLS = ("tool_calls", "toolCalls", "toolInvocations")
_MESSAGE = OF_A_MESSAGE.union(_BLOCKS, ("promptFeedback", "prompt_feedback"))
_WRONG_CALLS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
_OF_MODELS = frozenset(("model_output", "message.output"))
_OF_OTHERS = frozenset(("user", "human", "system", "developer", "tool", "function"))


def read_calls(value: Any, parsing: Parsing = "markdown") -> list[ToolCall] | Defect:
    """Return the calls that a model's output or a reference holds, or the defect that prevents it.

    A text with `<tool_call>` in it holds the calls in its tags. A JSON object or array is read as
    that value. Any other text is an answer without calls, and so is JSON that is no call, unless
    it looks like one that went wrong (see `is_attempt`). Null and what is empty hold no calls.
    Objects of SDKs and frameworks are read as what they dump, bytes as their text.

    A value is a call (see `read_call`), a message, a response around messages, an interaction of
    Google's, a conversation of Mistral's, or a list of any of these, whose calls come one after
    another; or LangGraph's state, which has such a list under `messages`, what LangChain saved of
    messages, or all chunks of a chat of OpenAI's, or events of its Responses or of Anthropic, in
    which a message is streamed. In a message the first of these that holds calls counts:
    `tool_call_chunks`, `tool_calls` (or `toolCalls`, `toolInvocations`) and `invalid_tool_calls`,
    `tool_calls` or `function_call` in `additional_kwargs`, the blocks of `content`, `parts`,
    `blocks` or `output`, the tags in its text, which blocks of text have together; and where there
    are none at all the text of the last message, read as a text by itself, but JSON with a name and
    no arguments is an answer there. Blocks of other types, there, in a list or by themselves, hold
    none, nor does what an API calls by itself, such as OpenAI's `mcp_call` and Anthropic's
    `server_tool_use`, nor messages of users, systems and tools. Whatever else stands in a list is a
    call with a `problem`, and so is one that Google's API says it could not read. What is not JSON
    in a value matters in calls alone, which then have a problem.
    """
    if isinstance(value, (bytes, bytearray)):
        value = _decoded(value)
    if isinstance(value, str):
        return _in_a_text(value, parsing)
    given = messages_of(value)
    parsed = parse(_dumped(given), parsing)
    if not isinstance(parsed, Defect):
        return _in_json(joined(restored(parsed)), parsing)
    if parsed.name in ("prose", "empty"):
        return []
    whole = joined(restored(opened(given)))
    calls = _in_value(whole, parsing)
    if calls is None:
        return parsed
    return [_as_json(call, parsing) for call in calls] or _in_last_words(whole, parsing)


def _decoded(value: bytes | bytearray) -> str | bytes | bytearray:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _in_a_text(text: str, parsing: Parsing) -> list[ToolCall] | Defect:
    if is_plain(text):
        return []
    if OPENING in text and not _is_json(text):
        return list(_in_tags(text, parsing))
    parsed = parse(text, parsing)
    if isinstance(parsed, Defect):
        return parsed if is_attempt(text, parsed) else []
    parsed = joined(restored(messages_of(parsed)))
    calls = _in_json(parsed, parsing)
    items = parsed if isinstance(parsed, list) else [parsed]
    if (
        _is_any_read(calls)
        or any(map(_is_message, items))
        or any(map(only_looks_like_a_call, items))
    ):
        return calls
    completed = check(text, parsing) if parsing == "lenient" else None
    if not is_attempt(text, completed):
        return []
    return calls or _no_calls(parsed or text)


def _is_any_read(calls: list[ToolCall] | Defect) -> bool:
    return isinstance(calls, list) and any(call.problem is None for call in calls)


def _in_json(value: Any, parsing: Parsing) -> list[ToolCall] | Defect:
    if isinstance(value, dict) and value.keys() != {"text"} and is_other_block(value):
        value = [value]
    calls = _in_value(value, parsing)
    if calls is not None:
        return calls or _in_last_words(value, parsing)
    return _no_calls(value)


def _no_calls(value: Any) -> Defect:
    problem = not_a_call(value).problem or ""
    return Defect("not_a_call", problem[:1].upper() + problem[1:])


def _in_last_words(value: Any, parsing: Parsing) -> list[ToolCall] | Defect:
    """Read the text of the last message, where no message holds calls, as any other text.

    But JSON with no more than a name in it is an answer there.
    """
    if not value:
        return []
    if isinstance(value, dict):
        value = _steps(value) or value
    if isinstance(value, list) and _is_message(value[-1]):
        value = value[-1]
    message = value if isinstance(value, dict) else {"content": value}
    while (inner := _inner(message)) is not None:
        message = inner
    text = _said(message)
    calls = _in_a_text(text, parsing)
    if isinstance(calls, Defect) or OPENING in text or any(call.arguments for call in calls):
        return calls
    return calls if is_attempt(text, check(text, parsing)) else []


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and (not _MESSAGE.isdisjoint(item) or bool(_steps(item)))


def _in_value(value: Any, parsing: Parsing) -> list[ToolCall] | None:
    """Read JSON; None where it is neither calls nor anything around them."""
    if isinstance(value, list):
        return list(_in_list(value, parsing, among_blocks=True))
    if isinstance(value, dict) and value:
        return _in_object(value, parsing)
    return [] if value is None or isinstance(value, dict) else None


def _as_json(call: ToolCall, parsing: Parsing) -> ToolCall:
    """Return a call as it is if all of it is JSON, else one that says what is not."""
    arguments = parse(call.arguments, parsing)
    if isinstance(parse([call.name, call.id, call.problem]), Defect):
        return not_a_call(call.name)
    if isinstance(arguments, Defect):
        problem = f"the arguments are not JSON ({arguments.name}): {arguments.reason}"
        return ToolCall(call.name, {}, call.id, problem)
    return msgspec.structs.replace(call, arguments=arguments)


def _is_json(text: str) -> bool:
    """Whether this is JSON with tags in its texts."""
    return text.lstrip()[:1] in ("{", "[", "`") and not isinstance(parse(text), Defect)


def _dumped(value: Any) -> Any:
    """Let the objects in a list dump themselves, as one by itself does."""
    if not isinstance(value, (list, tuple)):
        return value
    dumped = [parse(item) if hasattr(type(item), "model_dump") else item for item in value]
    return [old if isinstance(new, Defect) else new for old, new in zip(value, dumped)]


def _in_tags(text: str, parsing: Parsing) -> Iterator[ToolCall]:
    for content in contents(text):
        value = parse(content, parsing)
        if isinstance(value, Defect):
            yield ToolCall("", problem=f"no JSON in the tags ({value.name}): {value.reason}")
        else:
            yield from _in_list(value if isinstance(value, list) else [value], parsing)


def _in_list(
    items: Iterable[Any], parsing: Parsing, *, among_blocks: bool = False
) -> Iterator[ToolCall]:
    for item in items:
        calls = _in_object(item, parsing) if isinstance(item, dict) else None
        if calls is not None:
            yield from calls
        elif not (among_blocks and is_other_block(item)):
            yield not_a_call(item)


def _in_object(value: dict[str, Any], parsing: Parsing) -> list[ToolCall] | None:
    """Read a call, a message or a response; None where it is none of these."""
    call = read_call(value, parsing)
    if call is not None:
        return [call]
    steps = _steps(value)
    calls = list(_in_list(steps, parsing, among_blocks=True))
    if calls:
        return calls
    wrong = _wrong_call(value)
    if _MESSAGE.isdisjoint(value):
        return wrong if wrong or steps else None
    inner = _inner(value)
    if inner is not None:
        return [*(_in_object(inner, parsing) or []), *wrong]
    return [*_in_message(value, parsing), *wrong]


def _steps(value: dict[str, Any]) -> list[Any]:
    """Return the steps of Google's interactions, or the outputs of Mistral's conversations.

    None of an answer that has others under the same name.
    """
    steps = _given(value, "steps") or _given(value, "outputs")
    return steps if all(map(is_known, steps)) else []


def _wrong_call(candidate: dict[str, Any]) -> list[ToolCall]:
    """Return what stands for a call that Google's API could not read, if a candidate ends so.

    LangChain keeps a candidate's end in the metadata of its message.
    """
    ended = candidate.get("response_metadata")
    if isinstance(ended, dict):
        candidate = ended
    reason = candidate.get("finishReason") or candidate.get("finish_reason")
    if reason not in _WRONG_CALLS:
        return []
    said = candidate.get("finishMessage") or candidate.get("finish_message")
    return [ToolCall("", problem=f"{reason}: {said}" if isinstance(said, str) else str(reason))]


def _inner(response: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message within a response: the first choice or candidate."""
    for key in ("choices", "candidates", "message", "content"):
        value = response.get(key)
        first = value[0] if isinstance(value, list) and value and key != "content" else value
        if isinstance(first, dict):
            return first
    output = response.get("output")
    return output if isinstance(output, dict) and "message" in output else None  # Amazon's


def _in_message(message: dict[str, Any], parsing: Parsing) -> list[ToolCall]:
    listed = [item for item in _listed(message) if not only_looks_like_a_call(item)]
    if listed:
        return [_with_error(item, parsing) for item in listed]
    for key in _BLOCKS:
        blocks = _given(message, key)
        calls = list(_in_blocks(blocks, parsing)) if blocks else []
        if calls:
            return calls
    return _in_text(message, parsing)


def _listed(message: dict[str, Any]) -> list[Any]:
    """Return what a message lists as calls, apart from its blocks."""
    streamed = _given(message, "tool_call_chunks")
    if streamed:  # beside them LangChain lists calls whose arguments it has completed
        return streamed
    found = next((listed for key in _CALLS if (listed := _given(message, key))), [])
    invalid = _given(message, "invalid_tool_calls")
    if found and not invalid:
        invalid = _invalid_blocks(message)
    extra = message.get("additional_kwargs")
    if found or invalid or not isinstance(extra, dict):
        return [*found, *invalid]
    alone = extra.get("function_call")
    return _given(extra, "tool_calls") or ([alone] if isinstance(alone, dict) else [])


def _invalid_blocks(message: dict[str, Any]) -> list[Any]:
    """Return the blocks of calls that could not be read, which LangChain may list only there."""
    blocks = _given(message, "content")
    return [one for one in blocks if isinstance(one, dict) and type_of(one) == "invalid_tool_call"]


def _in_text(message: dict[str, Any], parsing: Parsing) -> list[ToolCall]:
    """Read the tags in what a model's message says."""
    text = _said(message)
    return list(_in_tags(text, parsing)) if OPENING in text else []


def _said(message: dict[str, Any]) -> str:
    """Return the text of a model's message, that of its blocks together."""
    if _is_of_others(message):
        return ""
    content = message.get("content")
    if isinstance(content, str) and content:
        return content
    blocks = [block for key in _BLOCKS for block in _given(message, key)]
    return "".join(map(_said_in, blocks))


def _said_in(block: Any) -> str:
    if not isinstance(block, dict):
        return block if isinstance(block, str) else ""
    if type_of(block) != "message" or _is_of_others(block):
        return said_by(block)
    return "".join(said_by(one) for one in _given(block, "content") if isinstance(one, dict))


def _is_of_others(message: dict[str, Any]) -> bool:
    """Whether no model says this, or it does in its thoughts."""
    role = message.get("role")
    if isinstance(role, str) and role:
        return role in _OF_OTHERS
    kind = type_of(message)
    if kind is None or kind in _OF_MODELS:
        return False
    return kind in _OF_OTHERS or is_other_type(kind)


def _given(message: dict[str, Any], key: str) -> list[Any]:
    value = message.get(key)
    return value if isinstance(value, list) else []


def _with_error(item: Any, parsing: Parsing) -> ToolCall:
    """Read what is said to be a call; LangChain says of an invalid one what is wrong.

    The Vercel AI SDK has an object there, as where a tool is unknown to it: that is for us to say.
    """
    call = (read_call(item, parsing) if isinstance(item, dict) else None) or not_a_call(item)
    error = item.get("error") if isinstance(item, dict) else None
    if error and isinstance(error, str) and call.problem is None:
        return msgspec.structs.replace(call, problem=error)
    return call


def _in_blocks(blocks: list[Any], parsing: Parsing) -> Iterator[ToolCall]:
    """Read the calls among blocks of text, thinking and the like."""
    for block in blocks:
        if not isinstance(block, dict) or only_looks_like_a_call(block):
            continue
        is_call = is_call_type(type_of(block)) or named_by_type(block)
        if is_call or read_call(block, parsing) is not None:
            yield _with_error(block, parsing)
