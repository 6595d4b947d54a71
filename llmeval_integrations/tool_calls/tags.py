"""Tags in a text: tool calls in `<tool_call>`, thoughts in `<think>`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import msgspec

OPENING, CLOSING = "<tool_call>", "</tool_call>"
THINKING, END_OF_THINKING = "<think>", "</think>"

_FEW_BRACKETS: Final = 64
_MOST_READ_ANEW: Final = 8
"""How many calls that hold no JSON are read on beyond their closing tag: each costs as much as the
text behind it is long."""

_SPACE: Final = re.compile(r"\s*")
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*")

# Only to see where a value ends, so numbers need no conversion.
raw_decode = json.JSONDecoder(parse_int=float).raw_decode
_validate = msgspec.json.Decoder(msgspec.Raw).decode


def find_tag(text: str, tag: str, start: int = 0) -> int:
    """Find a tag from `start` on, or give -1.

    Going from one bracket to the next is up to ten times faster than looking for the tag in prose,
    where brackets are few.
    """
    position = text.find("<", start)
    tried = 0
    while position >= 0 and not text.startswith(tag, position):
        if tried == _FEW_BRACKETS:
            return text.find(tag, position)
        tried += 1
        position = text.find("<", position + 1)
    return position


def skip_space(text: str, position: int) -> int:
    """Return where white space ends."""
    found = _SPACE.match(text, position)
    return found.end() if found else position


class CallTags:
    """Finds the ends of the calls in a text; a closing tag in a JSON string is none."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._wrong = 0

    def end(self, start: int) -> int:
        """Return where the content ends that begins at `start`, or -1 where nothing ends it.

        The closing tag may be missing behind the last call, since it often is the token at which
        the model's output ends.
        """
        end = self.text.find(CLOSING, start)
        if self._wrong < _MOST_READ_ANEW and (end < 0 or not _is_json(self.text[start:end])):
            found = self._end_of_json(start)  # the tag may stand in a string
            self._wrong += found < 0
            return max(end, found)
        return end

    def _end_of_json(self, start: int) -> int:
        """Return the end of the JSON value at `start`, which may stand in a fence, or -1."""
        text, fence = self.text, _FENCE.match(self.text, start)
        try:
            _, end = raw_decode(text, fence.end() if fence else skip_space(text, start))
        except (ValueError, RecursionError):
            return -1
        end = skip_space(text, end)
        if fence and text.startswith("```", end):
            end = skip_space(text, end + 3)
        return end if end == len(text) or text.startswith(CLOSING, end) else -1


def contents(text: str) -> Iterator[str]:
    """Yield what stands in each pair of tags; text around them and thoughts are skipped.

    `</think>` does not end thoughts in a JSON string. That thoughts begin may stand in the prompt:
    then what is before the first `</think>` is skipped, if a call follows it.
    """
    for start, end in _calls(text, _end_of_thinking(text)):
        yield text[start:end]


def _calls(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Yield where the content of each pair of tags begins and ends."""
    tags, last_thoughts = CallTags(text), text.rfind(END_OF_THINKING)
    while (opening := _next_opening(text, position, last_thoughts)) >= 0:
        start = opening + len(OPENING)
        end = tags.end(start)
        position = end if end >= 0 else len(text)
        yield start, position


def _next_opening(text: str, position: int, last_thoughts: int) -> int:
    """Return where the next tag opens outside of thoughts, of which the last end there; or -1."""
    opening = text.find(OPENING, position)
    while opening >= 0:
        thinking = text.find(THINKING, position, opening)
        if not 0 <= thinking < last_thoughts:
            return opening
        position = text.find(END_OF_THINKING, thinking)
        if opening < position:
            opening = text.find(OPENING, position)
    return opening


def _end_of_thinking(text: str) -> int:
    """Return where thoughts end that begin in the prompt, or 0 where there are none."""
    end = text.find(END_OF_THINKING)
    for start, stop in _calls(text, 0) if end >= 0 else ():
        if end < start:
            break
        if end < stop:  # within a call, or a tag in thoughts with no call behind it
            if text.find(OPENING, end, stop) >= 0 and not _is_json(text[start:stop].strip()):
                break
            end = text.find(END_OF_THINKING, stop)
            if end < 0:
                return 0
    else:
        return 0
    return 0 if text.find(THINKING, 0, end) >= 0 else end


def _is_json(text: str) -> bool:
    try:
        _validate(text)
    except (ValueError, RecursionError):
        return False
    return True
