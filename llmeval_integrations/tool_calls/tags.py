"""Tags in a text: tool calls in `<tool_call>`, thoughts in `<think>`."""

from __future__ import annotations

import json
import re
from typing import Final

import msgspec

CALL, END_OF_CALL = "<tool_call>", "</tool_call>"
THOUGHT, END_OF_THOUGHT = "<think>", "</think>"

_MOST_READ_ANEW: Final = 8
"""How many calls that hold no JSON are read on beyond their closing tag: each costs as much as the
text behind it is long."""

_TAG: Final = re.compile(f"{CALL}|{THOUGHT}|{END_OF_THOUGHT}")
_SPACE: Final = re.compile(r"\s*")
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*")

# Only to see where a value ends, so numbers need no conversion.
raw_decode = json.JSONDecoder(parse_int=float).raw_decode
_validate = msgspec.json.Decoder(msgspec.Raw).decode


def skip_space(text: str, position: int) -> int:
    """Return where white space ends."""
    found = _SPACE.match(text, position)
    return found.end() if found else position


class CallTags:
    """Finds the ends of the calls in a text; a closing tag in a JSON string is none."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._wrong = 0

    def find_end(self, start: int) -> int:
        """Return where the content ends that begins at `start`, or -1 where nothing ends it.

        The closing tag may be missing behind the last call, since it often is the token at which
        the model's output ends.
        """
        end = self.text.find(END_OF_CALL, start)
        if self._wrong < _MOST_READ_ANEW and (end < 0 or not _is_json(self.text[start:end])):
            found = self._find_end_of_json(start)  # the tag may stand in a string
            self._wrong += found < 0
            return max(end, found)
        return end

    def _find_end_of_json(self, start: int) -> int:
        """Return the end of the JSON value at `start`, which may stand in a fence, or -1."""
        text, fence = self.text, _FENCE.match(self.text, start)
        try:
            _, end = raw_decode(text, fence.end() if fence else skip_space(text, start))
        except (ValueError, RecursionError):
            return -1
        end = skip_space(text, end)
        if fence and text.startswith("```", end):
            end = skip_space(text, end + 3)
        return end if end == len(text) or text.startswith(END_OF_CALL, end) else -1


def find_calls(text: str) -> list[str]:
    """Return what stands in each pair of tags; text around them and thoughts are skipped.

    `</think>` does not end thoughts in a JSON string. That thoughts begin may stand in the prompt:
    then what is before the first `</think>` is skipped, if a call follows it.
    """
    tags, last_end = CallTags(text), text.rfind(END_OF_THOUGHT)
    found: list[str] = []
    thoughts, begun = 0, False
    position = 0
    while tag := _TAG.search(text, position):
        position = tag.end()
        if tag[0] == THOUGHT and position <= last_end:
            begun = True
            position = text.index(END_OF_THOUGHT, position) + len(END_OF_THOUGHT)
        elif tag[0] == END_OF_THOUGHT and not begun:
            begun, thoughts = True, len(found)
        elif tag[0] == CALL:
            end = tags.find_end(position)
            content = text[position:] if end < 0 else text[position:end]
            inside = -1 if begun else _find_end_of_thought(content)
            if inside < 0:
                found.append(content)
                begun = begun or THOUGHT in content
                position += len(content)
            else:
                begun, thoughts = True, len(found)
                position += inside
    return found[thoughts:] or found


def _find_end_of_thought(content: str) -> int:
    """Return where thoughts end in what only looks like a call, with a call behind them, or -1."""
    end = content.find(END_OF_THOUGHT)
    if end < 0 or content.find(CALL, end) < 0 or THOUGHT in content[:end]:
        return -1
    return -1 if _is_json(content.strip()) else end


def _is_json(text: str) -> bool:
    try:
        _validate(text)
    except (ValueError, RecursionError):
        return False
    return True
