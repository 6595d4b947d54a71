"""Where in two JSON texts is what evaluators name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from json import JSONDecoder
from typing import Any, Final

from llmeval_integrations.json_pointer import escape
from llmeval_integrations.json_value import equal
from llmeval_integrations.runs.rows import write_value
from llmeval_integrations.sample import MISSING

_LONGEST_VALUE: Final = 300
_LONGEST_POINTER: Final = 2_000
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
    an array that was compared in any order the position may be the output's.
    """
    found: list[str | None] = [None] * len(named)
    expected = dict(sorted(named, key=lambda each: each[1] is not None))
    unsure: dict[tuple[str, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, (pointer, value) in enumerate(named):
        if value is None or len(pointer) > _LONGEST_POINTER:
            continue
        if _is_the_same(pointer, value, output, reference, expected):
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
                    if is_sure or _fits(pointer, place, output, reference, expected):
                        found[number] = place
                        left.remove(place)
                        break
    return found


def _is_the_same(
    pointer: str, value: str, output: Any, reference: Any, expected: Mapping[str, str | None]
) -> bool:
    """Whether a pointer is that of the value in the reference too."""
    its = _at(reference, pointer)
    if not _item(pointer, reference):
        return its is not MISSING  # no array is on the way
    return shown(its) == value and _fits(pointer, pointer, output, reference, expected)


def _fits(
    pointer: str, place: str, output: Any, reference: Any, expected: Mapping[str, str | None]
) -> bool:
    """Whether the item that a pointer is in would be that of the place, were it as expected."""
    here, there = _item(pointer, reference), _item(place, reference)
    is_alike = pointer[len(here) :] == place[len(there) :]
    return is_alike and _would_be(_at(output, here), _at(reference, there), here, expected)


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


def _would_be(output: Any, reference: Any, place: str, expected: Mapping[str, str | None]) -> bool:
    """Whether the output would be the reference if all that is named were as expected."""
    left = [(output, reference, place)]
    while left:
        one, other, place = left.pop()
        if place in expected:
            if expected[place] != (None if other is MISSING else shown(other)):
                return False
        elif names := {**_parts(one), **_parts(other)}:
            if len(place) > _LONGEST_POINTER:
                return False
            left += [
                (_part(one, name), _part(other, name), f"{place}/{escape(name)}") for name in names
            ]
        elif one is MISSING or other is MISSING or not equal(one, other):
            return False
    return True


def _pattern(pointer: str) -> tuple[str, ...]:
    """Return the steps of a pointer, with `*` for every one that may be a position."""
    return tuple("*" if step.isdecimal() else step for step in _steps(pointer))


def _by_value(pattern: tuple[str, ...], reference: Any) -> dict[str, list[str]]:
    """Find all places in the reference that have this pattern, by what is there."""
    found = [("", reference)]
    for step in pattern:
        found = [
            (f"{place}/{escape(name)}", part)
            for place, whole in found
            for name, part in _parts(whole).items()
            if name == step or (step == "*" and name.isdecimal())
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


def _part(value: Any, step: str) -> Any:
    if type(value) is dict:
        return value.get(step, MISSING)
    if type(value) is list and step.isdecimal() and int(step) < len(value):
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
