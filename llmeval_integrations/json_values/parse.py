"""Parse a text, or read a Python value, as JSON, or return the defect that says why it is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import Any, Final, Literal, TypeAlias

import msgspec

from llmeval_integrations.core.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_DIGITS
from llmeval_integrations.json_values.defects import DEFECTS, Defect, locate
from llmeval_integrations.json_values.diagnosis import diagnose, python_error
from llmeval_integrations.json_values.lenient import parse_lenient
from llmeval_integrations.json_values.search import (
    SAFE_LENGTH,
    find_duplicate_key,
    find_extension,
    find_limit,
    too_deep,
    too_large,
)
from llmeval_integrations.json_values.values import (
    DECODE_ERRORS,
    SCALARS,
    copy_plain,
    decode,
    decode_as_python,
    decode_small,
    measure,
    pointer,
    read_number,
)

Parsing = Literal["strict", "markdown", "lenient"]
"""How much a text may differ from plain JSON.

`strict`: the whole text is one RFC 8259 JSON text without duplicate keys.
`markdown`: one RFC 8259 text, which white space, back-ticks or one Markdown fence may surround.
`lenient`: what LangChain's `parse_json_markdown` accepts. Truncated text is completed, text
around a fence is skipped, NaN and Infinity are numbers, and a stray closing bracket reads as null.
"""

_SPACE: Final = " \t\n\r"
_STYLE: Final = 40
"""The characters of a text that show how it is formatted."""
_WRAPPING: Final = frozenset(_SPACE + "`~")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(?:[\w+.:/-]*[ \t]*\r?\n|(?i:json))?")
_WRAPPED_JSON = re.compile(r"[ \t\n\r]*(?:```|~~~|`+[ \t\n\r]*[\[{\"0-9-])")

_Path: TypeAlias = tuple[str | int, ...]

_LARGEST: Final = 10**MAX_DIGITS
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
        return parse(text) if len(text) <= SAFE_LENGTH else _parse_wrapped(text)
    return _parse_strict(text) if parsing == "strict" else parse_lenient(text, complete=complete)


def check(text: Any, parsing: Parsing = "markdown") -> Defect | None:
    """Return why a text is not JSON, or None if it is; three times as fast as `parse`.

    In lenient mode, truncated text is *not* completed here: almost any text would be valid.
    """
    if parsing != "markdown" or type(text) is not str or len(text) > SAFE_LENGTH:
        return invalidity(parse(text, parsing, complete=False))
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


def is_same_text(one: str, other: str, parsing: Parsing) -> bool:
    """Return whether two texts are surely the same JSON text, apart from white space.

    If so, their values are equal, and this takes half the time of parsing both. If not, their
    values may still be equal. No value is built, so depth and numbers are not checked.
    """
    if parsing == "lenient":
        return False  # lenient texts may contain NaN, which is not equal to itself
    if one == other:
        return check(one, parsing) is None
    if parsing == "strict" or len(one) > SAFE_LENGTH:  # a key may be there twice
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


# --- values that are already parsed ---------------------------------------------------------------


def copy_value(value: Any, *, finite: bool) -> Any:
    """Return a value as if it was parsed from its JSON text, or a Defect if it is not JSON.

    Pydantic models are dumped. With `finite`, NaN and Infinity are defects.
    """
    copy = copy_plain(value)
    if copy is not None:
        return copy
    limit = measure(value).limit
    if limit is None:
        try:
            copy = _copy(value, (), finite=finite)
        except _NotJsonError as error:
            return error.defect
        limit = measure(copy).limit  # the parts of models were not measured before
    return Defect(limit, DEFECTS[limit].capitalize()) if limit else copy


class _NotJsonError(Exception):
    """A part of a value is not JSON."""

    def __init__(self, name: str, problem: str, path: _Path) -> None:
        super().__init__(problem)
        is_json = name == "number_out_of_range"
        self.defect = Defect(name, f"{problem} at {pointer(path) or 'the root'}", is_json=is_json)


def _copy(value: Any, path: _Path, *, finite: bool) -> Any:
    """Copy a value part by part, to locate a part that is not JSON."""
    if value is None or type(value) is bool:
        return value
    if isinstance(value, str):
        return _copy_text(value, path)
    if isinstance(value, (int, float, Decimal)):
        return _copy_number(value, path, finite=finite)
    if len(path) > MAX_DEPTH:
        raise _NotJsonError("too_deep", DEFECTS["too_deep"].capitalize(), path)
    if isinstance(value, (list, tuple)):
        return [_copy(item, (*path, n), finite=finite) for n, item in enumerate(value)]
    if isinstance(value, dict):
        copy = {}
        for key, part in value.items():
            inside = (*path, str(key))
            if not isinstance(key, str):
                raise _NotJsonError("not_json", f"the key {key!r:.80} is not text", inside)
            copy[_copy_text(key, inside)] = _copy(part, inside, finite=finite)
        return copy
    problem = f"{type(value).__name__} is not a JSON value"
    if not hasattr(type(value), "model_dump"):
        raise _NotJsonError("not_json", problem, path)
    try:
        dumped = dump_model(value)
    except Exception as error:
        raise _NotJsonError("not_json", f"{problem}: {error}", path) from error
    return _copy(dumped, path, finite=finite)


def _copy_number(value: float | Decimal, path: _Path, *, finite: bool) -> int | float:
    number: int | float | None
    if isinstance(value, int):
        number = int(value) if -_LARGEST < value < _LARGEST else None
    elif isinstance(value, float) and (isfinite(value) or not finite):
        number = float(value)
    elif isinstance(value, Decimal) and value.is_finite():
        number = read_number(str(value))
    else:
        raise _NotJsonError("nan_or_infinity", f"{value!r} is not JSON", path)
    if number is None:
        raise _NotJsonError("number_out_of_range", "Number out of range", path)
    return number


def _copy_text(value: str, path: _Path) -> str:
    text = str.__str__(value)  # an enum or another subclass may have its own `__str__`
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _NotJsonError("lone_surrogate", "Lone surrogate", path) from None
    return text


def dump_model(model: Any) -> Any:
    """Return the dump of a Pydantic model, or of an object like one.

    Fields have their aliases, as in the model's schema. Computed fields are left out, since they
    are not in that schema.
    """
    try:
        return model.model_dump(mode="json", round_trip=True, by_alias=True)
    except TypeError:  # an object like a Pydantic model may lack these options
        return model.model_dump(mode="json")


def as_python(value: Any) -> Any:
    """Replace the arrays and numbers of NumPy and the like by Python's lists and numbers.

    A value that is too deep, or whose library fails, is returned unchanged.
    """
    if type(value) in SCALARS:
        return value
    try:
        return value if measure(value).limit else _as_python(value)
    except Exception:  # noqa: BLE001 - an array's own code may raise anything
        return value


def _as_python(value: Any) -> Any:
    if hasattr(type(value), "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _as_python(item) for key, item in value.items()}
    return [_as_python(item) for item in value] if type(value) in (list, tuple) else value
