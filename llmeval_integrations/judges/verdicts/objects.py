"""Finding the objects in a reply, each with its top-level members as they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from llmeval_integrations.core.errors import UnreadableJudgementError
from llmeval_integrations.judges.verdicts.spans import MASK

AROUND: Final = " \t\r\n\ufeff`~" + MASK
"""What stands around an object that a reply consists of."""

_STRIKES_OUT = re.compile(r"(?<!~)~~(?!~)")
_LANGUAGES = frozenset(("", "json", "json5", "jsonc", "python", "py", "javascript", "js"))
_START = re.compile(r"\{(?=\s*[\"'“”„«»‹「『‘`}\w])")
_SPACE_OR_COMMA = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*[:：]\s*")
_BARE_KEY = re.compile(r"[A-Za-z_][\w -]{0,60}(?=\s*:)")
_CUT_NAME = re.compile(r"\S([\w -]{0,60})[\s`]*\Z")
_BARE_VALUE = re.compile(r"[^\s,{}\[\]:\"'“”„«»]+(?:[ \t]+[^\s,{}\[\]:\"'“”„«»]+)*")
_IN_NESTED = re.compile(r"[\[\]{}\"']")
_QUOTED = {quote: re.compile(rf"{quote}(?:[^{quote}\\]|\\.)*{quote}", re.DOTALL) for quote in "\"'"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

# More than these are no judgement, and would cost a hostile text's reader seconds.
_MOST_ATTEMPTS = 1_000  # at reading what is not JSON; each error costs the way to it
_MOST_MEMBERS = 64
_MOST_NESTED = 20_000  # brackets and texts in one member

_CLOSING: Final = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": "”“",
    "”": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "‘": "’",
}
_WRAPPERS: Final = frozenset(
    ("arguments", "parameters", "evaluation", "judgement", "judgment", "assessment", "result")
)
_BESIDE: Final = frozenset(("name", "type", "id", "function", "tool"))
# A quotation mark ends a text only where a text can end, so that one inside may go unescaped; the
# next line's key stands for a comma.
_NEXT_KEY = r"[^\S\n]*\n\s*[\"'][\w -]{1,40}[\"']\s*:"
_END = {
    opening: re.compile(rf"\\.|[{closing}](?=\s*[,:：}}\]]|{_NEXT_KEY})", re.DOTALL)
    for opening, closing in _CLOSING.items()
}


class Members(dict[str, Any]):
    """An object of which each name that comes twice is known."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs
        """Names and values in their order."""


class FoundObject(msgspec.Struct, frozen=True):
    """One object in a text."""

    members: Members
    start: int
    """Where its opening brace stands."""

    end: int
    """Right behind its closing brace."""

    sound: bool
    """Whether it is JSON, so that what its texts hold is known to be text. Raw line breaks in
    them are let pass."""

    cut: bool = False
    """Whether the text ends before it does; then its members have their names only."""

    cut_name: str | None = None
    """What there is of a name that the text's end cuts."""


_decode_json = json.JSONDecoder(
    object_pairs_hook=Members, parse_int=float, strict=False
).raw_decode  # Python refuses integers of more than 4,300 digits, and no verdict is one


def find_objects(text: str, position: int = 0) -> Iterator[FoundObject]:
    """Find the outermost objects from a position on: JSON, else the like in other quotes or none.

    The last one may be cut by the text's end. What stands in it is not looked at: the verdict on
    one of several criteria may be whole where the verdict on all is lost.

    Raises UnreadableJudgementError where so many braces open nothing that looking further would
    take more than a few passes over the text.
    """
    attempts, patience = 0, 4 * len(text) + 20_000
    while start := _START.search(text, position):
        begin = start.start()
        found, reached = _read_json(text, begin)
        if found is None:
            attempts += 1
            patience -= reached - begin
            found, reached = _read_loosely(text, begin)
            patience -= 3 * (reached - begin)  # which takes that much longer
        if found is None:
            position = begin + 1
        else:
            yield found
            position = found.end
        if patience < 0 or attempts == _MOST_ATTEMPTS:
            raise UnreadableJudgementError("it has too many braces that open no JSON")


def find_sole_object(text: str) -> FoundObject | None:
    """Find the object that a text consists of; at most a fence stands around it."""
    body = text.strip(AROUND)
    start = body.find("{")
    if not body.endswith("}") or body[: max(start, 0)].strip().lower() not in _LANGUAGES:
        return None
    before = text.index(body)
    if _STRIKES_OUT.search(text, 0, before):
        return None
    found = next(find_objects(text[: before + len(body)], before), None)
    span = (before + start, before + len(body))
    return found if found and not found.cut and (found.start, found.end) == span else None


def _read_json(text: str, start: int) -> tuple[FoundObject | None, int]:
    """Read a JSON object, or tell how far it was followed."""
    try:
        members, end = _decode_json(text, start)
    except json.JSONDecodeError as error:
        return None, len(text) if error.msg.startswith("Unterminated") else error.pos
    except RecursionError:
        raise UnreadableJudgementError("it is nested too deeply") from None
    return FoundObject(_unwrapped(members), start, end, sound=True), end


def _unwrapped(members: Members) -> Members:
    """Return what a call of a tool, or an object named for a judgement, has inside, or the same."""
    names = [name for name, _ in members.pairs if name.lower() not in _BESIDE]
    inside = members[names[0]] if len(names) == 1 else None
    return inside if isinstance(inside, Members) and names[0].lower() in _WRAPPERS else members


def _read_loosely(text: str, start: int) -> tuple[FoundObject | None, int]:
    """Read an object with quotes of Python or of a language, commas too many, or bare words."""
    reader = _Reader(text, start + 1)
    try:
        members = reader.members()
    except _NoObjectError:
        if reader.position < len(text) or not (reader.names or reader.cut_name is not None):
            return None, reader.position
        members = Members([(name, None) for name in reader.names])
        found = FoundObject(members, start, len(text), False, True, reader.cut_name)
        return found, len(text)
    return FoundObject(members, start, reader.position, sound=False), reader.position


class _NoObjectError(Exception):
    """What was taken for an object is none, or is never closed."""


class _Reader:
    """Goes through an object once, from its opening brace on."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.names: list[str] = []
        """The keys that were read, each with its colon."""
        self.cut_name: str | None = None
        """What there is of a key in quotes that the text's end cuts."""

    def members(self) -> Members:
        """Read up to the closing brace."""
        members: list[tuple[str, Any]] = []
        while True:
            self._match(_SPACE_OR_COMMA)
            if self.text.startswith("}", self.position):
                self.position += 1
                return Members(members)
            key = self._key()
            self._match(_COLON)
            self.names.append(key)
            members.append((key, self._value()))
            if len(members) > _MOST_MEMBERS:
                raise _NoObjectError

    def _key(self) -> str:
        if not self._at_quote():
            return self._match(_BARE_KEY)
        if cut_name := _CUT_NAME.match(self.text, self.position):
            self.cut_name = cut_name[1]
        return self._quoted()

    def _at_quote(self) -> bool:
        return self.text[self.position : self.position + 1] in _END

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.position)
        if not found:
            raise _NoObjectError
        self.position = found.end()
        return found[0]

    def _value(self) -> str:
        """Read a text, a bare word, or the source of whatever is nested here."""
        if self._at_quote():
            return self._quoted()
        if self.text[self.position : self.position + 1] in ("{", "["):
            return self._nested()
        return self._match(_BARE_VALUE)

    def _quoted(self) -> str:
        triple = self.text[self.position : self.position + 3]
        if triple in ('"""', "'''"):
            start = self.position + 3
            end = self._move_to(self.text.find(triple, start))
            self.position += 3
            return _unescaped(self.text[start:end])
        pattern, start = _END[triple[0]], self.position + 1
        self.position = start
        while True:
            found = pattern.search(self.text, self.position)
            end = self._move_to(found.end() if found else -1)
            if found and not found[0].startswith("\\"):
                return _unescaped(self.text[start : end - 1])

    def _nested(self) -> str:
        start, depth = self.position, 0
        for _ in range(_MOST_NESTED):
            found = _IN_NESTED.search(self.text, self.position)
            self._move_to(found.start() if found else -1)
            mark = self.text[self.position]
            if mark in _QUOTED:
                self._match(_QUOTED[mark])
                continue
            self.position += 1
            depth += 1 if mark in "[{" else -1
            if not depth:
                return self.text[start : self.position]
        raise _NoObjectError

    def _move_to(self, position: int) -> int:
        """Go on to a place that was found; the text is used up where none was."""
        if position < 0:
            self.position = len(self.text)
            raise _NoObjectError
        self.position = position
        return position


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _ESCAPED.get(found[2], found[2])

    return _ESCAPE.sub(plain, text) if "\\" in text else text
