"""Calls in a text, each in `<tool_call>` tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import msgspec

OPENING, CLOSING = "<tool_call>", "</tool_call>"
_THINKING, _END_OF_THINKING = "<think>", "</think>"
_SPACE = " \t\n\r"
_FENCE: Final = re.compile(r"[ \t\n\r]*```(?:json)?[ \t\n\r]*")

_MOST_READ_ANEW: Final = 8
"""How many calls that hold no JSON are read on beyond their closing tag: each costs as much as the
text before it is long."""

# Only to see where a value ends, so numbers need no conversion.
_raw_decode = json.JSONDecoder(parse_int=float).raw_decode
_validate = msgspec.json.Decoder(msgspec.Raw).decode


def contents(text: str) -> Iterator[str]:
    """Yield what stands in each pair of tags; text around them and thoughts are skipped.

    A closing tag inside of a JSON string does not end the call, nor does `</think>` end thoughts
    there. That thoughts begin may stand in the prompt: then what is before the first `</think>`
    is skipped, if a call follows it. After the last call the tag may be missing, since it often
    is the token at which the model's output ends.
    """
    for start, end in _calls(text, _end_of_thinking(text)):
        yield text[start:end]


def _calls(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Yield where the content of each pair of tags begins and ends."""
    wrong, last_thoughts = 0, text.rfind(_END_OF_THINKING)
    while (opening := _next_opening(text, position, last_thoughts)) >= 0:
        start = opening + len(OPENING)
        end = text.find(CLOSING, start)
        if wrong < _MOST_READ_ANEW and (end < 0 or not _is_json(text[start:end])):
            found = _end_of_json(text, start)  # the tag may stand in a string
            wrong += found < 0
            end = max(end, found)
        position = end if end >= 0 else len(text)
        yield start, position


def _next_opening(text: str, position: int, last_thoughts: int) -> int:
    """Return where the next tag opens outside of thoughts, of which the last end there; or -1."""
    opening = text.find(OPENING, position)
    while opening >= 0:
        thinking = text.find(_THINKING, position, opening)
        if not 0 <= thinking < last_thoughts:
            return opening
        position = text.find(_END_OF_THINKING, thinking)
        if opening < position:
            opening = text.find(OPENING, position)
    return opening


def _end_of_thinking(text: str) -> int:
    """Return where thoughts end that begin in the prompt, or 0 where there are none."""
    end = text.find(_END_OF_THINKING)
    for start, stop in _calls(text, 0) if end >= 0 else ():
        if end < start:
            break
        if end < stop:
            is_said = text.find(OPENING, end, stop) < 0 or _end_of_json(text, start) >= 0
            if not is_said:  # a tag in thoughts, with no call behind it
                break
            end = text.find(_END_OF_THINKING, stop)
            if end < 0:
                return 0
    else:
        return 0
    return 0 if text.find(_THINKING, 0, end) >= 0 else end


def _is_json(text: str) -> bool:
    try:
        _validate(text)
    except (ValueError, RecursionError):
        return False
    return True


def _end_of_json(text: str, start: int) -> int:
    """Return the end of the JSON value at `start` where the closing tag follows, or -1.

    The value may stand in a fence.
    """
    fence = _FENCE.match(text, start)
    try:
        _, end = _raw_decode(text, fence.end() if fence else _skip_space(text, start))
    except (ValueError, RecursionError):
        return -1
    after = _skip_space(text, end)
    if fence and text.startswith("```", after):
        after = _skip_space(text, after + 3)
    return end if after == len(text) or text.startswith(CLOSING, after) else -1


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position
