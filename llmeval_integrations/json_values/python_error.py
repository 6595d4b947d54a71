"""What Python's parser says of a text that the fast parser refused, mostly without asking it.

Asking it takes three times as long as all the rest of an evaluation, since it reads all that is
before the place.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Final

_COMMA: Final = "Expecting ',' delimiter"
_NAME: Final = "Expecting property name enclosed in double quotes"
_VALUE: Final = "Expecting value"
_SINCE_3_13: Final = sys.version_info >= (3, 13)

_MESSAGES: Final = {
    "expected ',' or '}'": _COMMA,
    "expected ',' or ']'": _COMMA,
    "expected ':'": "Expecting ':' delimiter",
    "expected '\"'": _NAME,
    "object keys must be strings": _NAME,
    "trailing comma in object": "Illegal trailing comma before end of object",
    "trailing comma in array": "Illegal trailing comma before end of array",
}
"""What Python 3.13 says where msgspec says this."""

_OLDER: Final = {"trailing comma in object": _NAME, "trailing comma in array": _VALUE}
"""What 3.12 says of the bracket, instead of the comma."""

_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte ([0-9]+)\)")
_VALUE_STARTS: Final = frozenset('"{[-0123456789tfnNI\ufeff')  # the last has words of its own
_VALUE_ENDS: Final = frozenset("}]0123456789")
# Of a literal msgspec reads as many bytes as the right word has, whatever they are.
_LITERAL = re.compile(r"(?:\A|[ \t\n\r:,\[])[tfn].{0,4}\Z", re.DOTALL)


def python_error(text: str, message: str) -> json.JSONDecodeError | None:
    """Return the error that `json` raises on a text, from what msgspec said of it.

    None where the two see things differently, or where they cannot be told apart.
    """
    if message == "Input data was truncated":
        return _explain_truncation(text)
    found = _MALFORMED.fullmatch(message)
    if found is None:
        return None
    what, place = found[1], int(found[2])
    if not text.isascii():
        place = len(text.encode()[:place].decode(errors="ignore"))
    if what in _OLDER:
        if not _SINCE_3_13:
            return json.JSONDecodeError(_OLDER[what], text, place)
        place = text.rindex(",", 0, place)
    if what in _MESSAGES:
        return json.JSONDecodeError(_MESSAGES[what], text, place)
    if what != "invalid character" or place >= len(text):
        return None
    before = text[:place].rstrip(" \t\n\r")[-1:]
    is_value = text[place] >= " " and text[place] not in _VALUE_STARTS and before in ":,["
    if not is_value or _LITERAL.search(text, max(place - 6, 0), place):
        return None
    return json.JSONDecodeError(_VALUE, text, place)


def _explain_truncation(text: str) -> json.JSONDecodeError | None:
    """Tell an open string, or a value after which something is missing, by the last characters."""
    if "\\" in text:
        return None  # half a surrogate pair is called truncated, too
    place, words = len(text), _COMMA
    if text.count('"') % 2:
        place, words = text.rindex('"'), "Unterminated string starting at"
    elif text[-1:] not in _VALUE_ENDS:
        return None
    is_literal = _LITERAL.search(text, max(place - 6, 0), place)
    return None if is_literal else json.JSONDecodeError(words, text, place)
