"""Read tool calls from texts, calls, messages, responses, and lists of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.tool_calls.call import (
    Fields,
    Part,
    ToolCall,
    fields_of,
    list_in,
    no_call,
    read_block,
    read_failure,
    text_in,
    type_of,
)
from llmeval_integrations.tool_calls.text import find_calls, may_hold_calls

_JSON: Final = re.compile(r"\s*`*(?:json\b)?\s*[\[{]", re.IGNORECASE)
_WORDS_OF_CALLS: Final = re.compile(
    r"(\b|_)(tool|function|call|action|arg|kwarg|param|input)", re.IGNORECASE
)
"""Words in names and types that suggest a call, in a form that no reader knows."""

_PROSE: Final = frozenset(("prose", "prose_around", "bare_word", "empty"))
"""The defects of an answer in prose; `[Paris](http://x)` begins like an array."""

_OTHER_ROLES: Final = frozenset(("user", "human", "system", "developer", "tool", "function"))
_BLOCKS: Final = ("content", "parts", "blocks", "output", "steps")
_MESSAGE: Final = frozenset(("role", "content", "tool_calls", "invalid_tool_calls"))
_AROUND: Final = frozenset(
    (
        *("choices", "candidates", "generations", "message", "messages", "output"),
        *("data", "kwargs", "content"),
    )
)


def read_calls(
    value: Any, parsing: Parsing = "markdown", *, expects_calls: bool = True
) -> list[ToolCall] | Defect:
    """Return the calls in a model's output or a reference, or a Defect if they cannot be read.

    A text may contain calls in `<tool_call>` tags or another model's form. A JSON object or array
    is read as a value. Any other text is an answer without calls. A value is a call, a message, a
    response, or a list of these, as JSON or as objects of an SDK or framework. A message that lists
    no calls may have them in its text.

    A value that no reader knows is the defect `not_a_call`. In a list it becomes a call with a
    `problem`, like a call whose arguments cannot be read. Null and empty values contain no calls.
    Calls that an API makes by itself are skipped. If no calls are expected, JSON that mentions no
    call is an answer without calls.
    """
    if isinstance(value, (bytes, bytearray)):
        try:
            value = value.decode()
        except UnicodeDecodeError as error:
            return Defect("encoding", str(error), error.start)
    if isinstance(value, str):
        return _read_text(value, parsing, expects_calls)
    return _read_value(value, parsing, expects_calls)


def _read_value(
    value: Any, parsing: Parsing, expects_calls: bool, *, is_json: bool = False
) -> list[ToolCall] | Defect:
    if value is None or value == {}:
        return []
    parts = read_parts(value)
    calls = [
        _read_arguments(part, parsing, is_json) for part in parts or () if type(part) is ToolCall
    ]
    texts = [part for part in parts or () if isinstance(part, str)]
    if not (expects_calls or texts or any(call.name for call in calls)) and _is_answer(value):
        return []
    if parts is None:
        return Defect("not_a_call", f"Not a tool call: {quote(value)}")
    if calls or not texts:
        return calls
    whole = "".join(texts)
    return _read_text(whole if may_hold_calls(whole) else texts[-1], parsing, expects_calls)


def _read_text(text: str, parsing: Parsing, expects_calls: bool) -> list[ToolCall] | Defect:
    is_json = _JSON.match(text) is not None
    if may_hold_calls(text) and not (is_json and not isinstance(parse(text), Defect)):
        found = find_calls(text)
        if found is not None:
            return [call for one in found for call in _read_found(one, parsing)]
    value = parse(text, parsing) if is_json else None
    if isinstance(value, Defect):
        return [] if value.name in _PROSE else value
    if not isinstance(value, (dict, list)):
        return []
    return _read_value(value, parsing, expects_calls, is_json=True)


def _read_found(found: Part, parsing: Parsing) -> list[ToolCall]:
    """Read a call in a text, or the JSON in tags, which must be a call and not an answer."""
    if not isinstance(found, str):
        return [_read_arguments(found, parsing, is_json=False)]
    value = parse(found, parsing)
    if isinstance(value, Defect):
        return [ToolCall("", problem=f"no JSON in the tags ({value.name}): {value.reason}")]
    return [
        _read_arguments(part if type(part) is ToolCall else no_call(value), parsing, is_json=True)
        for part in read_parts(value) or [""]
    ]


def _read_arguments(call: ToolCall, parsing: Parsing, is_json: bool) -> ToolCall:
    """Read the arguments of a call; if that fails, the call's `problem` says why.

    Some APIs send nothing or an empty text for a tool without arguments.
    """
    given, problem = call.arguments, call.problem
    if given in (None, ""):
        value: Any = {}
    else:
        value = given if is_json and isinstance(given, dict) else parse(given, parsing)
    if isinstance(value, Defect):
        problem = f"the arguments are not JSON ({value.name}): {value.reason}"
    elif not isinstance(value, dict):
        problem = f"the arguments are not a JSON object: {quote(given)}"
    return ToolCall(call.name, value if isinstance(value, dict) else {}, call.id, problem)


def _is_answer(value: Any) -> bool:
    """Return whether this is JSON that no reader knows, and that has no word of a call."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_answer, value))
    plain = value if isinstance(value, str) else parse(value)
    is_known = read_parts(value) is not None or isinstance(plain, Defect)
    return not (is_known or _mentions_call(plain))


def _mentions_call(value: Any) -> bool:
    if isinstance(value, dict):
        names = [*map(str, value), type_of(value)]
        return any(map(_WORDS_OF_CALLS.search, names)) or any(map(_mentions_call, value.values()))
    return isinstance(value, list) and any(map(_mentions_call, value))


# --- values: blocks, messages, and the objects around them ----------------------------------------


def read_parts(value: Any) -> list[Part] | None:
    """Return the calls and texts of a model, or None if no reader knows the value.

    In a list, a value that no reader knows becomes a call with a problem.
    """
    if isinstance(value, (list, tuple)):
        parts = _read_items(value)
        if all(type(part) is ToolCall for part in parts):
            return parts
        is_conversation = any(_is_message(fields_of(item)) for item in value)
        return parts if is_conversation else _calls_or_text(parts)
    fields = fields_of(value)
    inner = None if "role" in fields or _AROUND.isdisjoint(fields) else _unwrap(fields)
    if inner is not None:
        return read_parts(inner)
    # A message that lists calls may have a name and a type, like a call.
    found = None if fields.get("tool_calls") else read_block(fields)
    if found is None and _is_message(fields):
        return _read_message(fields)
    return found


def _read_items(items: Sequence[Any]) -> list[Part]:
    parts: list[Part] = []
    for item in items:
        found = read_parts(fields_of(item))
        parts += [no_call(item)] if found is None else found
    return parts


def _calls_or_text(parts: list[Part]) -> list[Part]:
    """Return the calls of blocks, or else their joined texts, as a tag may span several."""
    calls: list[Part] = [part for part in parts if not isinstance(part, str)]
    return calls or ["".join(part for part in parts if isinstance(part, str))]


def _unwrap(fields: Fields) -> Any:
    """Return the message inside a response, a result or a state; None for other objects."""
    for name in ("choices", "candidates", "generations"):
        if several := list_in(fields, name):
            return several[0]
    message, output = fields.get("message"), fields_of(fields.get("output"))
    if message is not None and not isinstance(message, str):  # in a choice or a generation
        return message
    if "message" in output:  # Amazon's
        return output["message"]
    if isinstance(fields.get("messages"), (list, tuple)) and _MESSAGE.isdisjoint(fields):
        return fields["messages"]
    for name in ("data", "kwargs"):  # a message that LangChain has saved
        saved = fields_of(fields.get(name))
        if "type" in fields and ("content" in saved or "message" in saved):
            return {"type": fields["type"], **saved}
    content = fields.get("content")  # in a candidate of Google's
    is_candidate = fields_of(content) and "role" not in fields and not read_failure(fields)
    return content if is_candidate else None


def _is_message(fields: Fields) -> bool:
    """Return whether this is a message, or has blocks like one; Google's steps all have a type."""
    if not _MESSAGE.isdisjoint(fields):
        return True
    if any(isinstance(fields.get(name), (list, tuple)) for name in ("parts", "blocks", "output")):
        return True
    steps = list_in(fields, "steps")
    return bool(steps) and all(type_of(fields_of(step)) for step in steps)


def _read_message(fields: Fields) -> list[Part]:
    """Read the calls that a message lists, or else its blocks or its text."""
    if (text_in(fields, "role") or type_of(fields)) in _OTHER_ROLES:
        return []
    if calls := _list_calls(fields):
        return _read_items(calls)
    failure = read_failure(fields_of(fields.get("response_metadata")))  # LangChain keeps it there
    if failure is not None:
        return [failure]
    content = fields.get("content")
    if isinstance(content, str) and content:
        return [content]
    found: list[Part] = []
    for block in next((blocks for name in _BLOCKS if (blocks := list_in(fields, name))), []):
        is_text = isinstance(block, str)
        found += [block] if is_text else read_parts(fields_of(block)) or []
    return _calls_or_text(found)


def _list_calls(message: Fields) -> list[Any]:
    """Return the calls that a message lists outside its blocks."""
    streamed = list_in(message, "tool_call_chunks")
    if streamed:  # LangChain's `tool_calls` beside them have arguments that it has completed
        return [{**fields_of(one), "type": "tool_call"} for one in streamed]
    calls, invalid = list_in(message, "tool_calls"), list_in(message, "invalid_tool_calls")
    if calls and not invalid:  # LangChain may list invalid calls only among the blocks
        blocks = map(fields_of, list_in(message, "content"))
        invalid = [block for block in blocks if type_of(block) == "invalid_tool_call"]
    if calls or invalid:
        return [*calls, *invalid]
    extra = fields_of(message.get("additional_kwargs"))
    alone = extra.get("function_call")
    return list_in(extra, "tool_calls") or ([{"function_call": alone}] if alone else [])
