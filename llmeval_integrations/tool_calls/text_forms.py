"""Calls that a model writes into its text, other than in `<tool_call>` tags."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from math import isfinite
from typing import Any, Final

from llmeval_integrations.tool_calls.call import RawCall
from llmeval_integrations.tool_calls.tags import END_OF_THOUGHT, raw_decode, skip_space

MISTRAL: Final = "[TOOL_CALLS]"
_LLAMA: Final = "<function="
_END_OF_LLAMA: Final = "</function>"

_LLAMA_TAG: Final = re.compile(r"<function=([^<>\s]+)>")
_CALL: Final = r"\s*[A-Za-z_][\w.]*\s*\("
_PYTHON: Final = re.compile(rf"(?:```\w*\s*)?(\[{_CALL}.*\])\s*(?:```)?", re.DOTALL)
_BEGUN: Final = re.compile(rf"(?:```\w*\s*)?\[{_CALL}\s*(?:[A-Za-z_]\w*\s*=[^=]|\)\s*[,\]])")
"""How a list of Python calls begins beyond doubt, though it may be cut off."""

_ANY_FORM: Final = re.compile(r"<tool_call>|<function=|\[TOOL_CALLS\]")
_BEGINS: Final = re.compile(rf"(?:.*</think>)?\s*(?:```\w*\s*)?\[{_CALL}", re.DOTALL)

_NAMES: Final = {"true": True, "false": False, "null": None}
_LONGEST: Final = 100_000
"""Of Python; its syntax tree takes a hundred times the memory of the text."""


def holds_form(text: str) -> bool:
    """Whether a text may hold calls in a form of their own."""
    return _ANY_FORM.search(text) is not None or _BEGINS.match(text) is not None


def find_raw_calls(text: str) -> list[RawCall] | None:
    """Return the calls in Llama's or Python's form; None where the text has neither."""
    answer = text.rpartition(END_OF_THOUGHT)[2]
    if _LLAMA in answer:
        return [*_read_llama(answer)] or None
    return _read_python(answer.strip())


def find_mistral(text: str) -> str | None:
    """Return the JSON behind Mistral's `[TOOL_CALLS]`; None where the text has no such mark."""
    if MISTRAL not in text:
        return None
    rest = text[text.index(MISTRAL) + len(MISTRAL) :]
    try:
        _, end = raw_decode(rest, skip_space(rest, 0))
    except (ValueError, RecursionError):
        return rest
    return rest[:end]


def _read_llama(text: str) -> Iterator[RawCall]:
    """Read `<function=NAME>{...}</function>`; a closing tag in a JSON string is none."""
    position = 0
    while tag := _LLAMA_TAG.search(text, position):
        start = skip_space(text, tag.end())
        try:
            _, position = raw_decode(text, start)
        except (ValueError, RecursionError):
            end = text.find(_END_OF_LLAMA, start)
            position = len(text) if end < 0 else end
        yield RawCall(tag[1], text[start:position])


def _read_python(text: str) -> list[RawCall] | None:
    """Read `[NAME(ARGUMENT=VALUE, ...), ...]`, which is parsed and never evaluated."""
    whole = _PYTHON.fullmatch(text) if len(text) <= _LONGEST else None
    tree: Any = None
    # What Python warns of, such as an escape that it does not know, is no concern of the user's.
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(whole[1], mode="eval").body if whole else None
    if isinstance(tree, ast.List) and all(isinstance(each, ast.Call) for each in tree.elts):
        return [_read_call(each) for each in tree.elts]
    if _BEGUN.match(text):
        return [RawCall("", problem="the calls are not complete, or no Python")]
    return None


def _read_call(call: Any) -> RawCall:
    name = ast.unparse(call.func)
    if call.args or any(each.arg is None for each in call.keywords):
        return RawCall(name, problem="an argument has no name")
    try:
        return RawCall(name, {each.arg: _read_value(each.value) for each in call.keywords})
    except ValueError as error:
        return RawCall(name, problem=str(error))


def _read_value(node: ast.expr) -> Any:
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
            return list(map(_read_value, items))
        case ast.Dict(keys, values) if all(
            isinstance(key, ast.Constant) and isinstance(key.value, str) for key in keys
        ):
            return {key.value: _read_value(value) for key, value in zip(keys, values)}  # type: ignore[union-attr]
    raise ValueError(f"{ast.unparse(node)[:80]!r} is no JSON value")
