"""What LangChain's `parse_json_markdown` accepts, in linear time and within our limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from llmeval_integrations.core.limits import MAX_DEPTH
from llmeval_integrations.json_values import defects
from llmeval_integrations.json_values.decode import (
    UNREADABLE,
    decode,
    decode_exactly,
    find_error,
    make_decoder,
    refuse_byte_order_mark,
    refuse_depth,
)
from llmeval_integrations.json_values.numbers import NumberRangeError
from llmeval_integrations.json_values.size import LARGE, measure

_STRIP = " \n\r\t`"
_write = msgspec.json.Encoder().encode
_decode_raw = make_decoder(strict=False).decode
_find_raw_error = json.JSONDecoder(parse_int=str, strict=False).decode


def parse_lenient(text: str) -> Any:
    """Read a text that may be truncated, with raw control characters in its strings."""
    return _parse(text, _complete)


def check_lenient(text: str) -> Any:
    """Read what `json.loads` reads; truncated text is not completed."""
    return _parse(text, _decode_python)


def _parse(text: str, read: Callable[[str], Any]) -> Any:
    try:
        value, body = _read_markdown(text, read)
    except json.JSONDecodeError as error:
        if not error.doc:
            return defects.Defect("empty", str(error), 0, 1, 1)
        # What was read is the end of the text, but for white space and back-ticks.
        start = max(text.rfind(error.doc), 0)
        defect = defects.explain(text, error.doc, start, error)
        return msgspec.structs.replace(defect, reason=str(error))
    except NumberRangeError:
        return defects.find_number(text, text, 0) or defects.out_of_range(text, 0)
    except UnicodeEncodeError:
        return defects.find_lone_surrogate(text, text, 0) or defects.Defect("lone_surrogate", "")
    except RecursionError:
        return refuse_depth(text, 0)
    # A text that was completed is as deep as its value, whatever its open quotes hide.
    if body.count("[") + body.count("{") > MAX_DEPTH or len(body) > LARGE:
        limit = measure(value)
        if limit is not None:
            return defects.too_large() if limit == "too_large" else defects.too_deep(text, 0)
    return value


def _read_markdown(text: str, read: Callable[[str], Any]) -> tuple[Any, str]:
    """Try the text, then what follows its first fence; give the value and what it was read from.

    Raises json.JSONDecodeError.
    """
    body = _as_action_input(text.strip(_STRIP))
    try:
        return read(body), body
    except json.JSONDecodeError:
        fence = text.find("```")
        if fence < 0:
            raise
    behind = text[fence + 3 :].removeprefix("json")
    body = _as_action_input(behind.strip(_STRIP))
    return read(body), body


_ACTION_INPUT = re.compile(r'("action_input":\s*")([^"]*)(?=")')
_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _as_action_input(text: str) -> str:
    """Escape the raw line breaks in the value of "action_input", as LangChain's agents need it."""
    if '"action_input"' not in text:
        return text
    return _ACTION_INPUT.sub(lambda found: found[1] + found[2].translate(_ESCAPES), text)


def _read(text: str) -> Any:
    """Read a text with raw control characters in its strings."""
    try:
        return decode(text)
    except UNREADABLE:
        return _decode_or_explain(text, _decode_raw, _find_raw_error)


def _decode_python(text: str) -> Any:
    return _decode_or_explain(text, decode_exactly, find_error)


def _decode_or_explain(
    text: str, decode_text: Callable[[str], Any], find_error: Callable[[str], Any]
) -> Any:
    refuse_byte_order_mark(text)
    try:
        value = decode_text(text)
    except NumberRangeError:  # behind which nothing was looked at
        find_error(text)
        raise
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
    scan = _scan_brackets(text)
    if scan is None:
        return None
    closed, brackets = scan
    closing = "".join(reversed(brackets))
    try:
        return _read(closed + closing)
    except json.JSONDecodeError as error:
        end = _longest_beginning(closed[: error.pos], brackets)
    if end < 0:
        raise first_error
    return _read(closed[:end] + closing)


def _scan_brackets(text: str) -> tuple[str, list[str]] | None:
    """Close an open string and list the brackets that are left open; None where one is stray."""
    closing: list[str] = []
    for token in _BRACKET_OR_STRING.finditer(text):
        mark = token[0][0]
        if mark == '"':
            if token[1] is None:
                return text[: token.end()] + '"', closing
        elif mark in _CLOSING:
            closing.append(_CLOSING[mark])
        elif not closing or closing.pop() != mark:
            return None
    return text, closing


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
