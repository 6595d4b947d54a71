"""Find the calls that a model writes into its text: in tags, after a mark, or as Python."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from math import isfinite
from typing import Any, Final

import msgspec

from llmeval_integrations.tool_calls.call import Part, RawCall

CALL, END_OF_CALL = "<tool_call>", "</tool_call>"
THOUGHT, END_OF_THOUGHT = "<think>", "</think>"
_MISTRAL: Final = "[TOOL_CALLS]"
_LLAMA: Final = re.compile(r"<function=([^<>\s]+)>")
_END_OF_LLAMA: Final = "</function>"

_FAILURES: Final = 8
"""How many calls without valid JSON are searched beyond their closing tag. Each search may cost as
much as all text after the call."""

_ENDS: Final = {CALL: END_OF_CALL, THOUGHT: END_OF_THOUGHT}
_TAG: Final = re.compile("|".join((*_ENDS, *_ENDS.values())))
_SPACE: Final = re.compile(r"\s*")
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*")

_PYTHON_CALL: Final = r"\s*[A-Za-z_][\w.]*\s*\("
_PYTHON: Final = re.compile(rf"(?:```\w*\s*)?(\[{_PYTHON_CALL}.*\])\s*(?:```)?", re.DOTALL)
_PYTHON_BEGUN: Final = re.compile(
    rf"(?:```\w*\s*)?\[{_PYTHON_CALL}\s*(?:[A-Za-z_]\w*\s*=[^=]|\)\s*[,\]])"
)
"""The beginning of a list that can only be Python calls, even if it is cut off."""

_FORM: Final = re.compile(r"<tool_call>|<function=|\[TOOL_CALLS\]")
_PYTHON_FORM: Final = re.compile(rf"(?:.*</think>)?\s*(?:```\w*\s*)?\[{_PYTHON_CALL}", re.DOTALL)

_NAMES: Final = {"true": True, "false": False, "null": None}
_LONGEST: Final = 100_000
"""The longest text that is read as Python; a syntax tree takes 100 times the memory of the text."""

# It only finds where a value ends, so integers of any length can be floats.
raw_decode = json.JSONDecoder(parse_int=float).raw_decode
_validate = msgspec.json.Decoder(msgspec.Raw).decode


def may_hold_calls(text: str) -> bool:
    """Return whether a text may contain calls in one of these forms."""
    return _FORM.search(text) is not None or _PYTHON_FORM.match(text) is not None


def find_calls(text: str) -> list[Part] | None:
    """Return the calls in a text, or the JSON texts that contain them; None if there are none."""
    if CALL in text:
        return [*_find_tags(text)]
    start = text.find(_MISTRAL)
    if start >= 0:
        rest = text[start + len(_MISTRAL) :]
        end = _end_of_json(rest, 0)
        return [rest if end < 0 else rest[:end]]
    answer = text.rpartition(END_OF_THOUGHT)[2]
    return [*_read_llama(answer)] or _read_python(answer.strip())


# --- tags -----------------------------------------------------------------------------------------


class CallTags:
    """Finds the ends of the calls in a text; a closing tag in a JSON string does not count."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._failures = 0

    def find_end(self, start: int) -> int:
        """Return the end of the content that begins at `start`, or -1 if it has no end.

        The last call may lack its closing tag: models often stop generating at that token.
        """
        end = self.text.find(END_OF_CALL, start)
        if self._failures < _FAILURES and (end < 0 or not _is_json(self.text[start:end])):
            found = self._find_end_of_json(start)  # the tag may be part of a string
            self._failures += found < 0
            return max(end, found)
        return end

    def _find_end_of_json(self, start: int) -> int:
        """Return the end of the JSON value at `start`, which may be in a fence, or -1."""
        text, fence = self.text, _FENCE.match(self.text, start)
        end = _end_of_json(text, fence.end() if fence else start)
        if end < 0:
            return -1
        end = skip_space(text, end)
        if fence and text.startswith("```", end):
            end = skip_space(text, end + 3)
        return end if end == len(text) or text.startswith(END_OF_CALL, end) else -1


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


def _is_json(text: str) -> bool:
    try:
        _validate(text)
    except (ValueError, RecursionError):
        return False
    return True


def _find_tags(text: str) -> Iterator[str]:
    """Yield the content of each pair of tags; text around them and thoughts are skipped."""
    text = _skip_thoughts(text)
    tags, position = CallTags(text), text.find(CALL)
    while position >= 0:
        position += len(CALL)
        end = tags.find_end(position)
        yield text[position:] if end < 0 else text[position:end]
        position = -1 if end < 0 else text.find(CALL, end)


def _skip_thoughts(text: str) -> str:
    """Return a text without thoughts; their opening tag may be in the prompt.

    A `</think>` inside a call does not end a thought.
    """
    kept, start = [], 0
    opening = None
    for tag in _TAG.finditer(text):
        if opening is None:
            opening = tag if tag[0] in _ENDS else None
        elif tag[0] == _ENDS[opening[0]]:
            if opening[0] == THOUGHT:
                kept.append(text[start : opening.start()])
                start = tag.end()
            opening = None
    text = "".join([*kept, text[start:]])
    before, _, behind = text.partition(END_OF_THOUGHT)
    call = before.rpartition(CALL)[2]
    is_inside = CALL in before and END_OF_CALL not in call and call.lstrip().startswith("{")
    return behind if CALL in behind and not is_inside else text


# --- Llama's form, and Python ---------------------------------------------------------------------


def _read_llama(text: str) -> Iterator[RawCall]:
    """Read `<function=NAME>{...}</function>`; a closing tag in a JSON string does not count."""
    position = 0
    while tag := _LLAMA.search(text, position):
        start = skip_space(text, tag.end())
        position = _end_of_json(text, start)
        if position < 0:
            end = text.find(_END_OF_LLAMA, start)
            position = len(text) if end < 0 else end
        yield RawCall(tag[1], text[start:position])


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
        return [RawCall("", problem="the calls are incomplete, or not Python")]
    return None


def _read_python_call(call: Any) -> RawCall:
    name = ast.unparse(call.func)
    if call.args or any(each.arg is None for each in call.keywords):
        return RawCall(name, problem="an argument has no name")
    try:
        return RawCall(name, {each.arg: _read_python_value(each.value) for each in call.keywords})
    except ValueError as error:
        return RawCall(name, problem=str(error))


def _read_python_value(node: ast.expr) -> Any:
    """Return the JSON value of a Python literal; raise ValueError for anything else."""
    match node:
        case ast.Constant(str() | bool() | int() | None as value):
            return value
        case ast.Constant(float() as number) if isfinite(number):
            return number
        case ast.Name(name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
            return -number
        case ast.List(items) | ast.Tuple(items):
            return [*map(_read_python_value, items)]
        case ast.Dict(keys, values):
            names = [*map(_read_python_value, filter(None, keys))]
            if len(names) == len(values) and all(isinstance(name, str) for name in names):
                return dict(zip(names, map(_read_python_value, values)))
    raise ValueError(f"{ast.unparse(node)[:80]!r} is not a JSON value")
