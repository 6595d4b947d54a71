"""The items of a JSON array, read one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

import msgspec

_PART: Final = 2**18
"""Bytes that are read at a time."""

_CUT: Final = "Input data was truncated"
_BEHIND: Final = "JSON is malformed: trailing characters (byte "

_skip = msgspec.json.Decoder(msgspec.Raw).decode


class Before(NamedTuple):
    """How much stands before a part of a text."""

    size: int = 0
    """Bytes."""

    lines: int = 0
    """Line breaks."""

    columns: int = 0
    """Characters behind the last of them."""

    def then(self, text: bytes) -> Before:
        """Return how much it is with this text behind it."""
        lines, last = text.count(b"\n"), text[text.rfind(b"\n") + 1 :]
        columns = len(last.decode(errors="replace"))
        return Before(
            self.size + len(text), self.lines + lines, columns if lines else self.columns + columns
        )


class ArrayItems:
    """The texts of the items of an array, of which a part at a time is in memory.

    They are those with a comma behind them. The last one is left with what follows it, and so is
    all from an item on that is not plainly JSON.
    """

    def __init__(self, text: bytes, handle: BinaryIO, before: Before) -> None:
        """Begin with a text that begins with the opening bracket; `handle` reads on behind it."""
        self.before = before.then(text[:1])
        """How much has been passed."""
        self._text = text
        self._at = 1
        self._handle = handle

    def __iter__(self) -> Iterator[bytes]:
        while (comma := self._comma()) is not None:
            item = self._text[self._at : comma]
            self.before = self.before.then(self._text[self._at : comma + 1])
            self._at = comma + 1
            yield item

    def rest(self) -> bytes:
        """Return all that is left."""
        return self._text[self._at :] + self._handle.read()

    def _comma(self) -> int | None:
        """Find the comma behind the next item; None where there is none."""
        while True:
            try:
                _skip(memoryview(self._text)[self._at :])
            except (ValueError, RecursionError) as error:
                said = str(error)
                if said.startswith(_BEHIND):
                    end = self._at + int(said[len(_BEHIND) : -1]) - 1
                    return end if self._text[end] == ord(",") else None
                if said != _CUT:
                    return None
            if not self._read_on():
                return None

    def _read_on(self) -> bool:
        """Read as much again as is kept, so that a long item is not looked at often."""
        kept = self._text[self._at :]
        more = self._handle.read(max(_PART, len(kept)))
        self._text, self._at = kept + more, 0
        return bool(more)
