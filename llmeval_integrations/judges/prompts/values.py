"""Values in a template: text as it is, everything else as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from llmeval_integrations.core.errors import InputError, MissingFieldError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.core.sample import MISSING
from llmeval_integrations.json_values.python_values import dump_model
from llmeval_integrations.judges.prompts.template import Body, Section
from llmeval_integrations.messages.reading import find_messages


def fill(body: Body, scopes: Sequence[Any]) -> str:
    """Write a template with its values, which are not looked into for variables of their own.

    Raises MissingFieldError for a name without a value, InputError for a value that is neither
    text nor JSON.
    """
    pieces: list[str] = []
    for node in body:
        if isinstance(node, str):
            pieces.append(node)
            continue
        value, name = _find(node.path, scopes), ".".join(node.path) or "."
        if isinstance(node, Section):
            items = _items(value, name)
            if node.inverted:
                items = [] if items else [scopes[-1]]
            pieces += [fill(node.body, (*scopes, item)) for item in items]
        elif value is MISSING:
            raise _word_missing(node.path, scopes)
        else:
            pieces.append(as_text(value, name))
    return "".join(pieces)


def _find(path: tuple[str, ...], scopes: Sequence[Any]) -> Any:
    """Look a path up, its first name in the innermost scope that has it; MISSING if it is nowhere.

    Only what a mapping holds under a key, and a list under a number, is ever looked at.
    """
    if not path:
        return scopes[-1] if len(scopes) > 1 else MISSING  # {{.}} is the item of a section
    value = next((s for s in reversed(scopes) if isinstance(s, Mapping) and path[0] in s), None)
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step, MISSING)
        elif isinstance(value, (list, tuple)) and step.isdecimal() and len(step) < 10:
            value = value[int(step)] if int(step) < len(value) else MISSING
        else:
            return MISSING
    return value


def _word_missing(path: tuple[str, ...], scopes: Sequence[Any]) -> MissingFieldError:
    inside = _find(path[:1], scopes)
    name = ".".join(path) or "."
    if inside is not MISSING:
        return MissingFieldError(
            f"prompt: no value for {quote(name)}: {path[0]} is of type {type(inside).__name__}; a "
            "dot walks mappings by key and lists by number, and never reaches an attribute"
        )
    names = dict.fromkeys(key for scope in scopes if isinstance(scope, Mapping) for key in scope)
    given = ", ".join(map(quote, [*names][:50])) or "none"
    return MissingFieldError(f"prompt: no value for {quote(name)}; given: {given}")


def _items(value: Any, name: str) -> Sequence[Any]:
    """Return what a section is written for: each item of a list, any other true value once."""
    if hasattr(type(value), "tolist"):  # arrays of numbers, and columns
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return value
    if value is MISSING or value is None:
        return ()
    if callable(value):
        as_text(value, name)  # which raises for a function: other libraries would call it
    return (value,) if value or not isinstance(value, (str, int, float, Mapping)) else ()


def as_text(value: Any, name: str) -> str:
    """Write a value: text as it is, everything else as JSON with its characters unescaped.

    Raises InputError, which names the type, for what is neither, NaN and infinity among it.
    """
    if not isinstance(value, (str, Mapping, list, tuple, Iterator)):
        found = find_messages(value)  # one message, or a response
        value = value if found is None else found.reply.text
    if isinstance(value, str):
        return str.__str__(value)  # of an enum's member, its value
    try:
        plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_plain)
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except Exception as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise InputError(
            f"prompt: the value of {quote(name)}, of type {type(value).__name__}, is neither "
            f"text nor JSON: {why}"
        ) from error


def _plain(value: Any) -> Any:
    """Return a value that msgspec does not know, one step nearer to JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(type(value), "model_dump"):
        return dump_model(value)
    if hasattr(type(value), "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")
