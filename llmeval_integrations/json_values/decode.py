"""The parsers behind the three modes: a fast one, and Python's own, which explains."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_DIGITS
from llmeval_integrations.json_values import defects
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.numbers import NumberRangeError, exact_float, exact_int
from llmeval_integrations.json_values.size import (
    LARGE,
    find_deepest,
    may_be_too_deep,
    may_have_long_integer,
    measure,
)

_Number = TypeVar("_Number", int, float)

WHITE_SPACE: Final = " \t\n\r"

UNREADABLE: Final = (ValueError, RecursionError)
"""What the fast parser raises."""

validate = msgspec.json.Decoder(msgspec.Raw).decode
"""Reads no value: it raises where `decode` would, but for numbers out of range."""

decode_short = msgspec.json.Decoder().decode
"""Reads a text that has no room for what exceeds a limit."""


def decode(text: str) -> Any:
    """Read with the fast parser; raise NumberRangeError for an integer that is too long."""
    value = decode_short(text)
    if len(text) > MAX_DIGITS and may_have_long_integer(text):
        decode_exactly(text)
    return value


def decode_exactly(text: str, **options: Any) -> Any:
    """Read what Python's JSONDecoder with these options reads.

    Raises its error, or NumberRangeError where all is JSON but for a number that is out of range.
    """
    errors: list[NumberRangeError] = []

    def number(read: Callable[[str], _Number]) -> Callable[[str], _Number | None]:
        def read_or_note(digits: str) -> _Number | None:
            try:
                return read(digits)
            except NumberRangeError as error:
                errors.append(error)
                return None

        return read_or_note

    value = json.JSONDecoder(
        parse_int=number(exact_int), parse_float=number(exact_float), **options
    ).decode(text)
    if errors:
        raise errors[0]
    return value


def refuse_byte_order_mark(text: str) -> None:
    """Raise the JSONDecodeError that `json.loads` raises where a text begins with one."""
    if text.startswith("\ufeff"):
        message = "Unexpected UTF-8 BOM (decode using utf-8-sig)"
        raise json.JSONDecodeError(message, text, 0)


def find_limit(text: str, start: int, body: str, value: Any) -> Defect | None:
    """Say which limit a text exceeds that was read from `body`, which begins at `start`."""
    if len(body) <= LARGE and not may_be_too_deep(body):
        return None
    limit = measure(value)
    if limit == "too_deep":
        return defects.too_deep(text, start)
    return defects.too_large() if limit else None


def refuse_depth(text: str, start: int) -> Defect:
    """Return the defect of a text that is too deep for the parser.

    Raises RecursionError where it is not too deep: then the caller left no room on the stack.
    """
    if find_deepest(text, start)[0] <= MAX_DEPTH:
        raise RecursionError("no room on the stack to read JSON")
    return defects.too_deep(text, start, is_json=False)
