"""Name the defect at the place where Python's parser stops."""

from __future__ import annotations

import json
import re
import sys
from functools import lru_cache
from typing import Final

from llmeval_integrations.json_values.defects import MAX_EXCERPT, Defect, cut_excerpt

_BEFORE: Final = 12
_IN_CONTEXT: Final = frozenset(
    ("trailing_comma", "unescaped_quote", "missing_comma", "missing_colon", "number")
)
"""Defects whose excerpt begins a few characters before the place."""

_FAR: Final = 1_000
"""The characters after the beginning of prose in which JSON is searched for."""

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_LITERAL = r"(?:true|false|null)"
_TEXT = rf"(?:[(&–—]|(?!{_LITERAL}\b)[^\W\d])"
_COMMENT = r"//|/\*|#"
_START = (
    r"(?:\{(?:\}|\s*(?:[\"'“]|[A-Za-z_]\w*\s*:))"
    rf"|\[(?:\]|\s*(?:[\"'“{{\[]|{_NUMBER}\s*,|{_LITERAL}\s*[,\]]))"
    r"|```(?:json)?\s*[\[{])"
)
_JSON_START = re.compile(_START)
_SECOND_TEXT = (
    rf"[\s,`~]*(?:json\s*)?(?:{_START}|\"|\[\s*{_NUMBER}"
    rf"|(?:{_NUMBER}|\b{_LITERAL})\s*(?:[,\n]|\Z))"
)

# In each table, the first pattern that matches at the place names the defect. A look-behind sees
# the two characters that were read last. White space before the place is removed; only after a
# value one character of it is kept.
_WORDS = (
    (r"(?:True|False|None)\b", "python_literal"),
    (r"[+.-]?(?i:nan|inf|infinity)\b", "nan_or_infinity"),
    (r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-)\Z", "truncated"),
    (r"[+.-]", "number"),
    (r"[^\W\d]", "bare_word"),
)
_SIGNS = (
    (_COMMENT, "comment"),
    (r"\.\.\.|…", "ellipsis"),
    (",", "missing_value"),
    (r"\\", "invalid_escape"),
    ("['`]", "single_quotes"),
    ("[“”‘’„«]", "smart_quotes"),
    (r"(?<=,)[}\]]", "trailing_comma"),
    (r"(?<=:)[}\]]", "missing_value"),
    (r"[}\]]", "mismatched_bracket"),
)
_TABLES: Final = {
    "Unterminated": (("", "truncated"),),
    "Invalid control": (("", "control_character"),),
    "Invalid \\": ((r'[^"]{,5}\Z', "truncated"), ("", "invalid_escape")),
    "Illegal": (("", "trailing_comma"),),
    "Unexpected UTF-8 BOM": (("", "byte_order_mark"),),
    "Extra data": (
        (rf"\s?(?:{_COMMENT})", "comment"),
        (r"\s?[}\]:]", "mismatched_bracket"),
        (r"\s?,\Z", "trailing_comma"),
        (_SECOND_TEXT, "extra_data"),
    ),
    "start": (
        ("\ufeff", "byte_order_mark"),
        (r"(?s:'.*')\Z", "single_quotes"),
        (rf"(?:{_COMMENT})(?s:.*?){_START}", "comment"),
        (r"[}\]]", "mismatched_bracket"),
        (r"(?:True|False|None)\Z", "python_literal"),
        (r"(?i:[+.-]\.?(?:inf|nan)|(?:nan|inf|infinity)\Z)", "nan_or_infinity"),
        (r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)\Z", "truncated"),
        (r"[+.-]\.?[0-9]", "number"),
    ),
    "Expecting ','": (
        (rf"\s?(?:{_COMMENT})", "comment"),
        (r"\s?(?:\.\.\.|…)", "ellipsis"),
        (r"(?<=[0-9])(?:\.|[eE][+-]?)\Z", "truncated"),
        (r"(?<=[0-9])[\w.%°+*/:€$£-]", "number"),
        (r"\s?[}\]:]", "mismatched_bracket"),
        (r"""(?<=")[^\s"{\[']|(?<="")\S""", "unescaped_quote"),  # "the "large" one"
        (rf'(?<=") {_TEXT}', "unescaped_quote"),
        (rf"(?<=[0-9]) {_TEXT}", "number"),  # 5 kg
        ("", "missing_comma"),
    ),
    "Expecting ':'": (*_SIGNS[:2], ("", "missing_colon")),
    "Expecting property": (
        *_SIGNS,
        (r"(?<=[0-9],)[0-9]", "number"),  # 1,000
        (r"[\w$]", "unquoted_key"),
    ),
    "Expecting value": (*_SIGNS, *_WORDS),
}
"""Patterns by the beginning of Python's message; `start` if the first character was refused."""

_NUMBER_LIKE = re.compile(r"-?[0-9][\w.%°+*/:€$£-]*|-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")


def diagnose(text: str, body: str, start: int, error: json.JSONDecodeError) -> Defect:
    """Return the defect for an error that Python's parser raised on `body`, at `text[start:]`."""
    name = _classify(body.rstrip(" \t\n\r"), error.pos, error.msg)
    if error.doc is not text:
        error = json.JSONDecodeError(error.msg, text, min(start + error.pos, len(text)))
    reason, place = str(error), error
    if error.msg.startswith("Illegal trailing comma"):
        # Python 3.13 points at the comma, older versions at the bracket after it. Offsets must
        # not depend on the version.
        rest = text[error.pos + 1 :]
        offset = error.pos + 1 + len(rest) - len(rest.lstrip(" \t\n\r"))
        place = json.JSONDecodeError("", text, offset)
    near = _excerpt(text, name, place.pos)
    return Defect(name, reason, place.pos, place.lineno, place.colno, near=near)


def find_json(text: str) -> int | None:
    """Return where the first object or array begins in a text, or None."""
    found = _JSON_START.search(text)
    return found.start() if found else None


@lru_cache(maxsize=64)
def _find_table(message: str) -> tuple[str, re.Pattern[str], list[str]]:
    """Return the key of a table, its patterns as one, and the defect that each of them names."""
    key = next(key for key in _TABLES if message.startswith(key))
    patterns, names = zip(*_TABLES[key])
    return key, re.compile("|".join(f"({pattern})" for pattern in patterns)), [*names]


def _classify(body: str, pos: int, message: str) -> str:
    """Return a defect's name from Python's message and the characters around the place."""
    if pos >= len(body):
        return "truncated"
    is_start = pos == 0 and message == "Expecting value"
    key, pattern, names = _find_table("start" if is_start else message)
    is_rest = key == "Extra data"
    if is_rest and _NUMBER_LIKE.fullmatch(body):
        return "number"
    read, gap = body[:pos].rstrip(" \t\n\r"), ""
    if len(read) < pos and key in ("Extra data", "Expecting ','"):
        gap = "\n" if "\n" in body[len(read) : pos] else " "
    before = read[-2:]
    found = pattern.match(f"{before}{gap}{body[pos:]}", len(before))
    if found and found.lastindex:
        return names[found.lastindex - 1]
    if is_start or is_rest:
        is_text = is_rest and body[0] in '{["'  # not prose such as "1. First, ..."
        return "prose_around" if is_text or _JSON_START.search(body) else "prose"
    return "unexpected_character"


def _excerpt(text: str, name: str, offset: int) -> str:
    """Return the excerpt of a defect: the end of a truncated text, else the text at its place."""
    if name == "truncated":
        end = text.rstrip()
        return end if len(end) <= MAX_EXCERPT else f"...{end[-MAX_EXCERPT:]}"
    if name == "prose_around":
        found = _JSON_START.search(text, offset, offset + _FAR)
        if found and found.start() > offset:
            return cut_excerpt(text[offset : found.start()].strip())
    begin = max(offset - _BEFORE, 0) if name in _IN_CONTEXT else offset
    return cut_excerpt(text[begin : begin + MAX_EXCERPT + 1].lstrip())


# --- the error of Python's parser, mostly without running it --------------------------------------

# Running it takes three times as long as the rest of an evaluation: it reads everything before the
# place of the error.
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
_NEAR_LITERAL = re.compile(r"(?:\A|[ \t\n\r:,\[])[tfn].{0,4}\Z", re.DOTALL)


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
    if not is_value or _NEAR_LITERAL.search(text, max(place - 6, 0), place):
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
    is_literal = _NEAR_LITERAL.search(text, max(place - 6, 0), place)
    return None if is_literal else json.JSONDecodeError(words, text, place)
