"""One tool call, and helpers for the objects that calls are read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias

import msgspec

from llmeval_integrations.core.quote import quote

Fields: TypeAlias = Mapping[str, Any]


class ToolCall(msgspec.Struct, frozen=True):
    """The name of a tool, and the arguments for it."""

    name: str
    """The name; empty if `problem` says why there is none."""

    arguments: dict[str, Any] = {}
    """The arguments by name, as JSON values."""

    id: str | None = None
    """The id that the model's API gives the call."""

    problem: str | None = None
    """Why the arguments cannot be read, or why this is not a call."""


class RawCall(NamedTuple):
    """A call as an API writes it; its arguments may still be a text."""

    name: str
    arguments: Any = None
    id: str | None = None
    problem: str | None = None


Part: TypeAlias = RawCall | str
"""A call, or a text that the model wrote."""


def no_call(value: Any) -> RawCall:
    """Return a call whose problem is that the value is not a call."""
    return RawCall("", problem=f"not a tool call: {quote(value)}")


def fields_of(value: Any) -> Fields:
    """Return the members of a JSON object, or the fields of an object of an SDK or framework."""
    if type(value) is dict:  # the most frequent case; asking for a Mapping takes ten times as long
        return value
    if value is None or isinstance(value, (str, list, type)):
        return {}
    if isinstance(value, Mapping):
        return value
    if not (is_dataclass(value) or hasattr(value, "model_dump")):
        return {}
    if not hasattr(value, "__dict__"):
        return {one.name: getattr(value, one.name, None) for one in fields(value)}
    extra = getattr(value, "__pydantic_extra__", None)  # fields that an SDK does not know yet
    return {**vars(value), **(extra or {})}


def type_of(value: Fields) -> str:
    """Return the type that a block or message names, or an empty text."""
    return text_in(value, "type", "block_type", "part_kind")


def text_in(value: Fields, *names: str) -> str:
    """Return the first text under these names that is not empty, or an empty text."""
    for name in names:
        text = value.get(name)
        if text and isinstance(text, str):
            return text
    return ""


def list_in(value: Fields, name: str) -> list[Any]:
    """Return the list under a name, or an empty list."""
    found = value.get(name)
    return [*found] if isinstance(found, (list, tuple)) else []
