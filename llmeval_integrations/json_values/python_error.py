"""What Python's parser says of a text that the fast parser refused, mostly without asking it."""

from __future__ import annotations

import json
import re
import sys
from typing import Final

_COMMA: Final = "Expecting ',' delimiter"
_NAME: Final = "Expecting property name enclosed in double quotes"
_VALUE: Final = "Expecting value"
_ILLEGAL: Final = "Illegal trailing comma before end of"

_SAME_PLACE: Final = {
    "expected ',' or '}'": _COMMA,
    "expected ',' or ']'": _COMMA,
    "expected ':'": "Expecting ':' delimiter",
    "expected '\"'": _NAME,
    "object keys must be strings": _NAME,
}
"""Errors at which both parsers stop at the same place."""

_SINCE_3_13: Final = sys.version_info >= (3, 13)
_TRAILING: Final = {
    "trailing comma in object": f"{_ILLEGAL} object" if _SINCE_3_13 else _NAME,
    "trailing comma in array": f"{_ILLEGAL} array" if _SINCE_3_13 else _VALUE,
}
"""Up to 3.12 Python says this of the bracket, since 3.13 of the comma."""

_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte ([0-9]+)\)")
_VALUE_STARTS = frozenset('"{[-0123456789tfnNI\ufeff')  # the last has words of its own
_LITERAL = re.compile(r"(?:\A|[ \t\n\r:,\[])[tfn].{0,4}\Z", re.DOTALL)
_VALUE_ENDS = frozenset("}]0123456789")


def python_error(text: str, message: str) -> json.JSONDecodeError | None:
    """Return the error that `json` raises on a text, from what msgspec said of it.

    None where the two see things differently or where they cannot be told apart: then only
    `json` itself knows. It reads all that is before the place, which takes three times as long
    as all the rest.
    """
    if message == "Input data was truncated":
        return _explain_truncation(text)
    found = _MALFORMED.fullmatch(message)
    if found is None:
        return None
    place = int(found[2])
    if not text.isascii():
        place = len(text.encode()[:place].decode(errors="ignore"))
    if found[1] in _SAME_PLACE:
        return json.JSONDecodeError(_SAME_PLACE[found[1]], text, place)
    if found[1] in _TRAILING:
        comma = text.rindex(",", 0, place) if _SINCE_3_13 else place
        return json.JSONDecodeError(_TRAILING[found[1]], text, comma)
    if found[1] == "invalid character" and _expects_value(text, place):
        return json.JSONDecodeError(_VALUE, text, place)
    return None


def _explain_truncation(text: str) -> json.JSONDecodeError | None:
    """Tell an open string, or a value after which something is missing, by the last characters."""
    if "\\" in text:
        return None  # half a surrogate pair is called truncated, too
    place, words = len(text), _COMMA
    if text.count('"') % 2:
        place, words = text.rindex('"'), "Unterminated string starting at"
    elif text[-1:] not in _VALUE_ENDS:
        return None
    return None if _ends_in_literal(text, place) else json.JSONDecodeError(words, text, place)


def _expects_value(text: str, place: int) -> bool:
    """Whether something stands where a value should, and is not the beginning of one."""
    if place >= len(text) or text[place] < " " or text[place] in _VALUE_STARTS:
        return False
    before = text[:place].rstrip(" \t\n\r")[-1:]
    return (not before or before in ":,[") and not _ends_in_literal(text, place)


def _ends_in_literal(text: str, end: int) -> bool:
    """Whether a true, false or null may have begun shortly before.

    Of these msgspec reads as many bytes as the right word has, whatever they are.
    """
    return _LITERAL.search(text, max(end - 6, 0), end) is not None
