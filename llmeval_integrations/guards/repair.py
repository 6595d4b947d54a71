"""Repair a text that is not JSON, and report every change."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.errors import InputError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.diagnosis import find_json
from llmeval_integrations.json_values.parse import parse

_MOST_EDITS: Final = 1_000
_MOST_READ: Final = 200_000_000
"""How many characters may be read in all. Each edit reads the text again; this takes a second."""


class Edit(NamedTuple):
    """One change of a text."""

    offset: int
    """Where it begins in the original text."""

    defect: str
    """The name of the defect that it repairs."""

    old: str
    new: str


class Repair(NamedTuple):
    """The result of a repair: a value or a refusal."""

    value: Any
    """The JSON value; None where the repair was refused."""

    edits: list[Edit]
    """The changes in their order; empty if the text is JSON."""

    refusal: Defect | None
    """The defect that could mean more than one value; None if there is a value."""

    text: str
    """The text after these edits."""


def repair(text: str) -> Repair:
    """Repair a text that is not JSON if only one value can be meant, and report every change.

    If the text is JSON, in a fence or not, there are no edits. A text is refused if something was
    cut off or left out, or can be read in two ways: `[1, 2`, `[1, ...]`, `{"size": 5 kg}`.

    Example:
        >>> repair("{'total': 12.5,}").edits
        [Edit(offset=1, defect='single_quotes', old="'total'", new='"total"'),
         Edit(offset=14, defect='trailing_comma', old=',', new='')]

    Raises:
        InputError: The argument is not a text.
    """
    if not isinstance(text, str):
        raise InputError(f"repair accepts a text, got {quote(text)}")
    edits: list[Edit] = []
    fixes: list[_Fix] = []
    value = parse(text)
    most = min(_MOST_EDITS, _MOST_READ // max(len(text), 1))
    while type(value) is Defect:
        fix = None if value.is_json or len(edits) >= most else _find_fix(text, value)
        if fix is None:
            return Repair(None, edits, value, text)
        offset = fix.start  # in the original text; inside an earlier fix, its start
        for earlier in reversed(fixes):
            if offset > earlier.start:
                growth = len(earlier.new) - (earlier.end - earlier.start)
                offset = max(offset - growth, earlier.start)
        edits.append(Edit(offset, value.name, text[fix.start : fix.end], fix.new))
        fixes.append(fix)
        text = text[: fix.start] + fix.new + text[fix.end :]
        value = parse(text)
    return Repair(value, edits, None, text)


class _Fix(NamedTuple):
    """The replacement of a part of a text."""

    start: int
    end: int
    new: str


_SPACE: Final = r"[ \t\n\r]*"
_BEHIND_NAME: Final = re.compile(f"{_SPACE}:")
_BEHIND_VALUE: Final = re.compile(rf"{_SPACE}(?:[,}}\]]|\Z)")
_QUOTE: Final = re.compile(r"\\.|\"", re.DOTALL)
_LITERALS: Final = {"none": "null", "true": "true", "false": "false", "null": "null"}


def _find_fix(text: str, defect: Defect) -> _Fix | None:
    """Return the fix of a defect; None if more than one value can be meant."""
    offset = defect.offset
    if offset is None:
        return None
    if text.startswith("'", offset):
        return _quote_text(text, offset, is_name="property name" in defect.reason)
    if defect.name in _PATTERNS:
        pattern, new = _PATTERNS[defect.name]
        found = re.compile(pattern, re.DOTALL).match(text, offset)
        return _Fix(offset, found.end(1), found.expand(new)) if found else None
    fix = _FIXES.get(defect.name)
    return fix(text, offset) if fix else None


_PATTERNS: Final = {
    "unquoted_key": (rf"([^\W\d][\w-]*|\$[\w-]*){_SPACE}:", r'"\1"'),
    "comment": (r"(/\*.*?\*/|(?://|#)[^\n]*)", ""),
    "invalid_escape": (r"(\\')", "'"),  # a backslash before another character may be meant
    "byte_order_mark": (r"(.)", ""),
}
"""For each defect, a pattern of the part to replace, and the replacement."""


def _cut_prose(text: str, offset: int) -> _Fix | None:
    """Cut the prose before or after the only JSON."""
    start = find_json(text[offset:])
    if text[:offset].strip("`~ \t\n\r") and offset > 0:
        return _Fix(offset, len(text), "") if start is None else None
    if start is None or re.match(r"\[\s*-?[0-9]", text[offset + start :]):  # a footnote's mark
        return None
    return _Fix(offset, offset + start, "")


def _drop_comma(text: str, offset: int) -> _Fix:
    comma = offset if text[offset] == "," else text.rindex(",", 0, offset)
    return _Fix(comma, comma + 1, "")


def _quote_text(text: str, offset: int, *, is_name: bool) -> _Fix | None:
    """Put a name or text into double quotes, up to the first single quote that can end it."""
    behind = _BEHIND_NAME if is_name else _BEHIND_VALUE
    for found in re.compile(r"\\.|'", re.DOTALL).finditer(text, offset + 1):
        end = found.start()
        if found[0] == "'" and behind.match(text, end + 1):
            inner = _QUOTE.sub(_escape_quote, text[offset + 1 : end])
            return _Fix(offset, end + 1, f'"{inner}"')
    return None


def _escape_quote(found: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])


def _spell_literal(text: str, offset: int) -> _Fix | None:
    word = re.compile(r"\w+").match(text, offset)
    literal = _LITERALS.get(word[0].lower()) if word else None
    return _Fix(offset, word.end(), literal) if word and literal else None


def _escape_control(text: str, offset: int) -> _Fix:
    names = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return _Fix(offset, offset + 1, names.get(text[offset], f"\\u{ord(text[offset]):04x}"))


def _drop_brackets(text: str, offset: int) -> _Fix | None:
    """Drop the brackets after a text that is complete without them."""
    rest = text[offset:].rstrip("`~ \t\n\r")
    is_whole = not rest.strip("]} \t\n\r") and type(parse(text[:offset])) is not Defect
    return _Fix(offset, offset + len(rest), "") if is_whole else None


_FIXES: Final[dict[str, Callable[[str, int], _Fix | None]]] = {
    "prose_around": _cut_prose,
    "trailing_comma": _drop_comma,
    "python_literal": _spell_literal,
    "bare_word": _spell_literal,
    "control_character": _escape_control,
    "mismatched_bracket": _drop_brackets,
}
"""The defects that a function repairs. A defect in neither table has no clear repair."""
