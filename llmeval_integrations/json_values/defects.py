"""Why a text is not the JSON it should be: a name to count, a position, and Python's own words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import msgspec

from llmeval_integrations.core.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_DIGITS, MAX_NODES
from llmeval_integrations.json_values.numbers import read_number
from llmeval_integrations.json_values.size import find_deepest

DEFECTS: Final[dict[str, str]] = {
    "empty": "nothing but white space",
    "refused": "the model refused to answer",
    "prose": "no JSON at all",
    "prose_around": "text before or after the JSON",
    "code_fence": "a Markdown fence where plain JSON was asked for",
    "truncated": "the text stops in the middle",
    "trailing_comma": "a comma before a closing bracket, or after the end",
    "single_quotes": "single quotes or back-ticks around a name or a text",
    "smart_quotes": "typographic quotes around a name or a text",
    "unescaped_quote": "a quote inside a text without a backslash",
    "unquoted_key": "a name without quotes",
    "python_literal": "True, False or None",
    "comment": "a comment",
    "ellipsis": "three dots in place of values",
    "bare_word": "a word that is not a JSON literal",
    "nan_or_infinity": "NaN or Infinity",
    "duplicate_key": "an object has a name twice (strict mode)",
    "control_character": "a raw line break or control character in a text",
    "invalid_escape": "a backslash before a character that it cannot escape, or outside of a text",
    "missing_comma": "two values without a comma between them",
    "missing_colon": "a name without a colon after it",
    "missing_value": "a comma or bracket where a value should be",
    "mismatched_bracket": "a bracket that is missing, or closes something else or nothing",
    "extra_data": "a second JSON text after the first",
    "too_deep": f"nested deeper than {MAX_DEPTH} levels",
    "too_large": f"more than {MAX_CHARACTERS:,} characters or {MAX_NODES:,} values",
    "lone_surrogate": "half of a surrogate pair, which no UTF-8 text can hold",
    "number": "a number that JSON cannot write",
    "number_out_of_range": f"beyond {MAX_DIGITS} digits or a double; the text is JSON all the same",
    "byte_order_mark": "a byte order mark before the JSON",
    "encoding": "bytes that are not UTF-8",
    "not_json": "a Python value that JSON has no way to write",
    "unexpected_character": "a character that cannot stand there",
}
"""Every defect's name and what it means."""


_NEAR: Final = 30
"""Characters of a text that are quoted at a defect's place."""

_BEFORE: Final = 12
_IN_CONTEXT: Final = frozenset(
    ("trailing_comma", "unescaped_quote", "missing_comma", "missing_colon", "number")
)
"""Defects of which some characters before the place tell more."""

_FAR: Final = 1_000
"""Characters in which the JSON behind prose is looked for."""


class Defect(msgspec.Struct, frozen=True):
    """What keeps a text from being JSON."""

    name: str
    """One of DEFECTS."""

    reason: str
    """The message of Python's own parser with line and column, or ours where it has none."""

    offset: int | None = None
    """Characters before the place, from 0; None for values that are already parsed."""

    line: int | None = None
    """From 1."""

    column: int | None = None
    """From 1."""

    is_json: bool = False
    """Whether the text is JSON all the same, and only exceeds a limit of ours."""

    near: str = ""
    """The text at the place, as far as it tells people what is wrong."""

    @property
    def words(self) -> str:
        """What is wrong, in words for people, with the text at the place."""
        if self.line is None:
            return self.reason
        what = DEFECTS[self.name]
        if self.name == "prose_around":
            what = f"text {'after' if self.reason.startswith('Extra data') else 'before'} the JSON"
        near = f": {self.near!r}" if self.near else ""
        return f"{what}{near} (line {self.line}, column {self.column})"


# Without the look-behind each quote after a backslash, outside of a string, is a beginning anew.
_STRING = r'"(?<!\\")[^"\\]*(?:\\.[^"\\]*)*"'
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_LITERAL = r"(?:true|false|null)"
_LONE_NUMBER = rf"\[\s*{_NUMBER}\s*\]"
_CONSTANT = re.compile(_STRING + r"|(-?Infinity|NaN)", re.DOTALL)
_ANY_NUMBER = re.compile(_STRING + rf"|({_NUMBER})", re.DOTALL)
_STRUCTURE = re.compile(_STRING + r"|[\[\]{}]", re.DOTALL)
_COLON = re.compile(r"[ \t\n\r]*:")
_SURROGATE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff])|\\.",
    re.DOTALL,
)
_JSON_START = re.compile(
    r"\{(?:\}|\s*(?:[\"'“]|[A-Za-z_]\w*\s*:))"
    rf"|\[(?:\]|\s*(?:[\"'“{{\[]|{_NUMBER}\s*,|{_LITERAL}\s*[,\]]))"
)
# Prose has numbers in brackets as footnote marks. One is JSON where it is all that stands on a
# line, between back-ticks or tags, or after a colon or comment.
_LONE_NUMBER_SET_APART = re.compile(
    rf"[\n:`>/](?<![^*]/)[ \t]*{_LONE_NUMBER}[ \t\r.]*(?:[\n`<]|\Z)"
)
_SECOND_TEXT = re.compile(
    rf"[\s,`~]*(?:json\s*)?(?:{_JSON_START.pattern}|\""
    rf"|(?:{_NUMBER}|\b{_LITERAL}|{_LONE_NUMBER}(?:\s*{_LONE_NUMBER})*)\s*(?:[,\n]|\Z))"
)
_NUMBER_LIKE = re.compile(r"-?[0-9][\w.%°+*/:€$£-]*|-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_SIGNED = re.compile(r"[+.-]\.?(?:[0-9]|inf|nan)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d]\w*")
_DIGITS = frozenset("0123456789")
_LITERALS = ("true", "false", "null")
_ELLIPSES = ("...", "…")
_NAMED_BY_CHARACTER = {
    ",": "missing_value",
    "\\": "invalid_escape",
    **dict.fromkeys("'`", "single_quotes"),
    **dict.fromkeys("“”‘’„«", "smart_quotes"),
}


def locate(text: str, name: str, message: str, offset: int, *, is_json: bool = False) -> Defect:
    """Make a defect with the line and column of its place."""
    error = json.JSONDecodeError(message, text, offset)
    near = _excerpt(text[offset : offset + _NEAR + 1])
    return Defect(name, str(error), offset, error.lineno, error.colno, is_json, near)


def too_deep(text: str, start: int, *, is_json: bool = True) -> Defect:
    """Nested deeper than MAX_DEPTH; the offset is that of the innermost bracket."""
    levels, offset = find_deepest(text, start)
    return locate(text, "too_deep", f"Nested {levels} levels deep", offset, is_json=is_json)


def too_large() -> Defect:
    """More characters or values than are read."""
    return Defect("too_large", f"Expected {DEFECTS['too_large'].replace('more than', 'at most')}")


def encoding(error: UnicodeDecodeError) -> Defect:
    """Bytes that are not UTF-8."""
    return Defect("encoding", str(error), error.start)


def out_of_range(text: str, offset: int) -> Defect:
    """A number that no double holds, or with too many digits."""
    return locate(text, "number_out_of_range", "Number out of range", offset, is_json=True)


def find_constant(text: str, body: str, start: int) -> Defect | None:
    """Locate the NaN or Infinity that Python's parser would take for a number."""
    for token, place in _find_tokens(_CONSTANT, body):
        return locate(text, "nan_or_infinity", f"{token} is not JSON", start + place)
    return None


def find_number(text: str, body: str, start: int) -> Defect | None:
    """Locate the number that is out of range."""
    for token, place in _find_tokens(_ANY_NUMBER, body):
        if read_number(token) is None:
            return out_of_range(text, start + place)
    return None


def find_lone_surrogate(text: str, body: str, start: int) -> Defect | None:
    """Locate half a surrogate pair, raw or escaped, in an otherwise good text."""
    for _, place in _find_tokens(_SURROGATE, body):
        return locate(text, "lone_surrogate", "Lone surrogate", start + place)
    return None


def _find_tokens(pattern: re.Pattern[str], body: str) -> Iterator[tuple[str, int]]:
    """Give what the pattern's group matches, and where."""
    return ((found[1], found.start()) for found in pattern.finditer(body) if found[1])


def find_duplicate_key(text: str) -> Defect | None:
    """Locate the first name that its object already has, in an otherwise good text."""
    names: list[set[str] | None] = []
    for token in _STRUCTURE.finditer(text):
        first = token[0][0]
        if first in "{[":
            names.append(set() if first == "{" else None)
        elif first in "}]":
            names.pop()
        elif names and names[-1] is not None and _COLON.match(text, token.end()):
            name = json.loads(token[0])
            if name in names[-1]:
                return locate(text, "duplicate_key", f"Duplicate key {name!r}", token.start())
            names[-1].add(name)
    return None


def explain(text: str, body: str, start: int, error: json.JSONDecodeError) -> Defect:
    """Name the defect behind an error that Python's parser raised on `text[start:]`, the body."""
    name = _classify(body.rstrip(" \t\n\r"), error.pos, error.msg)
    if error.doc is not text:
        error = json.JSONDecodeError(error.msg, text, min(start + error.pos, len(text)))
    reason, offset, line, column = str(error), error.pos, error.lineno, error.colno
    if error.msg.startswith("Illegal trailing comma"):
        # Python 3.13 points at the comma, older ones at what follows; offsets must not differ.
        rest = text[offset + 1 :]
        offset += 1 + len(rest) - len(rest.lstrip(" \t\n\r"))
        moved = json.JSONDecodeError("", text, offset)
        line, column = moved.lineno, moved.colno
    return Defect(name, reason, offset, line, column, near=_near(text, name, offset))


def _near(text: str, name: str, offset: int) -> str:
    """Return the text at a defect's place; of a text that stops its end, of prose its beginning."""
    if name == "truncated":
        end = text.rstrip()
        return end if len(end) <= _NEAR else f"...{end[-_NEAR:]}"
    if name == "prose_around":
        found = _JSON_START.search(text, offset, offset + _FAR)
        if found and found.start() > offset:
            return _excerpt(text[offset : found.start()].strip())
    begin = max(offset - _BEFORE, 0) if name in _IN_CONTEXT else offset
    return _excerpt(text[begin : begin + _NEAR + 1].lstrip())


def _excerpt(text: str) -> str:
    return text if len(text) <= _NEAR else f"{text[:_NEAR]}..."


def _classify(body: str, pos: int, message: str) -> str:
    """Tell defects apart by Python's message and the characters around the place."""
    if pos >= len(body) or message.startswith("Unterminated string"):
        return "truncated"
    if message.startswith("Invalid control character"):
        return "control_character"
    if message.startswith(("Invalid \\", "Invalid \\u")):
        tail = body[pos : pos + 7]
        return "truncated" if len(tail) < 6 and '"' not in tail else "invalid_escape"
    if message.startswith("Illegal trailing comma"):
        return "trailing_comma"
    if message.startswith("Unexpected UTF-8 BOM"):
        return "byte_order_mark"
    if message.startswith("Extra data"):
        return _classify_rest(body, pos)
    return _classify_token(body, pos, message)


def _classify_rest(body: str, pos: int) -> str:
    """Name what stands at `pos`, after a complete JSON text."""
    char = body[pos]
    if _NUMBER_LIKE.fullmatch(body):
        return "number"
    if body.startswith(("//", "/*", "#"), pos):
        return "comment"
    if char in "}]:":
        return "mismatched_bracket"
    if char == "," and pos + 1 == len(body):
        return "trailing_comma"
    if _SECOND_TEXT.match(body, pos):
        return "extra_data"
    return "prose_around" if body[0] in '{["' else _classify_prose(body)  # "1. First, ..."


def _classify_token(body: str, pos: int, message: str) -> str:
    """Name what stands at `pos`, inside the text, where something else was expected."""
    char = body[pos]
    expected = message.removeprefix("Expecting ").partition(" ")[0]
    if pos == 0:
        return _classify_start(body)
    if char == "#" or body.startswith(("//", "/*"), pos):
        return "comment"
    if body.startswith(_ELLIPSES, pos):
        return "ellipsis"
    if expected == "','":
        return _classify_neighbour(body, pos)
    if expected == "':'":
        return "missing_colon"
    if char in _NAMED_BY_CHARACTER:
        return _NAMED_BY_CHARACTER[char]
    if char in "}]":
        before = body[:pos].rstrip(" \t\n\r")[-1:]
        return {",": "trailing_comma", ":": "missing_value"}.get(before, "mismatched_bracket")
    if expected == "property":
        if char in _DIGITS and body[pos - 1] == "," and body[pos - 2] in _DIGITS:
            return "number"  # 1,000
        return "unquoted_key" if char.isalnum() or char in "_$" else "unexpected_character"
    return _classify_word(body, pos)


def _classify_neighbour(body: str, pos: int) -> str:
    """Name what stands where a comma or a closing bracket was expected."""
    if _continues_number(body, pos):
        rest = body[pos:]
        return "truncated" if rest in (".", "e", "E", "e+", "e-", "E+", "E-") else "number"
    if body[pos] in "}]:":
        return "mismatched_bracket"
    word = _WORD.match(body, pos)
    is_text = body[pos] in "(&–—" or (word is not None and word[0] not in _LITERALS)
    line = body[:pos].rstrip(" \t")
    if line.endswith('"'):
        if len(line) == pos:  # "the "large" one"
            is_text = body[pos] not in "\"{['" or line.endswith('""')
        return "unescaped_quote" if is_text else "missing_comma"
    return "number" if is_text and line[-1] in _DIGITS else "missing_comma"  # 5 kg


def _classify_start(body: str) -> str:
    """Name a text whose very first character cannot begin JSON."""
    word = _WORD.match(body)
    if body[0] == "\ufeff":
        return "byte_order_mark"
    if body[0] == "'" and body[-1] == "'":
        return "single_quotes"
    if body.startswith(("//", "/*", "#")) and _holds_json(body):
        return "comment"
    if body[0] in "}]":
        return "mismatched_bracket"
    if (word and word[0] == body) or _SIGNED.match(body):
        named = _classify_word(body, 0)
        if named != "bare_word":
            return named
    return _classify_prose(body)


def _classify_prose(body: str) -> str:
    return "prose_around" if _holds_json(body) else "prose"


def find_json(text: str) -> int | None:
    """Return where an object or array begins in a text; None where none does."""
    found = _JSON_START.search(text)
    return found.start() if found else None


def _holds_json(body: str) -> bool:
    return bool(_JSON_START.search(body) or ("]" in body and _LONE_NUMBER_SET_APART.search(body)))


def _classify_word(body: str, pos: int) -> str:
    """Name a word or sign that stands where a value was expected."""
    word = _WORD.match(body, pos)
    if word:
        text = word[0]
        if text in ("True", "False", "None"):
            return "python_literal"
        if text.lower() in ("nan", "inf", "infinity"):
            return "nan_or_infinity"
        if word.end() == len(body) and any(literal.startswith(text) for literal in _LITERALS):
            return "truncated"
        return "bare_word"
    if body.startswith(_ELLIPSES, pos):
        return "ellipsis"
    if body[pos:] == "-":
        return "truncated"
    if body[pos] in "+-.":
        after = body[pos + 1 : pos + 2]
        if after in _DIGITS or after == ".":
            return "number"
        return "nan_or_infinity" if body[pos + 1 : pos + 4].lower() in ("inf", "nan") else "number"
    return "unexpected_character"


def _continues_number(body: str, pos: int) -> bool:
    char = body[pos]
    return body[pos - 1] in _DIGITS and (char in "._%°+-*/:€$£" or char.isalnum())
