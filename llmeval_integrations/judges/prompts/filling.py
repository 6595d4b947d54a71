"""Putting values into a template."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

import msgspec

from llmeval_integrations.core.errors import InputError, MissingFieldError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.python_values import dump_model
from llmeval_integrations.judges.prompts.template import Body, Hole, Section
from llmeval_integrations.messages.reading import find_messages

MAX_LENGTH: Final = 100_000_000
"""The longest text that a template may become, in characters."""

MAX_STEPS: Final = 1_000_000
"""The most pieces of text that sections may write; nested ones multiply them."""

_MOST_NAMES: Final = 50  # that a message lists


def fill(body: Body, variables: Mapping[str, Any]) -> str:
    """Write a template with its values, which are not looked into for variables of their own.

    Raises MissingFieldError for a name without a value, InputError for a value that is neither
    text nor JSON and for a text beyond MAX_LENGTH or MAX_STEPS.
    """
    page = _Page()
    page.write(body, (variables,))
    return "".join(page.pieces)


class _Page:
    """A text in the making."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.steps = 0

    def write(self, body: Body, scopes: tuple[Any, ...]) -> None:
        for node in body:
            if isinstance(node, str):
                self._add(node)
            elif isinstance(node, Hole):
                self._add(as_text(_value(node, scopes), node.label))
            else:
                self._write_section(node, scopes)

    def _write_section(self, section: Section, scopes: tuple[Any, ...]) -> None:
        items = _items(_find(section.path, scopes), ".".join(section.path))
        if section.inverted:
            if not items:
                self.write(section.body, scopes)
            return
        for item in items:
            self.steps += 1 + len(section.body)
            self._check()
            self.write(section.body, (*scopes, item))

    def _add(self, text: str) -> None:
        self.length += len(text)
        self._check()
        self.pieces.append(text)

    def _check(self) -> None:
        if self.length > MAX_LENGTH or self.steps > MAX_STEPS:
            raise InputError(
                f"prompt: with these values it is longer than {MAX_LENGTH} characters, or its "
                f"sections have more than {MAX_STEPS} pieces"
            )


def _find(path: tuple[str, ...], scopes: tuple[Any, ...]) -> Any:
    """Look a path up, its first name in the innermost scope that has it; MISSING if it is nowhere.

    Only what a mapping holds under a key, and a list under a number, is ever looked at.
    """
    if not path:
        return scopes[-1]
    for scope in reversed(scopes):
        if isinstance(scope, Mapping) and path[0] in scope:
            value = scope[path[0]]
            break
    else:
        return MISSING
    for step in path[1:]:
        value = _inside(value, step)
    return value


def _inside(value: Any, step: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(step, MISSING)
    is_index = step.isascii() and step.isdigit() and len(step) < 10
    if isinstance(value, (list, tuple)) and is_index and int(step) < len(value):
        return value[int(step)]
    return MISSING


def _value(hole: Hole, scopes: tuple[Any, ...]) -> Any:
    value = _find(hole.path, scopes)
    if value is not MISSING:
        return value
    inside = _find(hole.path[:1], scopes)
    if inside is MISSING:
        names = [name for scope in scopes if isinstance(scope, Mapping) for name in scope]
        raise MissingFieldError(missing([hole.label], names))
    raise MissingFieldError(
        f"prompt: no value for {quote(hole.label)}: {hole.path[0]} is of type "
        f"{type(inside).__name__}; a dot walks mappings by key and lists by number, "
        "and never reaches an attribute"
    )


def missing(names: Iterable[str], given: Iterable[Any]) -> str:
    """Say which variables have no value, and which have."""
    known = list(dict.fromkeys(given))
    listed = ", ".join(map(quote, known[:_MOST_NAMES])) or "none"
    if len(known) > _MOST_NAMES:
        listed += f" and {len(known) - _MOST_NAMES} more"
    return f"prompt: no value for {', '.join(map(quote, names))}; given: {listed}"


def _items(value: Any, label: str) -> list[Any] | tuple[Any, ...]:
    """Return what a section is written for: each item of a list, any other true value once."""
    if hasattr(type(value), "tolist"):  # arrays of numbers, and columns
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return value
    if value is MISSING or value is None:
        return ()
    if isinstance(value, (str, int, float, Mapping)):
        return (value,) if value else ()
    if callable(value):
        as_text(value, label)  # which raises for a function: other libraries would call it
    return (value,)


def as_text(value: Any, label: str) -> str:
    """Write a value: text as it is, everything else as JSON with its characters unescaped.

    Beside JSON's own types that is mappings, dataclasses, pydantic models (by their aliases, as for
    `JsonFields`), msgspec structs, enums, decimals, dates, UUIDs, and what has a `tolist`, as
    arrays have. Raises InputError, which names the type, for anything else, NaN and infinity among
    it.
    """
    if isinstance(value, str):
        return str.__str__(value)
    value = _message_text(value)
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except RecursionError:
        raise InputError(f"prompt: the value of {quote(label)} is nested too deeply") from None
    except Exception as error:
        raise InputError(
            f"prompt: the value of {quote(label)}, of type {type(value).__name__}, is neither "
            f"text nor JSON: {str(error)[:200]}"
        ) from error


def _message_text(value: Any) -> Any:
    """Return the text of one message, or of a response; any other value as it is."""
    if isinstance(value, (Mapping, list, tuple, Iterator)):
        return value
    found = find_messages(value)
    return value if found is None else found.reply.text


def _plain(value: Any) -> Any:
    """Return a value in JSON's own types, or one step nearer to them."""
    kind = type(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(kind, "model_dump"):
        return dump_model(value)
    if hasattr(kind, "tolist"):
        return value.tolist()
    if hasattr(kind, "isoformat"):
        return value.isoformat()
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    raise TypeError(f"{kind.__name__} is not JSON")
