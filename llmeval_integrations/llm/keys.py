"""Keys that must not be shown: in options, headers, and the environment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

HIDDEN: Final = "(hidden)"
"""What stands in the place of a key."""

_SHORTEST: Final = 6
"""Shorter ones, such as "-", stand for no key, and are found in any text."""

_LONGEST: Final = 500
"""The most characters of a message that are kept; a server may send a page."""

_KEY: Final = re.compile(
    r"(?i)(auth|authorization|bearer|cookie|credentials?|jwt|passphrase|passwd|password|pwd"
    r"|secrets?|sig|signature"
    r"|(access|api|master|private|secret|signing|subscription|auth)[_-]?key"
    r"|(access|api|auth|bearer|hf|id|refresh|security|session)[_-]?token)\Z"
)
"""Ends of names of keys."""

_SENT: Final = re.compile(r"(?i)(headers|query)\Z")
"""Names of what goes into each request as it is, with whatever a gateway wants there."""


def without_keys(value: Any, name: str = "", keys: list[str] | None = None) -> Any:
    """Return JSON, named `name`, without its keys, which are added to `keys`.

    Values of headers and of queries, any of which may lead to another model, are told by a digest.
    """
    return _hide(value, name, [] if keys is None else keys, sent=False)


def _hide(value: Any, name: str, keys: list[str], *, sent: bool) -> Any:
    if isinstance(value, Mapping):
        inside = bool(_SENT.search(name))
        return {str(key): _hide(each, str(key), keys, sent=inside) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hide(each, name, keys, sent=sent) for each in value]
    if isinstance(value, str):
        is_long = sent or len(value) >= 20  # `eos_token` is none
        if _KEY.search(name) or (is_long and name.lower().endswith(("key", "token"))):
            keys += [value, value.split(" ")[-1]]  # "Bearer KEY"
            return HIDDEN
    if sent:
        return f"(hidden, {sha256(json.dumps(value).encode()).hexdigest()[:8]})"
    return value


def keys_in(value: Any) -> list[str]:
    """Return the keys that stand in JSON."""
    keys: list[str] = []
    without_keys(value, keys=keys)
    return keys


def censor(text: str, keys: Iterable[Any]) -> str:
    """Return a text without the keys, and then cut: a part of a key would not be found."""
    stripped = {key.strip() for key in keys if isinstance(key, str)}
    for key in sorted(stripped, key=len, reverse=True):
        text = text.replace(key, "[key]") if len(key) >= _SHORTEST else text
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
