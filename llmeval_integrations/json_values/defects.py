"""Defects: named reasons why a text is not JSON, with position and Python's own message."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from llmeval_integrations.core.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_DIGITS, MAX_NODES

DEFECTS: Final[dict[str, str]] = {
    "empty": "nothing but white space",
    "refused": "the model refused to answer",
    "prose": "no JSON at all",
    "prose_around": "text before or after the JSON",
    "code_fence": "a Markdown fence where plain JSON was asked for",
    "truncated": "the text stops in the middle",
    "trailing_comma": "a comma before a closing bracket, or after the end",
    "single_quotes": "single quotes or back-ticks around a key or string",
    "smart_quotes": "typographic quotes around a key or string",
    "unescaped_quote": "a quote without a backslash inside a string",
    "unquoted_key": "a key without quotes",
    "python_literal": "True, False or None",
    "comment": "a comment",
    "ellipsis": "three dots in place of values",
    "bare_word": "a word that is not a JSON literal",
    "nan_or_infinity": "NaN or Infinity",
    "duplicate_key": "the same key twice in one object (strict mode)",
    "control_character": "a raw line break or control character in a string",
    "invalid_escape": "a backslash before a character that it cannot escape, or outside a string",
    "missing_comma": "two values without a comma between them",
    "missing_colon": "a key without a colon after it",
    "missing_value": "a comma or bracket where a value should be",
    "mismatched_bracket": "a missing, wrong or extra bracket",
    "extra_data": "a second JSON text after the first",
    "too_deep": f"nested deeper than {MAX_DEPTH} levels",
    "too_large": f"more than {MAX_CHARACTERS:,} characters or {MAX_NODES:,} values",
    "lone_surrogate": "half of a surrogate pair, which UTF-8 cannot encode",
    "number": "a number that JSON cannot write",
    "number_out_of_range": f"a number beyond {MAX_DIGITS} digits or a double",
    "byte_order_mark": "a byte order mark before the JSON",
    "encoding": "bytes that are not UTF-8",
    "not_json": "a Python value that JSON cannot write",
    "unexpected_character": "a character that is not allowed there",
}
"""The name and meaning of every defect."""

MAX_EXCERPT: Final = 30
"""The most characters of a text that a defect quotes."""


class Defect(msgspec.Struct, frozen=True):
    """A reason why a text is not JSON."""

    name: str
    """One of DEFECTS."""

    reason: str
    """The message of Python's own parser with line and column, or ours if it has none."""

    offset: int | None = None
    """The position in the text, from 0; None for values that are already parsed."""

    line: int | None = None
    """From 1."""

    column: int | None = None
    """From 1."""

    is_json: bool = False
    """Whether the text is JSON, and only exceeds a limit of ours."""

    near: str = ""
    """The part of the text that shows people what is wrong."""

    @property
    def words(self) -> str:
        """The defect in words for people, with an excerpt and its position."""
        if self.line is None:
            return self.reason
        what = DEFECTS[self.name]
        if self.name == "prose_around":
            what = f"text {'after' if self.reason.startswith('Extra data') else 'before'} the JSON"
        near = f": {self.near!r}" if self.near else ""
        return f"{what}{near} (line {self.line}, column {self.column})"


def locate(text: str, name: str, message: str, offset: int, *, is_json: bool = False) -> Defect:
    """Return a defect with line, column and excerpt at this offset."""
    error = json.JSONDecodeError(message, text, offset)
    near = cut_excerpt(text[offset : offset + MAX_EXCERPT + 1])
    return Defect(name, str(error), offset, error.lineno, error.colno, is_json, near)


def cut_excerpt(text: str) -> str:
    """Cut a text to MAX_EXCERPT characters."""
    return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}..."
