"""Parse a text into a JSON value, or into the defect that says why it is not JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.limits import MAX_CHARACTERS
from llmeval_integrations.json_values.defects import Defect, locate
from llmeval_integrations.json_values.diagnosis import diagnose
from llmeval_integrations.json_values.lenient import parse_lenient
from llmeval_integrations.json_values.limits import SAFE_LENGTH, find_limit, too_deep, too_large
from llmeval_integrations.json_values.numbers import (
    DECODE_ERRORS,
    decode,
    decode_as_python,
    decode_small,
)
from llmeval_integrations.json_values.python_error import python_error
from llmeval_integrations.json_values.python_values import copy_value
from llmeval_integrations.json_values.search import find_duplicate_key, find_extension

Parsing = Literal["strict", "markdown", "lenient"]
"""How much a text may differ from plain JSON.

`strict`: the whole text is one RFC 8259 JSON text without duplicate keys.
`markdown`: one RFC 8259 text, which white space, back-ticks or one Markdown fence may surround.
`lenient`: what LangChain's `parse_json_markdown` accepts. Truncated text is completed, text
around a fence is skipped, NaN and Infinity are numbers, and a stray closing bracket reads as null.
"""

PARSINGS: Final[tuple[str, ...]] = get_args(Parsing)

_SPACE: Final = " \t\n\r"
_STYLE: Final = 40
"""The characters of a text that show how it is formatted."""
_WRAPPING: Final = frozenset(_SPACE + "`~")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(?:[\w+.:/-]*[ \t]*\r?\n|(?i:json))?")
_WRAPPED_JSON = re.compile(r"[ \t\n\r]*(?:```|~~~|`+[ \t\n\r]*[\[{\"0-9-])")

_validate = msgspec.json.Decoder(msgspec.Raw).decode  # builds no value
_compact: Callable[[str], str] = partial(msgspec.json.format, indent=-1)


def parse(text: Any, parsing: Parsing = "markdown", *, complete: bool = True) -> Any:
    """Return the JSON value of a text, or a Defect that says why it has none.

    Bytes are read as UTF-8. A value that is already parsed is checked and copied: tuples become
    lists, and Pydantic models are dumped. Integers are exact, and fractions are doubles. A value
    beyond the limits of `core.limits` is a Defect, too. In lenient mode, truncated text is
    completed, unless `complete` is False.
    """
    if type(text) is str and parsing == "markdown" and len(text) <= SAFE_LENGTH:
        try:
            return decode_small(text)
        except DECODE_ERRORS as error:
            return _parse_wrapped(text, error)
    if not isinstance(text, (str, bytes, bytearray)):
        return copy_value(text, finite=parsing != "lenient")
    try:
        text = str.__str__(text) if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        return Defect("encoding", str(error), error.start)
    if len(text) > MAX_CHARACTERS:
        return too_large()
    if parsing == "markdown":
        return _parse_wrapped(text)
    return _parse_strict(text) if parsing == "strict" else parse_lenient(text, complete=complete)


def check(text: Any, parsing: Parsing = "markdown") -> Defect | None:
    """Return why a text is not JSON, or None if it is; three times as fast as `parse`.

    In lenient mode, truncated text is *not* completed here: almost any text would be valid.
    """
    if parsing != "markdown" or type(text) is not str:
        return invalidity(parse(text, parsing, complete=False))
    if len(text) > SAFE_LENGTH:
        return invalidity(parse(text))
    try:
        _validate(text)
    except DECODE_ERRORS as error:
        return invalidity(_parse_wrapped(text, error))
    return None


def invalidity(value: Any) -> Defect | None:
    """Return the result of `parse` if it is a Defect of a text that is not JSON, else None.

    Some defects are only limits of ours: the text is JSON, but too deep or with too large a number.
    """
    return value if type(value) is Defect and not value.is_json else None


def is_same_text(one: Any, other: Any, parsing: Parsing = "markdown") -> bool:
    """Return whether two texts are surely the same JSON text, apart from white space.

    If so, their values are equal, and this takes half the time of parsing both. If not, their
    values may still be equal. No value is built, so its depth and its numbers are not checked.
    """
    if type(one) is not str or type(other) is not str or parsing == "lenient":
        return False  # lenient texts may contain NaN, which is not equal to itself
    if one == other:
        return check(one, parsing) is None
    if parsing == "strict" or len(one) > SAFE_LENGTH:  # strict: a key may be there twice
        return False
    if one[:_STYLE] == other[:_STYLE]:  # with the same white space, they probably differ elsewhere
        return False
    if one.rstrip()[-1:] != other.rstrip()[-1:]:  # for example, one text is truncated
        return False
    try:
        return _compact(one) == _compact(other)
    except DECODE_ERRORS:
        return False


def _parse_strict(text: str) -> Any:
    """Parse the whole text as one JSON text in which no object has the same key twice."""
    try:
        value = decode(text)
        value = find_limit(text, value) or value
    except DECODE_ERRORS:
        if _WRAPPED_JSON.match(text):
            start = len(text) - len(text.lstrip(_SPACE))
            return locate(text, "code_fence", "Expecting value", start)
        value = _explain(text, 0, len(text))
    return invalidity(value) or find_duplicate_key(text) or value


def _parse_wrapped(text: str, error: Exception | None = None) -> Any:
    """Unwrap and parse a text that is large, or that msgspec refused with this error."""
    start, end = 0, len(text)
    if text[:1] in _WRAPPING or text[-1:] in _WRAPPING:
        start, end = _unwrap(text)
    # Only the message is kept: an error in a variable of the frame that caught it is a circle. It
    # would keep the frames of all callers, with their rows, until the garbage collector runs.
    body, message = text[start:end], str(error)
    if body is not text or type(error) is not msgspec.DecodeError:
        try:
            value = decode(body)
        except DECODE_ERRORS as inner:
            message = str(inner)
        else:
            return find_limit(text, value, start) or value
    known = python_error(body, message) if body else None
    return diagnose(text, body, start, known) if known else _explain(text, start, end)


def _unwrap(text: str) -> tuple[int, int]:
    """Return start and end of the text inside white space, back-ticks or one Markdown fence.

    The closing fence is the last one of the text, since a JSON string may contain back-ticks.
    A fence that is never closed ends with the text, as in CommonMark.
    """
    end = len(text.rstrip(_SPACE))
    start = len(text) - len(text.lstrip(_SPACE))
    opening = _FENCE.match(text, start, end)
    if opening:
        fence = opening[1]
        start = opening.end()
        if text.endswith(fence, start, end):
            end = start + len(text[start:end].rstrip(fence[0]))
    elif text.startswith("`", start, end):
        inside = text[start:end].rstrip("`")
        if len(inside) < end - start:
            end = start + len(inside)
            start += 2 if text.startswith("``", start) else 1
    elif text.endswith("```", start, end):  # the prompt ended with the opening fence
        end = start + len(text[start:end].rstrip("`"))
    body = text[start:end].rstrip(_SPACE)
    return start + len(body) - len(body.lstrip(_SPACE)), start + len(body)


def _explain(text: str, start: int, end: int) -> Any:
    """Parse with Python's own parser a text that msgspec refused: return its value or defect."""
    body = text[start:end].lstrip(_SPACE)
    start = end - len(body)
    if not body:
        return locate(text, "empty", "Expecting value", start)
    try:
        value = decode_as_python(body)
    except json.JSONDecodeError as error:
        return diagnose(text, body, start, error)
    except RecursionError:
        return too_deep(text, start, is_json=False)
    return find_extension(text, start) or find_limit(text, value, start) or value
