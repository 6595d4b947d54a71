"""Where in two JSON texts is what evaluators name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from json import JSONDecoder
from typing import Any, Final

from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.equality import equal
from llmeval_integrations.json_values.pointer import escape
from llmeval_integrations.runs.rows import write_value

_LONGEST_VALUE: Final = 300
_LONGEST_POINTER: Final = 2_000
_MOST_PARTS: Final = 10_000
_POSITION: Final = re.compile("[0-9]{1,9}")
_OPENING: Final = re.compile(r"[{\[]")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_decoder: Final = JSONDecoder(parse_float=str, parse_int=str, strict=False)


def shown(value: Any) -> str:
    """Write a value for people, cut to 300 characters."""
    text = write_value(value).decode()
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def in_reference(
    named: Sequence[tuple[str, str | None]], output: Any, reference: Any
) -> list[str | None]:
    """Return the pointers in the reference of what one evaluator names, None where not sure.

    What is named has its pointer and, as `shown` writes it, the value that was expected, if any. In
    an array that was compared in any order the position may be the output's. After some thousand
    parts of items that were looked at nothing is sure any more.
    """
    search = _Search(dict(sorted(named, key=lambda each: each[1] is not None)), output, reference)
    found: list[str | None] = [None] * len(named)
    unsure: dict[tuple[str, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, (pointer, value) in enumerate(named):
        if value is None or len(pointer) > _LONGEST_POINTER:
            continue
        if search.is_the_same(pointer, value):
            found[number] = pointer
        else:
            unsure[_pattern(pointer)][value].append(number)
    for pattern, by_value in unsure.items():
        places = _by_value(pattern, reference)
        for value, numbers in by_value.items():
            left = [place for place in places[value] if place not in found]
            is_sure = len(left) <= len(numbers)  # else some of these match
            for number in numbers:
                pointer = named[number][0]
                for place in left:
                    if is_sure or search.fits(pointer, place):
                        found[number] = place
                        left.remove(place)
                        break
    return found


class _Search:
    """Looks whether items of output and reference are those that were compared."""

    def __init__(self, expected: Mapping[str, str | None], output: Any, reference: Any) -> None:
        self._expected = expected
        self._output = output
        self._reference = reference
        self._left = _MOST_PARTS

    def is_the_same(self, pointer: str, value: str) -> bool:
        """Whether a pointer is that of the value in the reference too."""
        its = _at(self._reference, pointer)
        if not _item(pointer, self._reference):
            return its is not MISSING  # no array is on the way
        return shown(its) == value and self.fits(pointer, pointer)

    def fits(self, pointer: str, place: str) -> bool:
        """Whether the item that a pointer is in would be that of the place, were it as expected."""
        here, there = _item(pointer, self._reference), _item(place, self._reference)
        is_alike = pointer[len(here) :] == place[len(there) :]
        output, reference = _at(self._output, here), _at(self._reference, there)
        return is_alike and self._would_be(output, reference, here)

    def _would_be(self, output: Any, reference: Any, place: str) -> bool:
        """Whether the output would be the reference if all that is named were as expected."""
        left = [(output, reference, place)]
        while left:
            one, other, place = left.pop()
            if place in self._expected:
                if self._expected[place] != (None if other is MISSING else shown(other)):
                    return False
                continue
            self._left -= 1 + _size(one) + _size(other)
            if self._left < 0 or len(place) > _LONGEST_POINTER:
                return False
            if names := {**_parts(one), **_parts(other)}:
                left += [
                    (_part(one, name), _part(other, name), f"{place}/{escape(name)}")
                    for name in names
                ]
            elif one is MISSING or other is MISSING or not equal(one, other):
                return False
        return True


def _item(pointer: str, reference: Any) -> str:
    """Return the pointer of the item of the outermost array; empty where there is no array."""
    place = ""
    for step in _steps(pointer):
        place += f"/{escape(step)}"
        if type(reference) is list:
            return place
        reference = _part(reference, step)
    return ""


def _at(value: Any, pointer: str) -> Any:
    for step in _steps(pointer):
        value = _part(value, step)
    return value


def _pattern(pointer: str) -> tuple[str, ...]:
    """Return the steps of a pointer, with `*` for every one that may be a position."""
    return tuple("*" if _POSITION.fullmatch(step) else step for step in _steps(pointer))


def _by_value(pattern: tuple[str, ...], reference: Any) -> dict[str, list[str]]:
    """Find all places in the reference that have this pattern, by what is there."""
    found = [("", reference)]
    for step in pattern:
        found = [
            (f"{place}/{escape(name)}", part)
            for place, whole in found
            for name, part in _parts(whole).items()
            if name == step or (step == "*" and _POSITION.fullmatch(name))
        ]
    places: dict[str, list[str]] = defaultdict(list)
    for place, part in found:
        places[shown(part)].append(place)
    return places


def _parts(value: Any) -> dict[str, Any]:
    """Return the members of an object, or the items of an array by position."""
    if type(value) is list:
        return {str(position): item for position, item in enumerate(value)}
    return value if type(value) is dict else {}


def _size(value: Any) -> int:
    return len(value) if type(value) in (dict, list) else 0


def _part(value: Any, step: str) -> Any:
    if type(value) is dict:
        return value.get(step, MISSING)
    if type(value) is list and _POSITION.fullmatch(step) and int(step) < len(value):
        return value[int(step)]
    return MISSING


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def offset(text: str, pointer: str) -> int | None:
    """Find where in a JSON text a pointer leads, or the end of the last object or array before.

    Gives None for the whole, and for a text that is not JSON.
    """
    opening = _OPENING.search(text)
    if not pointer or opening is None:
        return None
    at = opening.start()
    try:
        for step in _steps(pointer):
            if text[at] not in "{[":
                break
            at = _within(text, at, step)
    except (ValueError, IndexError, RecursionError):
        return None
    return at


def _within(text: str, at: int, step: str) -> int:
    """Find a member or item of the object or array that begins here, or else its end."""
    is_object = text[at] == "{"
    at = _after_space(text, at + 1)
    position = 0
    while text[at] not in "}]":
        name = str(position)
        if is_object:
            name, at = _decoder.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        if name == step:
            return at
        at = _after_space(text, _decoder.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _after_space(text, at + 1)
        position += 1
    return at


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
