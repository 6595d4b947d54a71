"""Reading a text that is JSON and nothing else with Python's own parser, every number exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import InvalidOperation
from typing import Any

import msgspec

from llmeval_integrations.json_values.numbers import decode_as_python, exact_float, exact_int
from llmeval_integrations.json_values.partial import complete


class ConstantError(Exception):
    """NaN or Infinity was met."""


class DuplicateKeyError(Exception):
    """An object has a key twice."""


def _refuse_constant(name: str) -> Any:
    raise ConstantError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise DuplicateKeyError
    return members


# Without functions of ours it is twice as fast, and most texts that come here only fail.
_explain = json.JSONDecoder().decode
_explain_all = json.JSONDecoder(parse_int=str).decode
_explain_all_raw = json.JSONDecoder(parse_int=str, strict=False).decode
_exact = json.JSONDecoder(
    parse_float=exact_float, parse_int=exact_int, parse_constant=_refuse_constant
).decode
_with_raw_characters = json.JSONDecoder(
    parse_float=exact_float, parse_int=exact_int, strict=False
).decode
_fast = msgspec.json.Decoder().decode

loads_unique = json.JSONDecoder(
    parse_float=exact_float, parse_int=exact_int, object_pairs_hook=_unique
).decode
"""Reads a text; raises DuplicateKeyError where an object has a key twice."""


def loads(text: str) -> Any:
    """Read one RFC 8259 text; raises ConstantError for NaN and Infinity."""
    try:
        _explain(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer of more than 4,300 digits, behind which nothing was looked at
        _explain_all(text)
    return _exact(text)


def loads_as_python(text: str) -> Any:
    """Read what `json.loads` reads: NaN and Infinity, lone surrogates, the last of equal names."""
    refuse_byte_order_mark(text)
    return _decode_or_explain(text, decode_as_python, _explain_all)


def complete_raw(text: str) -> Any:
    """Read a text that may be truncated, with raw control characters in its strings."""
    return complete(text, _loads_raw)


def _loads_raw(text: str) -> Any:
    try:
        return _fast(text)
    except (ValueError, RecursionError):
        refuse_byte_order_mark(text)
        return _decode_or_explain(text, _with_raw_characters, _explain_all_raw)


def _decode_or_explain(
    text: str, decode: Callable[[str], Any], explain: Callable[[str], Any]
) -> Any:
    try:
        return decode(text)
    except InvalidOperation:  # a number beyond all bounds, behind which nothing was looked at
        explain(text)
        raise


def refuse_byte_order_mark(text: str) -> None:
    """Raise the JSONDecodeError that `json.loads` raises where a text begins with one."""
    if text.startswith("\ufeff"):
        message = "Unexpected UTF-8 BOM (decode using utf-8-sig)"
        raise json.JSONDecodeError(message, text, 0)
