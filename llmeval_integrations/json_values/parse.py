"""Text to JSON value, or to the defect that keeps it from being one. Pure functions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import InvalidOperation
from functools import partial
from typing import Any, Final, Literal, get_args

import msgspec

from llmeval_integrations.core.fresh_stack import has_fresh_stack, on_fresh_stack
from llmeval_integrations.json_values import defects as json_defects
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.depth import SHORT, is_too_deep
from llmeval_integrations.json_values.loads import (
    ConstantError,
    DuplicateKeyError,
    complete_raw,
    loads,
    loads_as_python,
    loads_unique,
    refuse_byte_order_mark,
)
from llmeval_integrations.json_values.plain import plain, plain_both
from llmeval_integrations.json_values.python_error import python_error

Parsing = Literal["strict", "markdown", "lenient"]
"""How much a text may differ from plain JSON.

`strict`: the whole text is one RFC 8259 JSON text without duplicate keys.
`markdown`: one RFC 8259 text, which may stand in white space, back-ticks or one Markdown fence.
`lenient`: what LangChain's `parse_json_markdown` accepts: truncated text is completed, text
around a fence is skipped, NaN and Infinity are numbers, and a stray closing bracket reads as null.
"""

PARSINGS: Final[tuple[str, ...]] = get_args(Parsing)

_TEXTS = (str, bytes, bytearray)
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
_write = msgspec.json.Encoder(decimal_format="number").encode
_decode = msgspec.json.Decoder().decode
_validate = msgspec.json.Decoder(msgspec.Raw).decode


def parse(text: Any, parsing: Parsing = "markdown") -> Any:
    """Return the JSON value of a text, or a Defect that says why it has none.

    Nesting may be 900 levels deep.
    A value that is already parsed is given back, once it is known to be JSON: tuples
    become lists, Pydantic models what they dump. Bytes are read as UTF-8.
    Integers are exact at any size; a number too large for a float, or an integer of more
    than 4,300 digits, is a Decimal.
    """
    if parsing != "markdown" or type(text) is not str:
        return _parse(text, parsing, complete_raw)
    try:
        value = _decode(text)
    except (ValueError, RecursionError) as error:
        return _parse_wrapped(text, str(error))
    if len(text) > SHORT and is_too_deep(text):
        return json_defects.too_deep(text, 0)
    return value


def parse_both(text: Any, other: Any, parsing: Parsing = "markdown") -> tuple[Any, Any]:
    """Do what `parse` does with two; give one value twice where both are written alike.

    Then whoever compares the values, and does not change them, knows at once that they are the
    same. An object or array that is given twice has no NaN in it: of texts in lenient mode, which
    may say NaN, none is.
    """
    finite = parsing != "lenient"
    if type(text) is str:
        if finite and type(other) is str and text == other:
            value = parse(text, parsing)
            return value, value
    elif not isinstance(text, _TEXTS) and not isinstance(other, _TEXTS):
        return plain_both(text, other, finite=finite)
    return parse(text, parsing), parse(other, parsing)


SAME: Final = object()
"""What `parse_unless_same` gives for the same text."""


def parse_unless_same(text: Any, other: Any, parsing: Parsing = "markdown") -> Any:
    """Do what `parse` does, but give SAME where both are one JSON text, white space aside.

    Then their values are equal, and this is known for half of what two values cost. In lenient
    mode it is never said: NaN is a number there that is not equal to itself.
    """
    if type(text) is not str or type(other) is not str or parsing == "lenient":
        return parse(text, parsing)
    if text == other:
        return check(text, parsing) or SAME
    if parsing == "strict":  # where the same name may come twice
        return parse(text, parsing)
    try:
        compact = _compact(text)
    except (ValueError, RecursionError) as error:
        return _parse_wrapped(text, str(error))
    try:
        same = compact == _compact(other)
    except (ValueError, RecursionError):
        same = False
    if same and not (len(compact) > SHORT and is_too_deep(compact)):
        return SAME
    return parse(text)


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
        return invalid(_parse(text, parsing, loads_as_python))
    try:
        _validate(text)
    except (ValueError, RecursionError) as error:
        return invalid(_parse_wrapped(text, str(error)))
    if len(text) > SHORT and is_too_deep(text):
        return json_defects.too_deep(text, 0)
    return None


def invalid(value: Any) -> Defect | None:
    """Return what `parse` gave if it says that a text is not JSON.

    A number that is beyond all bounds can be written as JSON, and not be read.
    """
    return value if type(value) is Defect and value.name != json_defects.OUT_OF_RANGE else None


# --- the modes ---------------------------------------------------------------------------------


def _parse(text: Any, parsing: Parsing, read: Callable[[str], Any]) -> Any:
    """Read in any mode; `read` is what lenient mode reads plain JSON with."""
    if type(text) is not str:
        if not isinstance(text, _TEXTS):
            return plain(text, finite=parsing != "lenient")
        try:
            text = str.__str__(text) if isinstance(text, str) else text.decode()
        except UnicodeDecodeError as error:
            return json_defects.encoding(error)
    if parsing == "lenient":
        return _parse_lenient(text, read)
    return _parse_strict(text) if parsing == "strict" else parse(text)


def _parse_wrapped(text: str, said: str) -> Any:
    """Read a text that the fast parser refused with these words: unwrap it, or explain it."""
    start, end = (
        _unwrap(text) if text[:1] in _WRAPPING or text[-1:] in _WRAPPING else (0, len(text))
    )
    body = text
    if start or end < len(text):
        body = text[start:end].strip(_WHITE_SPACE)
        try:
            value = _decode(body)
        except (ValueError, RecursionError) as error:
            said = str(error)
        else:
            if len(body) > SHORT and is_too_deep(body):
                return json_defects.too_deep(text, start)
            return value
    known = python_error(body, said) if body else None
    if known is not None:
        return json_defects.explain(text, body, text.index(body, start), known)
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
    """Read with Python's own parser, which is slower, exact on every number, and explains."""
    part = text[start:end]
    body = part.lstrip(_WHITE_SPACE)
    start += len(part) - len(body)
    if not body:
        return json_defects.empty(text, start)
    try:
        if not text[:start].isspace():  # behind white space Python has other words for it
            refuse_byte_order_mark(body)
        value = loads(body)
    except json.JSONDecodeError as error:
        return json_defects.explain(text, body, start, error)
    except RecursionError:
        if has_fresh_stack():
            return json_defects.too_deep(text, start)
        return on_fresh_stack(_parse_slowly, text, start, end)
    except ConstantError:
        return json_defects.find_constant(text, body, start)
    except InvalidOperation:
        value = json_defects.find_constant(text, body, start) or json_defects.find_number(
            text, body, start
        )
    if len(body) > SHORT and is_too_deep(body):
        return json_defects.too_deep(text, start)
    return json_defects.find_lone_surrogate(text, body, start) or value


def _parse_strict(text: str) -> Any:
    """Read the whole text as one JSON text in which no object has a name twice."""
    try:
        _validate(text)
        value = loads_unique(text)
    except DuplicateKeyError:
        return json_defects.find_duplicate_key(text)
    except (ValueError, ArithmeticError, RecursionError):
        if _WRAPPED_JSON.match(text):
            return json_defects.fenced(text)
        value = _parse_slowly(text, 0, len(text))
        return invalid(value) or json_defects.find_duplicate_key(text) or value
    if len(text) > SHORT and is_too_deep(text):
        return json_defects.too_deep(text, 0)
    return value


def _parse_lenient(text: str, read: Callable[[str], Any]) -> Any:
    """Read as LangChain's `parse_json_markdown` does, in linear time.

    Numbers stay exact and nesting bounded, which there they are not.
    """
    try:
        value, body = _read_markdown(text, read)
    except json.JSONDecodeError as error:
        if not error.doc:
            return msgspec.structs.replace(json_defects.empty(text, 0), reason=str(error))
        # What was read is the end of the text, but for white space and back-ticks.
        start = max(text.rfind(error.doc), 0)
        defect = json_defects.explain(text, error.doc, start, error)
        return msgspec.structs.replace(defect, reason=str(error))
    except InvalidOperation:
        return json_defects.find_number(text, text, 0)
    except RecursionError:
        if has_fresh_stack():
            return json_defects.too_deep(text, 0)
        return on_fresh_stack(_parse_lenient, text, read)
    # A quote in the prose before it would hide its brackets.
    if len(body) > SHORT and is_too_deep(body):
        return json_defects.check_value(value, finite=False) or value
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
