"""Keys that must not be shown, found where others have put them."""

from __future__ import annotations

import os
from typing import Any, Final

_SHORTEST: Final = 6
"""Shorter ones stand for no key, and are found in any text."""


def keys_in_environment() -> list[str]:
    """Return the keys that vendors' SDKs find in the environment."""
    return _long(key for name, key in os.environ.items() if name.endswith(("_KEY", "_TOKEN")))


def keys_in_fields(model: Any) -> list[str]:
    """Return the keys that a pydantic model holds: secrets, and its own or its SDK's `api_key`."""
    held = [*vars(model).values(), *(getattr(model, "__pydantic_private__", None) or {}).values()]
    secrets = (getattr(value, "get_secret_value", None) for value in held)
    told = [secret() for secret in secrets if secret is not None]
    return _long([*told, *(getattr(place, "api_key", None) for place in (model, *held))])


def _long(found: Any) -> list[str]:
    return [key for key in found if isinstance(key, str) and len(key) >= _SHORTEST]
