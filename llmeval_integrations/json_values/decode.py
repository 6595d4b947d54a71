"""The parsers behind the three modes: a fast one, and Python's own, which explains."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

import msgspec

from llmeval_integrations.core.limits import MAX_DEPTH, MAX_DIGITS
from llmeval_integrations.json_values import defects
from llmeval_integrations.json_values.defects import Defect
from llmeval_integrations.json_values.numbers import exact_float, exact_int
from llmeval_integrations.json_values.size import (
    LARGE,
    SHORT,
    find_deepest,
    is_too_deep,
    may_have_long_integer,
    measure,
)

WHITE_SPACE: Final = " \t\n\r"

UNREADABLE: Final = (ValueError, RecursionError)
"""What the fast parser raises."""

validate = msgspec.json.Decoder(msgspec.Raw).decode
"""Reads no value: it raises where `decode` would, but for numbers out of range."""

_decode = msgspec.json.Decoder().decode

make_decoder = partial(json.JSONDecoder, parse_float=exact_float, parse_int=exact_int)
"""Makes a parser of Python's which raises NumberRangeError."""

decode_exactly = make_decoder().decode
"""Reads what `json.loads` reads: NaN and Infinity, the last of equal names."""

find_error = json.JSONDecoder(parse_int=str).decode
"""Raises what `json.loads` says of a text, whatever numbers it has."""


def decode(text: str) -> Any:
    """Read with the fast parser, which takes longer integers than we do."""
    value = _decode(text)
    if len(text) > MAX_DIGITS and may_have_long_integer(text):
        decode_exactly(text)  # which raises NumberRangeError
    return value


def refuse_byte_order_mark(text: str) -> None:
    """Raise the JSONDecodeError that `json.loads` raises where a text begins with one."""
    if text.startswith("\ufeff"):
        message = "Unexpected UTF-8 BOM (decode using utf-8-sig)"
        raise json.JSONDecodeError(message, text, 0)


def find_limit(text: str, start: int, body: str, value: Any) -> Defect | None:
    """Say which limit a text exceeds that was read from `body`, which begins at `start`."""
    if len(body) <= SHORT:
        return None
    if is_too_deep(body):
        return defects.too_deep(text, start)
    if len(body) > LARGE and measure(value) == "too_large":
        return defects.too_large()
    return None


def refuse_depth(text: str, start: int) -> Defect:
    """Return the defect of a text that is too deep for the parser.

    Raises RecursionError where it is not too deep: then the caller left no room on the stack.
    """
    if find_deepest(text, start)[0] <= MAX_DEPTH:
        raise RecursionError("no room on the stack to read JSON")
    return defects.too_deep(text, start, is_json=False)
