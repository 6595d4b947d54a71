"""The tokens of a JSON text that arrives in pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from llmeval_integrations.core.limits import MAX_DEPTH
from llmeval_integrations.json_values.numbers import UNREADABLE, decode

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(
    r'[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*'
)
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_WORD: Final = re.compile(r'[^ \t\n\r,:\[\]{}"`~]*')
_CLOSES: Final = {"{": "}", "[": "]"}

_FENCE: Final = re.compile(r"(?:`+|~+)[ \t]*[\w.+-]{0,40}[ \t]*\r?")
"""The first line of a fence. Any other first line can only be judged with the whole text."""


class Token(NamedTuple):
    """One token: a bracket, a name, a scalar, or a problem (`bad`, `too_deep`)."""

    kind: str
    value: Any
    end: int
    """How many characters of the text were read when the token was complete."""


class Tokens:
    """Reads tokens from chunks, and keeps an incomplete token for the next chunk."""

    def __init__(self, *, is_wrapped: bool) -> None:
        """`is_wrapped` allows white space, back-ticks or a fence around the JSON."""
        self._is_wrapped = self._leads = is_wrapped
        self._rest = ""
        self._offset = 0  # where the rest begins in the whole text
        self._pieces: list[str] = []  # the parts of the open string or word
        self._open = ""  # "string", "word" or nothing
        self._brackets: list[str] = []
        self._expects = "value"

    def feed(self, chunk: str) -> Iterator[Token]:
        """Yield the tokens that end in this chunk. A bad token is the last one."""
        text, self._rest = self._rest + chunk, ""
        position = self._skip_lead(text) if self._leads else 0
        while 0 <= position < len(text):
            if self._open == "string":
                token, position = self._read_string(text, position)
            elif self._open == "word":
                token, position = self._read_word(text, position)
            else:
                position = _find_end(_SPACE, text, position)
                if position == len(text):
                    break
                token, position = self._read_mark(text, position)
            if token is not None:
                yield token
        self._offset += len(text) - len(self._rest)

    def _skip_lead(self, text: str) -> int:
        """Return where the JSON begins after white space or the first line of a fence."""
        begin = _find_end(_SPACE, text, 0)
        line, newline, _ = text[begin:].partition("\n")
        if not line.startswith(("`", "~")):
            self._leads = begin == len(text)
            return begin
        if not _FENCE.fullmatch(line):
            self._leads, self._expects = False, "anything"
        elif newline:
            self._leads = False
            return begin + len(line) + 1
        else:
            self._rest = text
        return len(text)

    def _read_string(self, text: str, position: int) -> tuple[Token | None, int]:
        end = _find_end(_STRING, text, position)
        self._pieces.append(text[position:end])
        if end == len(text):
            return None, end
        if text[end] == '"':
            return self._finish('"' + "".join(self._pieces) + '"', end), end + 1
        escape = _ESCAPE.match(text, end)
        if escape is not None and escape.end() == len(text):
            self._rest = text[end:]
            return None, len(text)
        return self._refuse(text, end if escape is None else escape.end())

    def _read_word(self, text: str, position: int) -> tuple[Token | None, int]:
        end = _find_end(_WORD, text, position)
        self._pieces.append(text[position:end])
        if end == len(text):
            return None, end
        return self._finish("".join(self._pieces), end), end

    def _finish(self, written: str, end: int) -> Token:
        """Return the token of a complete string or word."""
        self._pieces, self._open = [], ""
        end += self._offset + 1
        try:
            value = decode(written)
        except UNREADABLE:
            return Token("bad", written, end)
        if self._expects in ("name", "name or end"):
            self._expects = "colon"
            return Token("name", value, end)
        self._expects = "comma or end" if self._brackets else "nothing"
        return Token("value", value, end)

    def _read_mark(self, text: str, position: int) -> tuple[Token | None, int]:
        """Read a separator, a bracket, or the beginning of a scalar."""
        mark, expects = text[position], self._expects
        behind, end = position + 1, self._offset + position + 1
        if expects == "anything" or (expects == "nothing" and self._is_wrapped and mark in "`~"):
            return None, behind
        if mark == ":" and expects == "colon":
            self._expects = "value"
            return None, behind
        if mark == "," and expects == "comma or end":
            self._expects = "name" if self._brackets[-1] == "}" else "value"
            return None, behind
        if mark in "}]" and expects.endswith("end") and self._brackets[-1] == mark:
            self._brackets.pop()
            self._expects = "comma or end" if self._brackets else "nothing"
            return Token(mark, None, end), behind
        if mark == '"' and expects in ("value", "value or end", "name", "name or end"):
            self._open = "string"
            return self._read_string(text, behind)
        if expects not in ("value", "value or end"):
            return self._refuse(text, position)
        if mark in _CLOSES:
            self._brackets.append(_CLOSES[mark])
            self._expects = "name or end" if mark == "{" else "value or end"
            kind = mark if len(self._brackets) <= MAX_DEPTH else "too_deep"
            return Token(kind, None, end), behind
        if mark in "-0123456789tfn":
            self._open = "word"
            return self._read_word(text, position)
        return self._refuse(text, position)

    def _refuse(self, text: str, position: int) -> tuple[Token, int]:
        return Token("bad", "", self._offset + position + 1), len(text)


def _find_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where the match ends. The pattern must be able to match an empty text."""
    return pattern.match(text, position).end()  # type: ignore[union-attr]
