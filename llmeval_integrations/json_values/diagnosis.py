"""Naming the defect at the place where Python's parser stopped."""

from __future__ import annotations

import json
import re
from typing import Final

from llmeval_integrations.json_values.defects import MAX_EXCERPT, Defect, shorten

_BEFORE: Final = 12
_IN_CONTEXT: Final = frozenset(
    ("trailing_comma", "unescaped_quote", "missing_comma", "missing_colon", "number")
)
"""Defects of which some characters before the place tell more."""

_FAR: Final = 1_000
"""Characters in which the JSON behind prose is looked for."""

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_LITERAL = r"(?:true|false|null)"
_JSON_START = re.compile(
    r"\{(?:\}|\s*(?:[\"'“]|[A-Za-z_]\w*\s*:))"
    rf"|\[(?:\]|\s*(?:[\"'“{{\[]|{_NUMBER}\s*,|{_LITERAL}\s*[,\]]))"
    r"|```(?:json)?\s*[\[{]"
)
_SECOND_TEXT = re.compile(
    rf"[\s,`~]*(?:json\s*)?(?:{_JSON_START.pattern}|\"|\[\s*{_NUMBER}"
    rf"|(?:{_NUMBER}|\b{_LITERAL})\s*(?:[,\n]|\Z))"
)
_NUMBER_LIKE = re.compile(r"-?[0-9][\w.%°+*/:€$£-]*|-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_SIGNED = re.compile(r"[+.-]\.?(?:[0-9]|inf|nan)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d]\w*")
_DIGITS = frozenset("0123456789")
_LITERALS = ("true", "false", "null")
_COMMENTS = ("//", "/*", "#")
_ELLIPSES = ("...", "…")
_BY_CHARACTER = {
    ",": "missing_value",
    "\\": "invalid_escape",
    **dict.fromkeys("'`", "single_quotes"),
    **dict.fromkeys("“”‘’„«", "smart_quotes"),
}


def diagnose(text: str, body: str, start: int, error: json.JSONDecodeError) -> Defect:
    """Name the defect behind an error that Python's parser raised on `text[start:]`, the body."""
    name = _classify(body.rstrip(" \t\n\r"), error.pos, error.msg)
    offset, reason = error.pos, str(error)
    if error.doc is not text:
        offset = min(start + error.pos, len(text))
        reason = str(json.JSONDecodeError(error.msg, text, offset))
    if error.msg.startswith("Illegal trailing comma"):
        # Python 3.13 points at the comma, older ones at what follows; offsets must not differ.
        rest = text[offset + 1 :]
        offset += 1 + len(rest) - len(rest.lstrip(" \t\n\r"))
    place = json.JSONDecodeError("", text, offset)
    near = _excerpt(text, name, offset)
    return Defect(name, reason, offset, place.lineno, place.colno, near=near)


def find_json(text: str) -> int | None:
    """Return where an object or array begins in a text; None where none does."""
    found = _JSON_START.search(text)
    return found.start() if found else None


def _excerpt(text: str, name: str, offset: int) -> str:
    """Return the text at a defect's place; of a text that stops its end, of prose its beginning."""
    if name == "truncated":
        end = text.rstrip()
        return end if len(end) <= MAX_EXCERPT else f"...{end[-MAX_EXCERPT:]}"
    if name == "prose_around":
        found = _JSON_START.search(text, offset, offset + _FAR)
        if found and found.start() > offset:
            return shorten(text[offset : found.start()].strip())
    begin = max(offset - _BEFORE, 0) if name in _IN_CONTEXT else offset
    return shorten(text[begin : begin + MAX_EXCERPT + 1].lstrip())


def _classify(body: str, pos: int, message: str) -> str:
    """Tell defects apart by Python's message and the characters around the place."""
    if pos >= len(body) or message.startswith("Unterminated string"):
        return "truncated"
    if message.startswith("Invalid control character"):
        return "control_character"
    if message.startswith("Invalid \\"):
        tail = body[pos : pos + 7]
        return "truncated" if len(tail) < 6 and '"' not in tail else "invalid_escape"
    if message.startswith("Illegal trailing comma"):
        return "trailing_comma"
    if body[pos] == "\ufeff":
        return "byte_order_mark"
    if message.startswith("Extra data"):
        return _classify_rest(body, pos)
    if pos == 0:
        return _classify_start(body)
    if body.startswith(_COMMENTS, pos):
        return "comment"
    if body.startswith(_ELLIPSES, pos):
        return "ellipsis"
    if message.startswith("Expecting ','"):
        return _classify_neighbour(body, pos)
    if message.startswith("Expecting ':'"):
        return "missing_colon"
    return _classify_value(body, pos, is_name=message.startswith("Expecting property"))


def _classify_rest(body: str, pos: int) -> str:
    """Name what stands at `pos`, after a complete JSON text."""
    char = body[pos]
    if _NUMBER_LIKE.fullmatch(body):
        return "number"
    if body.startswith(_COMMENTS, pos):
        return "comment"
    if char in "}]:":
        return "mismatched_bracket"
    if char == "," and pos + 1 == len(body):
        return "trailing_comma"
    if _SECOND_TEXT.match(body, pos):
        return "extra_data"
    return "prose_around" if body[0] in '{["' else _classify_prose(body)  # "1. First, ..."


def _classify_start(body: str) -> str:
    """Name a text whose very first character cannot begin JSON."""
    if body[0] == "'" and body[-1] == "'":
        return "single_quotes"
    if body.startswith(_COMMENTS) and _JSON_START.search(body):
        return "comment"
    if body[0] in "}]":
        return "mismatched_bracket"
    word = _WORD.match(body)
    if (word and word[0] == body) or _SIGNED.match(body):
        name = _classify_word(body, 0)
        if name != "bare_word":
            return name
    return _classify_prose(body)


def _classify_prose(body: str) -> str:
    return "prose_around" if _JSON_START.search(body) else "prose"


def _classify_neighbour(body: str, pos: int) -> str:
    """Name what stands where a comma or a closing bracket was expected."""
    char, before = body[pos], body[pos - 1]
    if before in _DIGITS and (char in "._%°+-*/:€$£" or char.isalnum()):
        rest = body[pos:]
        return "truncated" if rest in (".", "e", "E", "e+", "e-", "E+", "E-") else "number"
    if char in "}]:":
        return "mismatched_bracket"
    word = _WORD.match(body, pos)
    is_text = char in "(&–—" or (word is not None and word[0] not in _LITERALS)
    line = body[:pos].rstrip(" \t")
    if line.endswith('"'):
        if len(line) == pos:  # "the "large" one"
            is_text = char not in "\"{['" or line.endswith('""')
        return "unescaped_quote" if is_text else "missing_comma"
    return "number" if is_text and line[-1] in _DIGITS else "missing_comma"  # 5 kg


def _classify_value(body: str, pos: int, *, is_name: bool) -> str:
    """Name what stands where a value, or the name of a member, was expected."""
    char = body[pos]
    if char in _BY_CHARACTER:
        return _BY_CHARACTER[char]
    if char in "}]":
        before = body[:pos].rstrip(" \t\n\r")[-1:]
        return {",": "trailing_comma", ":": "missing_value"}.get(before, "mismatched_bracket")
    if not is_name:
        return _classify_word(body, pos)
    if char in _DIGITS and body[pos - 1] == "," and body[pos - 2] in _DIGITS:
        return "number"  # 1,000
    return "unquoted_key" if char.isalnum() or char in "_$" else "unexpected_character"


def _classify_word(body: str, pos: int) -> str:
    """Name a word or sign that stands where a value was expected."""
    found = _WORD.match(body, pos)
    if found:
        word = found[0]
        if word in ("True", "False", "None"):
            return "python_literal"
        if word.lower() in ("nan", "inf", "infinity"):
            return "nan_or_infinity"
        is_cut = found.end() == len(body) and any(each.startswith(word) for each in _LITERALS)
        return "truncated" if is_cut else "bare_word"
    if body[pos:] == "-":
        return "truncated"
    if body[pos] in "+-.":
        is_named = body[pos + 1 : pos + 4].lower() in ("inf", "nan")
        return "nan_or_infinity" if is_named else "number"
    return "unexpected_character"
