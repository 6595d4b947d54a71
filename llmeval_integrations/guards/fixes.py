"""How each defect is repaired, where only one value can be meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.diagnosis import find_json

_SPACE: Final = r"[ \t\n\r]*"
_BEHIND_NAME: Final = re.compile(f"{_SPACE}:")
_BEHIND_VALUE: Final = re.compile(rf"{_SPACE}(?:[,}}\]]|\Z)")
# Behind a comma stands what begins a name or value, or the comma is one of the text.
_BEHIND_TEXT: Final = re.compile(
    rf"{_SPACE}(?:[}}\]]|\Z|,{_SPACE}(?:[\"{{\[]|-?[0-9]|true\b|false\b|null\b))"
)
_MEMBER: Final = re.compile(rf'"[^"\\]*(?:\\.[^"\\]*)*"{_SPACE}:', re.DOTALL)
_BEGINS_VALUE: Final = re.compile(r'["{\[]|-?[0-9]|true\b|false\b|null\b')
_NAME: Final = re.compile(rf"([^\W\d][\w-]*|\$[\w-]*){_SPACE}:")
_WORD: Final = re.compile(r"\w+")
_LITERALS: Final = {"none": "null", "true": "true", "false": "false", "null": "null"}
_COMMENT: Final = re.compile(r"/\*.*?\*/|(?://|#)[^\n]*", re.DOTALL)
_QUOTE: Final = re.compile(r'\\.|(")', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\.|\"", re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?[\w.]+")
_SIGNED: Final = re.compile(r"\+?(-?)([0-9]*)(?:\.([0-9]*))?((?:[eE][+-]?[0-9]+)?)")
_STRUCTURE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_CLOSES: Final = {"{": "}", "[": "]"}
_CLOSED_BY: Final = {
    "'": "'’",
    "`": "`'",
    "‘": "’'",
    "’": "’'",
    **dict.fromkeys("“”„", '”“"'),
    "«": "»",
}


class Fix(NamedTuple):
    """What a part of a text is replaced by."""

    start: int
    end: int
    new: str


def find_fix(text: str, defect: Defect) -> Fix | None:
    """Return how a defect is repaired; None where more than one value can be meant."""
    fix = _FIXES.get(defect.name)
    return None if fix is None or defect.offset is None else fix(text, defect.offset, defect)


def _cut_prose(text: str, offset: int, _defect: Defect) -> Fix | None:
    """Cut what stands before or after the only JSON."""
    start = find_json(text[offset:])
    if text[:offset].strip("`~ \t\n\r") and offset > 0:
        return Fix(offset, len(text), "") if start is None else None
    if start is None or re.match(r"\[\s*-?[0-9]", text[offset + start :]):  # as a footnote's mark
        return None
    return Fix(offset, offset + start, "")


def _drop_comma(text: str, offset: int, _defect: Defect) -> Fix:
    comma = offset if text[offset] == "," else text.rindex(",", 0, offset)
    return Fix(comma, comma + 1, "")


def _quote_text(text: str, offset: int, defect: Defect) -> Fix | None:
    """Put a name or text into the quotes of JSON, up to the first that ends it."""
    behind = _BEHIND_NAME if "property name" in defect.reason else _BEHIND_VALUE
    closing = _CLOSED_BY.get(text[offset], "")
    if not closing:
        return None
    for found in re.compile(rf"\\.|[{closing}]", re.DOTALL).finditer(text, offset + 1):
        end = found.start()
        if len(found[0]) == 1 and behind.match(text, end + 1):
            inner = _ESCAPED.sub(_escape_quote, text[offset + 1 : end])
            return Fix(offset, end + 1, f'"{inner}"')
    return None


def _escape_quote(found: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])


def _escape_inner_quotes(text: str, offset: int, _defect: Defect) -> Fix | None:
    """Escape the quotes inside a text, which come in pairs, up to the one that surely ends it."""
    first = text.rindex('"', 0, offset)
    inner: list[int] = []
    for found in _QUOTE.finditer(text, first):
        if found[1] is None:
            continue
        if inner and _BEHIND_TEXT.match(text, found.end()):
            if len(inner) % 2:  # one of them may be the end
                return None
            body = text[first : found.start()]
            return Fix(first, found.start(), _ESCAPED.sub(_escape_quote, body))
        inner.append(found.start())
    return None


def _quote_name(text: str, offset: int, _defect: Defect) -> Fix | None:
    name = _NAME.match(text, offset)
    return Fix(offset, name.end(1), f'"{name[1]}"') if name else None


def _spell_literal(text: str, offset: int, _defect: Defect) -> Fix | None:
    word = _WORD.match(text, offset)
    literal = _LITERALS.get(word[0].lower()) if word else None
    return Fix(offset, word.end(), literal) if word and literal else None


def _drop_comment(text: str, offset: int, _defect: Defect) -> Fix | None:
    comment = _COMMENT.match(text, offset)
    return Fix(offset, comment.end(), "") if comment else None


def _escape_control(text: str, offset: int, _defect: Defect) -> Fix:
    names = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return Fix(offset, offset + 1, names.get(text[offset], f"\\u{ord(text[offset]):04x}"))


def _drop_backslash(text: str, offset: int, _defect: Defect) -> Fix | None:
    """Drop it before a single quote; before anything else it may be a part of the text."""
    return Fix(offset, offset + 2, "'") if text.startswith("\\'", offset) else None


def _insert_comma(text: str, offset: int, _defect: Defect) -> Fix | None:
    """Insert it before a member's name, or an object or array among others."""
    if _open_brackets(text[:offset])[-1:] == ["}"]:
        fits = _MEMBER.match(text, offset) is not None
    else:
        fits = text[offset] in _CLOSES
    return Fix(offset, offset, ",") if fits else None


def _insert_colon(text: str, offset: int, _defect: Defect) -> Fix | None:
    return Fix(offset, offset, ":") if _BEGINS_VALUE.match(text, offset) else None


def _spell_number(text: str, offset: int, _defect: Defect) -> Fix | None:
    """Write `+5`, `.5`, `5.` and `1_000` as JSON does; all else may be several numbers."""
    start = len(text[:offset].rstrip("0123456789"))
    start -= text[:start].endswith(("-", "+"))
    token = _NUMBER.match(text, start)
    if token is None or not _BEHIND_VALUE.match(text, token.end()):
        return None
    number = _SIGNED.fullmatch(re.sub(r"(?<=[0-9])_(?=[0-9])", "", token[0]))
    if number is None or not (number[2] or number[3]) or re.match("0[0-9]", number[2]):
        return None
    fraction = "" if number[3] is None else f".{number[3] or 0}"
    return Fix(start, token.end(), f"{number[1]}{number[2] or 0}{fraction}{number[4]}")


def _close_brackets(text: str, offset: int, _defect: Defect) -> Fix | None:
    """Insert the brackets that are missing before one that closes more; drop those too many."""
    closing = _open_brackets(text[:offset])
    if not closing:
        rest = text[offset:].rstrip("`~ \t\n\r")
        return None if rest.strip("]} \t\n\r") else Fix(offset, offset + len(rest), "")
    mark = text[offset]
    if mark not in closing:
        return None
    missing = []
    while closing[-1] != mark:
        missing.append(closing.pop())
    return Fix(offset, offset, "".join(missing))


def _open_brackets(text: str) -> list[str]:
    """Return what closes the brackets that a beginning of JSON leaves open."""
    closing: list[str] = []
    for token in _STRUCTURE.findall(text):
        if token in _CLOSES:
            closing.append(_CLOSES[token])
        elif token in ("}", "]"):
            closing.pop()
    return closing


_FIXES: Final[dict[str, Callable[[str, int, Defect], Fix | None]]] = {
    "prose_around": _cut_prose,
    "trailing_comma": _drop_comma,
    "single_quotes": _quote_text,
    "smart_quotes": _quote_text,
    "unescaped_quote": _escape_inner_quotes,
    "unquoted_key": _quote_name,
    "python_literal": _spell_literal,
    "bare_word": _spell_literal,
    "comment": _drop_comment,
    "control_character": _escape_control,
    "invalid_escape": _drop_backslash,
    "missing_comma": _insert_comma,
    "missing_colon": _insert_colon,
    "number": _spell_number,
    "mismatched_bracket": _close_brackets,
    "byte_order_mark": lambda _text, offset, _defect: Fix(offset, offset + 1, ""),
}
"""The defects that can be repaired; of all others the text does not say what was meant."""
