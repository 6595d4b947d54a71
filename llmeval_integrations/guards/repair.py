"""Repair a text that is not JSON, and report every change."""

from __future__ import annotations

import json
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
    """The text that is replaced or removed."""

    new: str
    """The text in its place; empty if it is removed."""


class Repair(NamedTuple):
    """The result of a repair: a value or a refusal."""

    value: Any
    """The JSON value; None if the repair was refused."""

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
    fixes: list[Edit] = []  # the same, with their offsets in the text that they changed
    value = parse(text)
    most = min(_MOST_EDITS, _MOST_READ // max(len(text), 1))
    while type(value) is Defect:
        fix = None if value.is_json or len(edits) >= most else _find_fix(text, value)
        if fix is None:
            return Repair(None, edits, value, text)
        offset = fix.offset  # in the original text; inside an earlier fix, its start
        for earlier in reversed(fixes):
            if offset > earlier.offset:
                growth = len(earlier.new) - len(earlier.old)
                offset = max(offset - growth, earlier.offset)
        edits.append(fix._replace(offset=offset))
        fixes.append(fix)
        text = text[: fix.offset] + fix.new + text[fix.offset + len(fix.old) :]
        value = parse(text)
    return Repair(value, edits, None, text)


def _find_fix(text: str, defect: Defect) -> Edit | None:
    """Return the fix of a defect; None if more than one value can be meant."""
    offset, name = defect.offset, defect.name
    if offset is None:
        return None
    if text.startswith("'", offset):
        name = "quoted_name" if "property name" in defect.reason else "quoted_text"
    elif name == "prose_around":
        return _cut_prose(text, offset)
    elif name == "trailing_comma":
        offset = text.rindex(",", 0, offset + 1)
    pattern, replace = _FIXES.get(name, ("", None))
    found = re.compile(pattern, re.DOTALL).match(text, offset)
    if found is None or replace is None:
        return None
    new = found.expand(replace) if isinstance(replace, str) else replace(found)
    return None if new is None else Edit(offset, defect.name, text[offset : found.end(1)], new)


def _cut_prose(text: str, offset: int) -> Edit | None:
    """Cut the prose before or after the only JSON."""
    start = find_json(text[offset:])
    if text[:offset].strip("`~ \t\n\r") and offset > 0:
        return Edit(offset, "prose_around", text[offset:], "") if start is None else None
    if start is None or re.match(r"\[\s*-?[0-9]", text[offset + start :]):  # a footnote's mark
        return None
    return Edit(offset, "prose_around", text[offset : offset + start], "")


def _quote(found: re.Match[str]) -> str:
    """Replace single quotes by double quotes, and escape those inside."""
    changed = {'"': '\\"', "\\'": "'"}
    inner = _QUOTE.sub(lambda one: changed.get(one[0], one[0]), found[1][1:-1])
    return f'"{inner}"'


def _drop_brackets(found: re.Match[str]) -> str | None:
    """Drop brackets after a text that is complete without them."""
    return None if type(parse(found.string[: found.start()])) is Defect else ""


_SPACE: Final = r"[ \t\n\r]*"
_QUOTE: Final = re.compile(r"\\.|\"", re.DOTALL)
_QUOTED: Final = r"('(?:\\.|[^\\])*?')"
_LITERAL: Final = r"((?i:none|true|false|null))\b"

_FIXES: Final[dict[str, tuple[str, str | Callable[[re.Match[str]], str | None]]]] = {
    "quoted_name": (rf"{_QUOTED}(?={_SPACE}:)", _quote),
    "quoted_text": (rf"{_QUOTED}(?={_SPACE}(?:[,}}\]]|\Z))", _quote),
    "unquoted_key": (rf"([^\W\d][\w-]*|\$[\w-]*){_SPACE}:", r'"\1"'),
    "comment": (r"(/\*.*?\*/|(?://|#)[^\n]*)", ""),
    "invalid_escape": (r"(\\')", "'"),  # a backslash before another character may be meant
    "byte_order_mark": (r"(.)", ""),
    "trailing_comma": (r"(,)", ""),
    "python_literal": (_LITERAL, lambda found: found[1].lower().replace("none", "null")),
    "bare_word": (_LITERAL, lambda found: found[1].lower().replace("none", "null")),
    "control_character": (r"(.)", lambda found: json.dumps(found[1])[1:-1]),
    "mismatched_bracket": (r"([\]} \t\n\r]*[\]}])[`~ \t\n\r]*\Z", _drop_brackets),
}
"""For each defect, a pattern of the part to replace, and its replacement. All other defects can
mean more than one value."""
