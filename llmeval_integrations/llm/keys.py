"""Keys that must not be shown: in options and in the models of frameworks."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

HIDDEN: Final = "(hidden)"
"""What stands in the place of a key."""

_SHORTEST: Final = 6
"""Shorter ones, such as "-", stand for no key, and are found in any text."""

_KEY: Final = re.compile(
    r"(?i)(auth|authorization|bearer|cookie|credentials?|jwt|passphrase|passwd|password|pwd"
    r"|secrets?|sig|signature"
    r"|(access|api|master|private|secret|signing|subscription|auth)[_-]?key"
    r"|(access|api|auth|bearer|hf|id|refresh|security|session)[_-]?token)\Z"
)
"""Ends of names of keys."""

_SENT: Final = re.compile(r"(?i)(headers|query)\Z")
"""Names of what goes into each request as it is, with whatever a gateway wants there."""

_DEEPEST: Final = 8
"""How far models are followed into each other."""

_ADDRESSES: Final = ("base_url", "api_base", "openai_api_base", "anthropic_api_url")


def without_keys(value: Any, name: str = "", *, sent: bool = False) -> Any:
    """Return JSON, named `name`, without its keys.

    Values of headers and of queries, any of which may lead to another model, are told by a digest.
    """
    if isinstance(value, Mapping):
        inside = bool(_SENT.search(name))
        return {str(key): without_keys(each, str(key), sent=inside) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_keys(each, name, sent=sent) for each in value]
    if _is_key(name, value, sent=sent):
        return HIDDEN
    if sent:
        return f"(hidden, {sha256(json.dumps(value).encode()).hexdigest()[:8]})"
    return value


def keys_in(value: Any, name: str = "", *, sent: bool = False) -> list[str]:
    """Return the keys that stand in JSON."""
    return [key for key in _keys(value, name, sent) if len(key) >= _SHORTEST]


def keys_in_environment() -> list[str]:
    """Return the keys that vendors' SDKs find in the environment."""
    found = (key for name, key in os.environ.items() if name.endswith(("_KEY", "_TOKEN")))
    return [key for key in found if len(key) >= _SHORTEST]


def keys_of_model(model: Any, levels: int = _DEEPEST) -> list[str]:
    """Return the keys that a pydantic model and the models within it hold."""
    keys = []
    for value in _members(model):
        if hasattr(value, "get_secret_value"):
            keys.append(value.get_secret_value())
        elif levels and hasattr(type(value), "model_fields"):
            keys += keys_of_model(value, levels - 1)
        keys.append(getattr(value, "api_key", None))
    keys.append(getattr(model, "api_key", None))
    return [key for key in keys if isinstance(key, str) and len(key) >= _SHORTEST]


def address_of(model: Any) -> str | None:
    """Return where a framework's model asks, by its own field or by the SDK's object it holds."""
    places = [getattr(model, name, None) for name in _ADDRESSES]
    places += [getattr(each, "base_url", None) for each in _members(model)]
    return next((str(place) for place in places if type(place).__name__ in ("str", "URL")), None)


def describe(model: Any, levels: int = _DEEPEST) -> Any:
    """Say in JSON what a framework's model is made of: alike in every process, without its keys."""
    if model is None or isinstance(model, (str, bool, int, float)):
        return model
    if isinstance(model, Mapping):
        return without_keys({str(key): describe(each, levels) for key, each in model.items()})
    if isinstance(model, (list, tuple)):
        return [describe(each, levels) for each in model]
    kind = model if isinstance(model, type) or callable(model) else type(model)
    name = f"{kind.__module__}.{getattr(kind, '__qualname__', type(kind).__name__)}"
    fields = getattr(type(model), "model_fields", None)
    if not fields or not levels or hasattr(model, "get_secret_value"):
        return name
    members = {
        field: describe(vars(model).get(field), levels - 1)
        for field, about in fields.items()
        if not about.exclude
    }
    return [name, address_of(model), without_keys(members)]


def _members(model: Any) -> list[Any]:
    """Return what a pydantic model holds, its private attributes among it."""
    private = getattr(model, "__pydantic_private__", None) or {}
    return [*getattr(model, "__dict__", {}).values(), *private.values()]


def _is_key(name: str, value: Any, *, sent: bool) -> bool:
    if not isinstance(value, str):
        return False
    is_long = sent or len(value) >= 20  # `eos_token` is none
    return bool(_KEY.search(name)) or (is_long and name.lower().endswith(("key", "token")))


def _keys(value: Any, name: str, sent: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _keys(each, str(key), bool(_SENT.search(name)))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _keys(each, name, sent)
    elif _is_key(name, value, sent=sent):
        yield from (value, value.split(" ")[-1])  # "Bearer KEY"
