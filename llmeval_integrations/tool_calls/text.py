"""Find the calls that models write into a text in Llama's and Mistral's forms, or as Python."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from llmeval_integrations.tool_calls.call import Part, ToolCall

MISTRAL: Final = "[TOOL_CALLS]"
_LLAMA: Final = re.compile(r"<function=([^<>\s]+)>")
_END_OF_LLAMA: Final = "</function>"

_PYTHON_CALL: Final = r"\s*[A-Za-z_][\w.]*\s*\("
_PYTHON: Final = re.compile(rf"(?:```\w*\s*)?(\[{_PYTHON_CALL}.*\])\s*(?:```)?", re.DOTALL)
_PYTHON_BEGUN: Final = re.compile(
    rf"(?:```\w*\s*)?\[{_PYTHON_CALL}\s*(?:[A-Za-z_]\w*\s*=[^=]|\)\s*[,\]])"
)
"""The beginning of a list that can only be Python calls, even if it is cut off."""

_NAMES: Final = {"true": True, "false": False, "null": None}
_LONGEST: Final = 100_000
"""The longest text that is read as Python; a syntax tree takes 100 times the memory of the text."""

_SPACE: Final = re.compile(r"\s*")

# It only finds where a value ends, so integers of any length can be floats.
raw_decode = json.JSONDecoder(parse_int=float).raw_decode


def find_calls(text: str, answer: str) -> list[Part] | None:
    """Return the calls in a text, or the JSON texts that contain them; None if there are none.

    `answer` is the text after the thoughts.
    """
    start = text.find(MISTRAL)
    if start >= 0:
        rest = text[start + len(MISTRAL) :]
        end = end_of_json(rest, 0)
        return [rest if end < 0 else rest[:end]]
    return [*_read_llama(answer)] or _read_python(answer.strip())


def _read_llama(text: str) -> Iterator[ToolCall]:
    """Read `<function=NAME>{...}</function>`; a closing tag in a JSON string does not count."""
    position = 0
    while tag := _LLAMA.search(text, position):
        start = skip_space(text, tag.end())
        position = end_of_json(text, start)
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


def skip_space(text: str, position: int) -> int:
    """Return the position after white space."""
    found = _SPACE.match(text, position)
    return found.end() if found else position


def end_of_json(text: str, start: int) -> int:
    """Return the end of the JSON value at `start`, or -1 if there is none."""
    try:
        return raw_decode(text, skip_space(text, start))[1]
    except (ValueError, RecursionError):
        return -1
