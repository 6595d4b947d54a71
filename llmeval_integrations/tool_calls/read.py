"""Read tool calls from texts, calls, messages, responses, and lists of these."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import Parsing, parse
from llmeval_integrations.tool_calls.call import TYPE, Part, ToolCall, no_call, read_parts, text_in

CALL, END_OF_CALL = "<tool_call>", "</tool_call>"
THOUGHT, END_OF_THOUGHT = "<think>", "</think>"
_MISTRAL: Final = "[TOOL_CALLS]"
_LLAMA: Final = re.compile(r"<function=([^<>\s]+)>")
_END_OF_LLAMA: Final = "</function>"
_FORM: Final = re.compile(r"<tool_call>|<function=|\[TOOL_CALLS\]")
_TAG: Final = re.compile(f"{CALL}|{THOUGHT}|{END_OF_THOUGHT}")
_SPACE: Final = re.compile(r"\s*")
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*")
_JSON: Final = re.compile(r"\s*`*(?:json\b)?\s*[\[{]", re.IGNORECASE)

_PYTHON_CALL: Final = r"\s*[A-Za-z_][\w.]*\s*\("
_PYTHON: Final = re.compile(rf"(?:```\w*\s*)?(\[{_PYTHON_CALL}.*\])\s*(?:```)?", re.DOTALL)
_PYTHON_BEGUN: Final = re.compile(
    rf"(?:```\w*\s*)?\[{_PYTHON_CALL}\s*(?:[A-Za-z_]\w*\s*=[^=]|\)\s*[,\]])"
)
"""The beginning of a list that can only be Python calls, even if it is cut off."""

_NAMES: Final = {"true": True, "false": False, "null": None}
_LONGEST: Final = 100_000
"""The longest text that is read as Python; a syntax tree takes 100 times the memory of the text."""

_FAILURES: Final = 8
"""How many calls without valid JSON are searched beyond their closing tag. Each search may cost as
much as all text after the call."""

_PROSE: Final = frozenset(("prose", "prose_around", "bare_word", "empty"))
"""The defects of an answer in prose; `[Paris](http://x)` begins like an array."""

_WORDS_OF_CALLS: Final = re.compile(
    r"(\b|_)(tool|function|call|action|arg|kwarg|param|input)", re.IGNORECASE
)
"""Words in names and types that suggest a call, in a form that no reader knows."""

# It only finds where a value ends, so integers of any length can be floats.
raw_decode = json.JSONDecoder(parse_int=float).raw_decode
_validate = msgspec.json.Decoder(msgspec.Raw).decode


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
        return _read_texts([value], parsing, expects_calls)
    return _read_value(value, parsing, expects_calls)


def _read_texts(texts: list[str], parsing: Parsing, expects_calls: bool) -> list[ToolCall] | Defect:
    """Read the calls in these texts of one model, or else the JSON of the last."""
    found = _find_calls("".join(texts))
    if found is None:
        value = parse(texts[-1], parsing) if _JSON.match(texts[-1]) else None
        if isinstance(value, Defect):
            return [] if value.name in _PROSE else value
        is_json = isinstance(value, (dict, list))
        return _read_value(value, parsing, expects_calls, is_json=True) if is_json else []
    calls: list[ToolCall] = []
    for one in found:
        if isinstance(one, ToolCall):
            calls.append(_parse_arguments(one, parsing))
            continue
        value = parse(one, parsing)
        if isinstance(value, Defect):
            problem = f"no JSON in the tags ({value.name}): {value.reason}"
            calls.append(ToolCall("", problem=problem))
            continue
        for part in read_parts(value) or [""]:
            call = part if isinstance(part, ToolCall) else no_call(value)
            calls.append(_parse_arguments(call, parsing, is_json=True))
    return calls


def _read_value(
    value: Any, parsing: Parsing, expects_calls: bool, *, is_json: bool = False
) -> list[ToolCall] | Defect:
    if value is None or value == {}:
        return []
    parts = read_parts(value)
    calls: list[ToolCall] = []
    texts: list[str] = []
    for part in parts or ():
        if isinstance(part, str):
            texts.append(part)
        else:
            calls.append(_parse_arguments(part, parsing, is_json=is_json))
    if not (expects_calls or texts or any(call.name for call in calls)) and _is_answer(value):
        return []
    if parts is None:
        return Defect("not_a_call", f"Not a tool call: {quote(value)}")
    return calls if calls or not texts else _read_texts(texts, parsing, expects_calls)


def _parse_arguments(call: ToolCall, parsing: Parsing, *, is_json: bool = False) -> ToolCall:
    """Parse the arguments of a call; if that fails, the call's `problem` says why.

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
        names = [*map(str, value), text_in(value, *TYPE)]
        return any(map(_WORDS_OF_CALLS.search, names)) or any(map(_mentions_call, value.values()))
    return isinstance(value, list) and any(map(_mentions_call, value))


# --- texts: tags, and the forms of other models ---------------------------------------------------


def _find_calls(text: str) -> list[Part] | None:
    """Return the calls in a text, or the JSON texts that contain them; None if there are none."""
    answer = text.rpartition(END_OF_THOUGHT)[2]
    if not _FORM.search(text):
        return _read_python(answer.strip())
    if _JSON.match(text) and not isinstance(parse(text), Defect):
        return None  # JSON that quotes such a form
    if CALL in text:
        return [*_find_tags(text)]
    start = text.find(_MISTRAL)
    if start >= 0:
        rest = text[start + len(_MISTRAL) :]
        end = _end_of_json(rest, 0)
        return [rest if end < 0 else rest[:end]]
    return [*_read_llama(answer)] or _read_python(answer.strip())


def _find_tags(text: str) -> list[str]:
    """Return the content of each pair of tags; text around them and thoughts are skipped.

    A `</think>` inside a call does not end a thought. If nothing opened it, the opening tag was in
    the prompt, and all calls before are thoughts, unless there are no others.
    """
    tags, last = CallTags(text), text.rfind(END_OF_THOUGHT)
    found: list[str] = []
    thoughts: list[str] = []
    position = 0
    while tag := _TAG.search(text, position):
        position = tag.end()
        if tag[0] == END_OF_THOUGHT:
            thoughts, found = found or thoughts, []
        elif tag[0] == THOUGHT:
            if position <= last:
                position = text.find(END_OF_THOUGHT, position) + len(END_OF_THOUGHT)
        else:
            end, is_json = tags.find_end(position)
            end = len(text) if end < 0 else end
            if (
                not is_json
                and position <= last
                and not text.startswith("{", skip_space(text, position))
            ):
                thought = text.find(END_OF_THOUGHT, position, end)
                if thought >= 0:
                    position = thought
                    continue
            found.append(text[position:end])
            position = end
    return found or thoughts


@dataclass
class CallTags:
    """Finds the ends of the calls in a text; a closing tag in a JSON string does not count."""

    text: str
    _is_open: bool = False
    """Whether no closing tag is left."""
    _failures: int = 0

    def find_end(self, start: int) -> tuple[int, bool]:
        """Return the end of the content that begins at `start`, and whether this is one JSON value.

        The end is -1 if there is none: models often stop generating at the closing tag. No start
        may be before that of another call.
        """
        text = self.text
        tag = -1 if self._is_open else text.find(END_OF_CALL, start)
        self._is_open = tag < 0
        if tag >= 0:
            try:  # most are JSON, and this parser is fast
                _validate(text[start:tag])
            except (ValueError, RecursionError):
                pass
            else:
                return tag, True
        if self._failures < _FAILURES:
            fence = _FENCE.match(text, start)
            end = _end_of_json(text, fence.end() if fence else start)
            after = skip_space(text, end)
            if fence and text.startswith("```", after):
                after = skip_space(text, after + 3)
            if end >= 0 and (after == len(text) or text.startswith(END_OF_CALL, after)):
                return after, True
            self._failures += 1
        return tag, False


def skip_space(text: str, position: int) -> int:
    """Return the position after white space."""
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _end_of_json(text: str, start: int) -> int:
    """Return the end of the JSON value at `start`, or -1 if there is none."""
    try:
        return raw_decode(text, skip_space(text, start))[1]
    except (ValueError, RecursionError):
        return -1


def _read_llama(text: str) -> Iterator[ToolCall]:
    """Read `<function=NAME>{...}</function>`; a closing tag in a JSON string does not count."""
    position = 0
    while tag := _LLAMA.search(text, position):
        start = skip_space(text, tag.end())
        position = _end_of_json(text, start)
        if position < 0:
            end = text.find(_END_OF_LLAMA, start)
            position = len(text) if end < 0 else end
        yield ToolCall(tag[1], text[start:position])


def _read_python(text: str) -> list[Part] | None:
    """Read `[NAME(ARGUMENT=VALUE, ...), ...]`, which is parsed but never evaluated."""
    whole = _PYTHON.fullmatch(text) if len(text) <= _LONGEST else None
    tree: Any = None
    # Python's warnings, for example about an unknown escape, are about the model's text.
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(whole[1], mode="eval").body if whole else None
    if isinstance(tree, ast.List) and all(isinstance(each, ast.Call) for each in tree.elts):
        return [*map(_read_python_call, tree.elts)]
    if _PYTHON_BEGUN.match(text):
        return [ToolCall("", problem="the calls are incomplete, or not Python")]
    return None


def _read_python_call(call: Any) -> ToolCall:
    name, arguments = ast.unparse(call.func), {}
    if call.args or any(each.arg is None for each in call.keywords):
        return ToolCall(name, problem="an argument has no name")
    for each in call.keywords:
        try:
            arguments[each.arg] = ast.literal_eval(_JsonNames().visit(each.value))
        except (TypeError, ValueError):
            return ToolCall(name, problem=f"{ast.unparse(each.value)[:80]!r} is not a JSON value")
    return ToolCall(name, arguments)


class _JsonNames(ast.NodeTransformer):
    """Replaces JSON's names, which some models write in Python."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_NAMES[node.id]) if node.id in _NAMES else node
