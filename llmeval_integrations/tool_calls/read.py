"""Reading tool calls from whatever holds them. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from llmeval_integrations.core.quoting import shown
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.tool_calls.call import ToolCall
from llmeval_integrations.tool_calls.messages import read_parts
from llmeval_integrations.tool_calls.readers.shape import RawCall, unknown
from llmeval_integrations.tool_calls.tags import OPENING, contents

_JSON: Final = re.compile(r"\s*`*(?:json\b)?\s*[\[{]", re.IGNORECASE)
_PROSE: Final = frozenset(("prose", "prose_around", "bare_word", "empty"))
"""The defects of an answer; `[Paris](http://x)` begins as an array does."""


def read_calls(value: Any, parsing: Parsing = "markdown") -> list[ToolCall] | Defect:
    """Return the calls that a model's output or a reference holds, or the defect that prevents it.

    A text holds calls in `<tool_call>` tags, or is a JSON object or array and read as that value;
    any other text is an answer without calls. A value is a call, a message, a response, or a list
    of these, as JSON or as objects of an SDK or framework: the first reader that knows it counts.
    A message that lists no calls may have them in its text. What no reader knows is the defect
    `not_a_call`, among others in a list a call with a `problem`, and so is one whose arguments
    cannot be read. Null and what is empty hold no calls, nor does what an API calls by itself.
    """
    if isinstance(value, (str, bytes, bytearray)):
        return _read_text(value, parsing)
    if value is None or value == {}:
        return []
    parts = read_parts(value)
    if parts is None:
        return Defect("not_a_call", f"No tool call: {shown(value)}")
    calls = [_finish(part, parsing) for part in parts if isinstance(part, RawCall)]
    if calls or not parts:
        return calls
    texts = [part for part in parts if isinstance(part, str)]
    whole = "".join(texts)
    return _read_text(whole if OPENING in whole else texts[-1], parsing)


def _read_text(text: str | bytes | bytearray, parsing: Parsing) -> list[ToolCall] | Defect:
    if not isinstance(text, str):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            found: Defect = parse(text, parsing)
            return found
    is_json = _JSON.match(text) is not None
    if OPENING in text and not (is_json and not isinstance(parse(text), Defect)):
        return list(_in_tags(text, parsing))
    if not is_json:
        return []
    value = parse(text, parsing)
    if isinstance(value, Defect):
        return [] if value.name in _PROSE else value
    return read_calls(value, parsing) if isinstance(value, (dict, list)) else []


def _in_tags(text: str, parsing: Parsing) -> Iterator[ToolCall]:
    for content in contents(text):
        value = parse(content, parsing)
        if isinstance(value, Defect):
            yield ToolCall("", problem=f"no JSON in the tags ({value.name}): {value.reason}")
            continue
        for part in read_parts(value if isinstance(value, list) else [value]) or ():
            yield _finish(part if isinstance(part, RawCall) else unknown(value), parsing)


def _finish(raw: RawCall, parsing: Parsing) -> ToolCall:
    """Read the arguments of a call; one that cannot be read says why.

    Nothing, or an empty text, is what some APIs send for a tool without arguments.
    """
    if isinstance(parse([raw.name, raw.problem]), Defect):  # a lone surrogate
        return ToolCall("", problem=unknown(raw.name).problem)
    number = raw.id if isinstance(raw.id, str) and raw.id else None
    value = {} if raw.arguments in (None, "") else parse(raw.arguments, parsing)
    if isinstance(value, Defect):
        problem = f"the arguments are not JSON ({value.name}): {value.reason}"
        return ToolCall(raw.name, {}, number, problem)
    if not isinstance(value, dict):
        problem = f"the arguments are not a JSON object: {shown(raw.arguments)}"
        return ToolCall(raw.name, {}, number, problem)
    return ToolCall(raw.name, value, number, raw.problem)
