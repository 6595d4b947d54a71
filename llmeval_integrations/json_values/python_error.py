"""The error that Python's parser raises for a text that msgspec refused, mostly without running it.

Running it takes three times as long as the rest of an evaluation: it reads everything before the
place of the error.
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
"""The message of Python 3.13 for each message of msgspec."""

_OLDER: Final = {"trailing comma in object": _NAME, "trailing comma in array": _VALUE}
"""The messages of older versions, which complain about the bracket instead of the comma."""

_MALFORMED = re.compile(r"JSON is malformed: (.*) \(byte ([0-9]+)\)")
_VALUE_STARTS: Final = frozenset('"{[-0123456789tfnNI\ufeff')  # Python's BOM message is another
_VALUE_ENDS: Final = frozenset("}]0123456789")
# In a literal, msgspec's position can be wrong: it skips as many bytes as the right word has.
_LITERAL = re.compile(r"(?:\A|[ \t\n\r:,\[])[tfn].{0,4}\Z", re.DOTALL)


def python_error(text: str, message: str) -> json.JSONDecodeError | None:
    """Return the error that `json` raises for a text, derived from msgspec's message.

    Return None if the two parsers may disagree about the error or its position.
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
    # If no value begins where one is expected, both parsers stop at the same place.
    before = text[:place].rstrip(" \t\n\r")[-1:]
    is_value = text[place] >= " " and text[place] not in _VALUE_STARTS and before in ":,["
    if not is_value or _LITERAL.search(text, max(place - 6, 0), place):
        return None
    return json.JSONDecodeError(_VALUE, text, place)


def _explain_truncation(text: str) -> json.JSONDecodeError | None:
    """Tell an open string from a missing comma by the number of quotes and the last character."""
    if "\\" in text:
        return None  # msgspec calls half a surrogate pair truncated, too
    place, words = len(text), _COMMA
    if text.count('"') % 2:
        place, words = text.rindex('"'), "Unterminated string starting at"
    elif text[-1:] not in _VALUE_ENDS:
        return None
    is_literal = _LITERAL.search(text, max(place - 6, 0), place)
    return None if is_literal else json.JSONDecodeError(words, text, place)
