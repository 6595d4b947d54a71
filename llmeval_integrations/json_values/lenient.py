"""Parse what LangChain's `parse_json_markdown` accepts, in linear time and within our limits."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from llmeval_integrations.json_values.defects import Defect, locate
from llmeval_integrations.json_values.diagnosis import diagnose
from llmeval_integrations.json_values.search import STRUCTURE, find_extension, find_limit, too_deep
from llmeval_integrations.json_values.values import DECODE_ERRORS, decode, decode_as_python

_ACTION_INPUT = re.compile(r'("action_input":\s*")([^"]*)(?=")')
_ESCAPES: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})
_TOKEN = re.compile(
    r'[ \t\n\r]*(?:("[^"\\]*(?:\\.[^"\\]*)*")'
    r"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null|NaN|-?Infinity"
    r"|([\[\]{}:,]))",
    re.DOTALL,
)
_CLOSING: Final = {"{": "}", "[": "]"}


def parse_lenient(text: str, *, complete: bool) -> Any:
    """Parse the text, or else the text after its first fence.

    With `complete`, it may be truncated and may contain raw control characters in strings.
    Without, it must be a text that `json.loads` reads.
    """
    _, fence, rest = text.partition("```")
    bodies = [text, rest.removeprefix("json")] if fence else [text]
    for number, body in enumerate(map(_strip, bodies), 1):
        try:
            value = _complete(body) if complete else _read(body)
            break
        except json.JSONDecodeError as error:
            if number == len(bodies):
                return _explain(text, error)
        except RecursionError:
            return too_deep(text, 0, is_json=False)
    if type(value) is Defect:
        offset = max(text.rfind(body), 0) + (value.offset or 0)
        message = value.reason.partition(":")[0]
        return locate(text, value.name, message, offset, is_json=value.is_json)
    return find_limit(text, value) or value


def _strip(text: str) -> str:
    """Cut off white space and back-ticks; escape line breaks in `action_input`, as LangChain."""
    text = text.strip(" \n\r\t`")
    if '"action_input"' not in text:
        return text
    return _ACTION_INPUT.sub(lambda found: found[1] + found[2].translate(_ESCAPES), text)


def _explain(text: str, error: json.JSONDecodeError) -> Defect:
    """Return the defect of an error, with the error's own message, as LangChain shows it."""
    if not error.doc:
        return Defect("empty", str(error), 0, 1, 1)
    # The parsed text is the end of the whole text without its white space and back-ticks.
    defect = diagnose(text, error.doc, max(text.rfind(error.doc), 0), error)
    return msgspec.structs.replace(defect, reason=str(error))


def _read(text: str, *, strict: bool = True) -> Any:
    """Parse a text that may contain NaN; raise json.JSONDecodeError if it is not JSON."""
    try:
        return decode(text)
    except DECODE_ERRORS:
        value = decode_as_python(text, strict=strict)
    return find_extension(text, nan=True) or value


def _complete(text: str) -> Any:
    """Parse a JSON text whose end may be missing; raise json.JSONDecodeError if it cannot be.

    The brackets that the whole text leaves open are closed after its longest beginning that is
    JSON with them. LangChain's `parse_partial_json` finds the same one by trying every beginning.
    A stray closing bracket gives None, as it does there.
    """
    try:
        return _read(text, strict=False)
    except json.JSONDecodeError as error:
        first = error.msg, error.doc, error.pos  # the error itself would be a circle, see `parse`
    brackets: list[str] = []
    for token in STRUCTURE.finditer(text):
        mark = token[0][0]
        if mark == '"':
            if token[1] is None:  # the string is not closed
                text = text[: token.end()] + '"'
        elif mark in _CLOSING:
            brackets.append(_CLOSING[mark])
        elif not brackets or brackets.pop() != mark:
            return None
    closing = "".join(reversed(brackets))
    try:
        return _read(text + closing, strict=False)
    except json.JSONDecodeError as error:
        end = _longest_beginning(text[: error.pos], brackets)
    if end < 0:
        raise json.JSONDecodeError(*first)
    return _read(text[:end] + closing, strict=False)


def _longest_beginning(text: str, brackets: list[str]) -> int:
    """Return the last place where a value ends and exactly these brackets are open, or -1.

    The text is the beginning of a JSON text, and brackets are written as they will be closed.
    """
    opened: list[str] = []
    agree = 0  # how many open brackets, from the outermost, are the ones in `brackets`
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
