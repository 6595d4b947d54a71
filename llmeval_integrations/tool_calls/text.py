"""Find the calls that a model writes into its text: in tags, after a mark, or as Python."""

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

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.parse import parse
from llmeval_integrations.tool_calls.call import Part, ToolCall

CALL, END_OF_CALL = "<tool_call>", "</tool_call>"
THOUGHT, END_OF_THOUGHT = "<think>", "</think>"
_UNKNOWN: Final = re.compile(
    r"<(?:[|｜]?(?:tool|function)[_▁]?calls?|\|python_tag\|"
    r"|\|(?:channel|start)\|>[\w ]* to=functions)"
)
"""The marks of calls in forms that are not read: of DeepSeek, Kimi, Granite, Llama, gpt-oss."""

_FORM: Final = re.compile(rf"<function=|{_UNKNOWN.pattern}")
_TAG: Final = re.compile(f"{CALL}|{THOUGHT}|{END_OF_THOUGHT}")
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*")
JSON_START: Final = re.compile(r"\s*(?:(?:`+(?:json\b)?|json\b)\s*)?[\[{]", re.IGNORECASE)
"""The beginning of an object or array, perhaps in a fence. No two `\\s*` meet: with them, a text of
spaces takes quadratic time."""

_MISTRAL: Final = "[TOOL_CALLS]"
_NAMED: Final = re.compile(
    r"(?:<function=|\[TOOL_CALLS\])([^<>\[\]{\s]+)(?:>|(?:\[CALL_ID\]\w+)?\[ARGS\])"
)
"""The name before the arguments in a form of Llama's or of newer models of Mistral's."""

_END_OF_NAMED: Final = re.compile(r"</function>|\[TOOL_CALLS\]")

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
much as all text before and after the call."""

_SPACE: Final = re.compile(r"\s*")

_validate = msgspec.json.Decoder(msgspec.Raw).decode

# It only finds where a value ends, so integers of any length can be floats.
raw_decode = json.JSONDecoder(parse_int=float).raw_decode


def find_calls(text: str) -> list[Part] | None:
    """Return the calls in a text, or the JSON texts that contain them; None if there are none."""
    answer = text.rpartition(END_OF_THOUGHT)[2].strip()
    # In 10 kB of prose, the search for "<" takes 0.2 µs, and that for a pattern 23 µs.
    if _MISTRAL not in text and not ("<" in text and _FORM.search(text)):
        return _read_python(answer)
    if JSON_START.match(text) and not isinstance(parse(text), Defect):
        return None  # JSON that quotes such a form
    if CALL in text:
        return [*_find_tags(text)]
    _, mark, rest = text.partition(_MISTRAL)
    is_list = mark and JSON_START.match(rest)  # which may quote a form with names
    named: list[Part] = [] if is_list else [*_read_named(answer)]
    if named:
        return named
    if mark:
        end = _end_of_json(rest, 0)
        return [rest if end < 0 else rest[:end]]
    if unknown := _UNKNOWN.search(answer):
        return [ToolCall("", problem=f"calls in an unknown form, after {unknown[0]!r}")]
    return _read_python(answer)


# --- tags -----------------------------------------------------------------------------------------


def _find_tags(text: str) -> list[str]:
    """Return the content of each pair of tags; text around them and thoughts are skipped.

    If nothing opened a thought, the opening tag was in the prompt, and all calls before its end are
    thoughts, unless there are no others.
    """
    tags, found = CallTags(text), list[str]()
    thoughts: list[str] = []
    position, last, closed = 0, text.rfind(END_OF_THOUGHT), text.rfind(END_OF_CALL)
    while tag := _TAG.search(text, position):
        position = tag.end()
        if tag[0] == END_OF_THOUGHT:
            thoughts, found = found or thoughts, []
        elif tag[0] == THOUGHT:
            if position <= last:
                position = text.find(END_OF_THOUGHT, position) + len(END_OF_THOUGHT)
        else:
            end = tags.find_end(position) if position <= closed else len(text)
            has_end = position <= last and text.find(END_OF_THOUGHT, position, end) >= 0
            if has_end and not text.startswith(("{", "[", "`"), skip_space(text, position)):
                continue  # a thought that mentions the tag
            found.append(text[position:end])
            position = end
    return found or thoughts


@dataclass
class CallTags:
    """Finds the ends of the calls in a text; a closing tag in a JSON string does not count."""

    text: str
    _failures: int = 0

    def find_end(self, start: int) -> int:
        """Return the end of the content that begins at `start`, or -1 if there is none."""
        text = self.text
        tag = text.find(END_OF_CALL, start)
        with suppress(ValueError, RecursionError):
            if tag >= 0:
                _validate(text[start:tag])  # most are JSON, and this parser is fast
                return tag
        if self._failures < _FAILURES:
            fence = _FENCE.match(text, start)
            end = _end_of_json(text, fence.end() if fence else start)
            after = skip_space(text, end)
            if fence and text.startswith("```", after):
                after = skip_space(text, after + 3)
            if end >= 0 and (after == len(text) or text.startswith(END_OF_CALL, after)):
                return after
            self._failures += 1
        return tag


# --- names before arguments, and Python -----------------------------------------------------------


def _read_named(text: str) -> Iterator[ToolCall]:
    """Read `<function=NAME>{...}</function>` and `[TOOL_CALLS]NAME[ARGS]{...}`.

    What looks like the end of a call in a JSON string does not count.
    """
    position = 0
    while tag := _NAMED.search(text, position):
        start = skip_space(text, tag.end())
        position = _end_of_json(text, start)
        if position < 0:
            end = _END_OF_NAMED.search(text, start)
            position = end.start() if end else len(text)
        yield ToolCall(tag[1], text[start:position])


def _read_python(text: str) -> list[Part] | None:
    """Read `[NAME(ARGUMENT=VALUE, ...), ...]`, which is parsed but never evaluated."""
    if not text.startswith(("[", "`")):
        return None
    whole = _PYTHON.fullmatch(text) if len(text) <= _LONGEST else None
    tree: Any = None
    if whole:
        # Python's warnings, for example about an unknown escape, are about the model's text.
        errors = (SyntaxError, ValueError, MemoryError, RecursionError)
        with suppress(*errors), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(whole[1], mode="eval").body
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
