"""Calls in a text, each in `<tool_call>` tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import msgspec

OPENING, CLOSING = "<tool_call>", "</tool_call>"
_END_OF_THINKING = "</think>"
_SPACE = " \t\n\r"
_FENCE: Final = re.compile(r"[ \t\n\r]*```(?:json)?[ \t\n\r]*")

_MOST_READ_ANEW: Final = 8
"""How many calls that hold no JSON are read on beyond their closing tag: each costs as much as the
text before it is long."""

# Only to see where a value ends, so numbers need no conversion.
_raw_decode = json.JSONDecoder(parse_int=float).raw_decode
_validate = msgspec.json.Decoder(msgspec.Raw).decode


def contents(text: str) -> Iterator[str]:
    """Yield what stands in each pair of tags; text around them, and before `</think>`, is skipped.

    A closing tag inside of a JSON string does not end the call, nor does `</think>` end thoughts
    there; that these begin may stand in the prompt. After the last call the tag may be
    missing, since it often is the token at which the model's output ends.
    """
    position = text.find(OPENING, max(_end_of_thinking(text), 0))
    wrong = 0
    while position >= 0:
        start = position + len(OPENING)
        end = text.find(CLOSING, start)
        if wrong < _MOST_READ_ANEW and (end < 0 or not _is_json(text[start:end])):
            found = _end_of_json(text, start)  # the tag may stand in a string
            wrong += found < 0
            end = max(end, found)
        if end < 0:
            yield text[start:]
            return
        yield text[start:end]
        position = text.find(OPENING, end)


def _end_of_thinking(text: str) -> int:
    """Return where a model begins to answer, or -1."""
    end = text.find(_END_OF_THINKING)
    call = text.rfind(OPENING, 0, end) if end >= 0 else -1
    is_said = call >= 0 and _end_of_json(text, call + len(OPENING)) > end
    return -1 if is_said and not text.lstrip().startswith("<think>") else end


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
