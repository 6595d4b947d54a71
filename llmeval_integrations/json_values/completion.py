"""What LangChain's `parse_json_markdown` accepts, in linear time and within our limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from llmeval_integrations.core.limits import MAX_DEPTH
from llmeval_integrations.json_values.decode import (
    UNREADABLE,
    decode,
    decode_exactly,
    refuse_byte_order_mark,
    refuse_depth,
)
from llmeval_integrations.json_values.defects import Defect, too_deep, too_large
from llmeval_integrations.json_values.diagnosis import diagnose
from llmeval_integrations.json_values.numbers import NumberRangeError
from llmeval_integrations.json_values.search import find_extension
from llmeval_integrations.json_values.size import LARGE, measure

_STRIP = " \n\r\t`"
_write = msgspec.json.Encoder().encode


def parse_lenient(text: str) -> Any:
    """Read a text that may be truncated, with raw control characters in its strings."""
    return _parse(text, _complete)


def check_lenient(text: str) -> Any:
    """Read what `json.loads` reads; truncated text is not completed."""
    return _parse(text, _read_exactly)


def _parse(text: str, read: Callable[[str], Any]) -> Any:
    try:
        value, body = _read_markdown(text, read)
    except json.JSONDecodeError as error:
        if not error.doc:
            return Defect("empty", str(error), 0, 1, 1)
        # What was read is the end of the text, but for white space and back-ticks.
        defect = diagnose(text, error.doc, max(text.rfind(error.doc), 0), error)
        return msgspec.structs.replace(defect, reason=str(error))
    except NumberRangeError:
        unknown = Defect("number_out_of_range", "Number out of range", 0, 1, 1, is_json=True)
        return find_extension(text, name="number_out_of_range") or unknown
    except UnicodeEncodeError:
        unknown = Defect("lone_surrogate", "Lone surrogate")
        return find_extension(text, name="lone_surrogate") or unknown
    except RecursionError:
        return refuse_depth(text, 0)
    # A text that was completed is as deep as its value, whatever its open quotes hide.
    if body.count("[") + body.count("{") > MAX_DEPTH or len(body) > LARGE:
        limit = measure(value)
        if limit is not None:
            return too_large() if limit == "too_large" else too_deep(text, 0)
    return value


def _read_markdown(text: str, read: Callable[[str], Any]) -> tuple[Any, str]:
    """Try the text, then what follows its first fence; give the value and what it was read from.

    Raises json.JSONDecodeError.
    """
    body = _escape_action_input(text.strip(_STRIP))
    try:
        return read(body), body
    except json.JSONDecodeError:
        fence = text.find("```")
        if fence < 0:
            raise
    behind = text[fence + 3 :].removeprefix("json")
    body = _escape_action_input(behind.strip(_STRIP))
    return read(body), body


_ACTION_INPUT = re.compile(r'("action_input":\s*")([^"]*)(?=")')
_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _escape_action_input(text: str) -> str:
    """Escape the raw line breaks in the value of "action_input", as LangChain's agents need it."""
    if '"action_input"' not in text:
        return text
    return _ACTION_INPUT.sub(lambda found: found[1] + found[2].translate(_ESCAPES), text)


def _read(text: str) -> Any:
    """Read a text with raw control characters in its strings."""
    try:
        return decode(text)
    except UNREADABLE:
        return _read_exactly(text, strict=False)


def _read_exactly(text: str, *, strict: bool = True) -> Any:
    refuse_byte_order_mark(text)
    value = decode_exactly(text, strict=strict)
    _write(value)  # which raises UnicodeEncodeError
    return value


# --- a text that was cut ------------------------------------------------------------------------

_BRACKET_OR_STRING = re.compile(r'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*(")?', re.DOTALL)
_TOKEN = re.compile(
    r'[ \t\n\r]*(?:("[^"\\]*(?:\\.[^"\\]*)*")'
    r"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null|NaN|-?Infinity"
    r"|([\[\]{}:,]))",
    re.DOTALL,
)
_CLOSING = {"{": "}", "[": "]"}


def _complete(text: str) -> Any:
    """Read a JSON text of which the end may be missing.

    The value is that of the longest beginning which is JSON once the brackets that the whole
    text leaves open are closed: what LangChain's `parse_partial_json` finds by trying every
    beginning. A stray closing bracket gives None, as there. Raises json.JSONDecodeError.
    """
    try:
        return _read(text)
    except json.JSONDecodeError as error:
        first_error = error
    brackets: list[str] = []
    for token in _BRACKET_OR_STRING.finditer(text):
        mark = token[0][0]
        if mark == '"':
            if token[1] is None:  # it is open
                text = text[: token.end()] + '"'
        elif mark in _CLOSING:
            brackets.append(_CLOSING[mark])
        elif not brackets or brackets.pop() != mark:
            return None
    closing = "".join(reversed(brackets))
    try:
        return _read(text + closing)
    except json.JSONDecodeError as error:
        end = _longest_beginning(text[: error.pos], brackets)
    if end < 0:
        raise first_error
    return _read(text[:end] + closing)


def _longest_beginning(text: str, brackets: list[str]) -> int:
    """Find the last place where a value ends and exactly these brackets are open; -1 if none.

    The text is the beginning of a JSON text.
    """
    opened: list[str] = []
    agree = 0  # how many of the outermost brackets are those that are to be open
    best, before, position = -1, "", 0
    while token := _TOKEN.match(text, position):
        string, mark = token.groups("")
        position = token.end()
        is_name = string and before in ("{", ",") and opened[-1:] == ["}"]
        if mark in _CLOSING:
            if agree == len(opened) and brackets[agree : agree + 1] == [_CLOSING[mark]]:
                agree += 1
            opened.append(_CLOSING[mark])
        elif mark in ("}", "]"):
            opened.pop()
            agree = min(agree, len(opened))
        if mark not in (",", ":") and not is_name and agree == len(opened) == len(brackets):
            best = position
        before = mark
    return best
