"""Text to JSON value, or to the defect that keeps it from being one. Pure functions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_DIGITS
from llmeval_integrations.json_values import defects
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.numbers import NumberRangeError, exact_float, exact_int
from llmeval_integrations.json_values.partial import complete
from llmeval_integrations.json_values.plain import plain
from llmeval_integrations.json_values.python_error import python_error
from llmeval_integrations.json_values.size import (
    LARGE,
    SHORT,
    deepest,
    is_too_deep,
    may_have_long_integer,
    measure,
)

Parsing = Literal["strict", "markdown", "lenient"]
"""How much a text may differ from plain JSON.

`strict`: the whole text is one RFC 8259 JSON text without duplicate keys.
`markdown`: one RFC 8259 text, which may stand in white space, back-ticks or one Markdown fence.
`lenient`: what LangChain's `parse_json_markdown` accepts: truncated text is completed, text
around a fence is skipped, NaN and Infinity are numbers, and a stray closing bracket reads as null.
"""

PARSINGS: Final[tuple[str, ...]] = get_args(Parsing)

_WHITE_SPACE = " \t\n\r"
_LENIENT_STRIP = " \n\r\t`"
_WRAPPING = frozenset(" \t\n\r`~")
# What follows a fence on its line is no info string where it is, or holds, the JSON itself;
# several words are none either where nothing but the closing fence follows.
_ATTRIBUTES = r"\{[ \t]*[\w.#=-][^`\n:]*\}[ \t]*"
_WORDS = (
    r"(?!(?i:json)?[ \t]*(?:[\"0-9-]|(?:true|false|null)\b))"
    rf"[^`\n{{\[]*(?:{_ATTRIBUTES})?"
)
_INFO = rf"[\w+.-]*[ \t]*\r?\n|{_WORDS}\r?\n(?![ \t\n\r]*\1[`~]*\Z)"
_FENCE = re.compile(rf"(`{{3,}}|~{{3,}})[ \t]*({_INFO})?")
_WRAPPED_JSON = re.compile(r"[ \t\n\r]*(?:```|~~~|`+[ \t\n\r]*[\[{\"0-9-])")

_compact: Callable[[str], str] = partial(msgspec.json.format, indent=-1)
_write = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_validate = msgspec.json.Decoder(msgspec.Raw).decode


class ConstantError(Exception):
    """NaN or Infinity was met."""


class DuplicateKeyError(Exception):
    """An object has a key twice."""


def _refuse_constant(name: str) -> Any:
    raise ConstantError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise DuplicateKeyError
    return members


_find_error = json.JSONDecoder(parse_int=str).decode
_find_raw_error = json.JSONDecoder(parse_int=str, strict=False).decode
_exact = partial(json.JSONDecoder, parse_float=exact_float, parse_int=exact_int)
_decode_exactly = _exact(parse_constant=_refuse_constant).decode
_decode_unique = _exact(object_pairs_hook=_unique).decode
_decode_as_python = _exact().decode
_decode_raw = _exact(strict=False).decode


def parse(text: Any, parsing: Parsing = "markdown") -> Any:
    """Return the JSON value of a text, or a Defect that says why it has none.

    A value that is already parsed is copied, once it is known to be JSON: tuples become lists,
    Pydantic models what they dump. Bytes are read as UTF-8. Integers are exact, fractions doubles;
    what exceeds the limits of `core.limits` is a Defect, too.
    """
    if parsing == "markdown" and type(text) is str:
        return _parse_markdown(text)
    return _parse(text, parsing, _complete)


SAME: Final = object()
"""What `parse_unless_same` gives for the same text."""


def parse_unless_same(text: Any, other: Any, parsing: Parsing = "markdown") -> Any:
    """Do what `parse` does, but give SAME where both are one JSON text, white space aside.

    Then their values are equal, which costs half of what two values cost: nothing needs them, so
    numbers are not looked at. In lenient mode NaN is not equal to itself.
    """
    if type(text) is not str or type(other) is not str or parsing == "lenient":
        return parse(text, parsing)
    if is_too_deep(text):
        return parse(text, parsing)
    if text == other:
        return check(text, parsing) or SAME
    if parsing == "strict" or len(text) > LARGE:  # strict: the same name may come twice
        return parse(text, parsing)
    try:
        compact = _compact(text)
    except (ValueError, RecursionError) as error:
        return _parse_wrapped(text, str(error))
    try:
        return SAME if compact == _compact(other) else _parse_markdown(text)
    except (ValueError, RecursionError):
        return _parse_markdown(text)


def is_written(value: Any, text: str) -> bool:
    """Whether a text is how the encoder writes a value that was read, white space aside.

    Then the text reads as an equal value; nothing is known where it is not.
    """
    try:
        return _write(value).decode() == _compact(text)
    except (ValueError, OverflowError, RecursionError):
        return False


def check(text: Any, parsing: Parsing = "markdown") -> Defect | None:
    """Say why a text is not JSON, or None where it is; three times cheaper than `parse`.

    In lenient mode truncated text is *not* completed here: it would make any text valid.
    """
    if parsing != "markdown" or type(text) is not str:
        return invalid(_parse(text, parsing, _read_as_python))
    if len(text) > LARGE:
        return invalid(_parse_markdown(text))
    try:
        _validate(text)
    except (ValueError, RecursionError) as error:
        return invalid(_parse_wrapped(text, str(error)))
    return None


def invalid(value: Any) -> Defect | None:
    """Return what `parse` gave if it says that a text is not JSON.

    A text may be JSON all the same, and only too deep for us, or have a number that is too large.
    """
    return value if type(value) is Defect and not value.is_json else None


def _parse(text: Any, parsing: Parsing, read: Callable[[str], Any]) -> Any:
    """Read in any mode; `read` is what lenient mode reads plain JSON with."""
    if not isinstance(text, (str, bytes, bytearray)):
        return plain(text, finite=parsing != "lenient")
    try:
        text = str.__str__(text) if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        return defects.encoding(error)
    if parsing == "markdown":
        return _parse_markdown(text)
    if len(text) > MAX_CHARACTERS:
        return defects.too_large()
    return _parse_strict(text) if parsing == "strict" else _parse_lenient(text, read)


def _read_fast(text: str) -> Any:
    """Read with the fast parser, which takes longer integers than we do."""
    value = _decode(text)
    if len(text) > MAX_DIGITS and may_have_long_integer(text):
        _decode_as_python(text)  # which raises NumberRangeError
    return value


def _find_limit(text: str, start: int, body: str, value: Any) -> Defect | None:
    """Say which limit a text exceeds that was read from `body`, which begins at `start`."""
    if len(body) <= SHORT:
        return None
    if is_too_deep(body):
        return defects.too_deep(text, start)
    if len(body) > LARGE and measure(value) == "too_large":
        return defects.too_large()
    return None


def _refuse_depth(text: str, start: int) -> Defect:
    """Say that a text is too deep for the parser; where it is not, its caller left no stack."""
    if deepest(text, start)[0] <= MAX_DEPTH:
        raise RecursionError("no room on the stack to read JSON")
    return defects.too_deep(text, start, is_json=False)


# --- plain JSON, and JSON in a wrapper ----------------------------------------------------------


def _parse_markdown(text: str) -> Any:
    """Read one JSON text, which may stand in white space, back-ticks or one fence."""
    if len(text) > MAX_CHARACTERS:
        return defects.too_large()
    try:
        value = _read_fast(text)
    except (ValueError, RecursionError) as error:
        return _parse_wrapped(text, str(error))
    return value if len(text) <= SHORT else _find_limit(text, 0, text, value) or value


def _parse_wrapped(text: str, said: str) -> Any:
    """Read a text that the fast parser refused with these words: unwrap it, or explain it."""
    start, end = (
        _unwrap(text) if text[:1] in _WRAPPING or text[-1:] in _WRAPPING else (0, len(text))
    )
    body = text
    if start or end < len(text):
        body = text[start:end].strip(_WHITE_SPACE)
        try:
            value = _read_fast(body)
        except (ValueError, RecursionError) as error:
            said = str(error)
        else:
            return _find_limit(text, start, body, value) or value
    known = python_error(body, said) if body else None
    if known is not None:
        return defects.explain(text, body, text.index(body, start), known)
    return _parse_slowly(text, start, len(text[:end].rstrip(_WHITE_SPACE)))


def _unwrap(text: str) -> tuple[int, int]:
    """Find what stands inside white space, back-ticks or one Markdown fence.

    The closing fence is the last one of the text, since a JSON string may hold back-ticks.
    A fence that is never closed ends with the text, as in CommonMark.
    """
    end = len(text.rstrip(_WHITE_SPACE))
    start = len(text) - len(text.lstrip(_WHITE_SPACE))
    opening = _FENCE.match(text, start, end)
    if opening:
        fence = opening[1]
        start = opening.end()
        if opening[2] is None and text[start : start + 4].lower() == "json":
            start += 4  # ```json {...}``` on one line
        if text.endswith(fence, start, end):
            end = start + len(text[start:end].rstrip(fence[0]))
    elif text.startswith("`", start, end):
        inside = text[start:end].rstrip("`")
        if len(inside) < end - start:
            end = start + len(inside)
            start += 2 if text.startswith("``", start) else 1
    elif text.endswith("```", start, end):  # whose opening stood at the end of the prompt
        end = start + len(text[start:end].rstrip("`"))
    return start, max(start, end)


def _parse_slowly(text: str, start: int, end: int) -> Any:
    """Read with Python's own parser, which is slower and explains."""
    part = text[start:end]
    body = part.lstrip(_WHITE_SPACE)
    start += len(part) - len(body)
    if not body:
        return defects.empty(text, start)
    try:
        if not text[:start].isspace():  # behind white space Python has other words for it
            _refuse_byte_order_mark(body)
        _find_error(body)
        value = _decode_exactly(body)
    except json.JSONDecodeError as error:
        return defects.explain(text, body, start, error)
    except RecursionError:
        return _refuse_depth(text, start)
    except ConstantError:
        return defects.find_constant(text, body, start)
    except NumberRangeError:
        value = defects.find_constant(text, body, start) or defects.find_number(text, body, start)
    surrogate = defects.find_lone_surrogate(text, body, start)
    return surrogate or _find_limit(text, start, body, value) or value


def _parse_strict(text: str) -> Any:
    """Read the whole text as one JSON text in which no object has a name twice."""
    try:
        _validate(text)
        value = _decode_unique(text)
    except DuplicateKeyError:
        return defects.find_duplicate_key(text)
    except (ValueError, RecursionError):
        if _WRAPPED_JSON.match(text):
            return defects.fenced(text)
        value = _parse_slowly(text, 0, len(text))
        return invalid(value) or defects.find_duplicate_key(text) or value
    return _find_limit(text, 0, text, value) or value


# --- lenient mode -------------------------------------------------------------------------------


def _complete(text: str) -> Any:
    """Read a text that may be truncated, with raw control characters in its strings."""
    return complete(text, _read_raw)


def _read_raw(text: str) -> Any:
    try:
        return _read_fast(text)
    except (ValueError, RecursionError):
        return _read_or_explain(text, _decode_raw, _find_raw_error)


def _read_as_python(text: str) -> Any:
    """Read what `json.loads` reads: NaN and Infinity, the last of equal names."""
    return _read_or_explain(text, _decode_as_python, _find_error)


def _read_or_explain(
    text: str, decode: Callable[[str], Any], find_error: Callable[[str], Any]
) -> Any:
    _refuse_byte_order_mark(text)
    try:
        value = decode(text)
    except NumberRangeError:  # behind which nothing was looked at
        find_error(text)
        raise
    _write(value)  # which raises UnicodeEncodeError
    return value


def _refuse_byte_order_mark(text: str) -> None:
    """Raise the JSONDecodeError that `json.loads` raises where a text begins with one."""
    if text.startswith("\ufeff"):
        message = "Unexpected UTF-8 BOM (decode using utf-8-sig)"
        raise json.JSONDecodeError(message, text, 0)


def _parse_lenient(text: str, read: Callable[[str], Any]) -> Any:
    """Read as LangChain's `parse_json_markdown` does, in linear time and within our limits."""
    try:
        value, body = _read_markdown(text, read)
    except json.JSONDecodeError as error:
        if not error.doc:
            return msgspec.structs.replace(defects.empty(text, 0), reason=str(error))
        # What was read is the end of the text, but for white space and back-ticks.
        start = max(text.rfind(error.doc), 0)
        defect = defects.explain(text, error.doc, start, error)
        return msgspec.structs.replace(defect, reason=str(error))
    except NumberRangeError:
        return defects.find_number(text, text, 0)
    except UnicodeEncodeError:
        return defects.find_lone_surrogate(text, text, 0) or Defect("lone_surrogate", "")
    except RecursionError:
        return _refuse_depth(text, 0)
    if len(body) <= MAX_DEPTH:
        return value
    # A text that was completed is as deep as its value, whatever its open quotes hide.
    if body.count("[") + body.count("{") > MAX_DEPTH and measure(value) == "too_deep":
        return defects.too_deep(text, 0)
    if len(body) > LARGE and measure(value) == "too_large":
        return defects.too_large()
    return value


def _read_markdown(text: str, read: Callable[[str], Any]) -> tuple[Any, str]:
    """Try the text, then what follows its first fence; give the value and what it was read from.

    Raises json.JSONDecodeError.
    """
    body = _as_action_input(text.strip(_LENIENT_STRIP))
    try:
        return read(body), body
    except json.JSONDecodeError:
        fence = text.find("```")
        if fence < 0:
            raise
    behind = text[fence + 3 :].removeprefix("json")
    body = _as_action_input(behind.strip(_LENIENT_STRIP))
    return read(body), body


_ACTION_INPUT = re.compile(r'("action_input":\s*")([^"]*)(?=")')
_ESCAPES = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _as_action_input(text: str) -> str:
    """Escape the raw line breaks in the value of "action_input", as LangChain's agents need it."""
    if '"action_input"' not in text:
        return text
    return _ACTION_INPUT.sub(lambda found: found[1] + found[2].translate(_ESCAPES), text)
