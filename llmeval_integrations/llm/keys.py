"""Keys that must not be shown: in options, headers, and the environment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

_SHORTEST: Final = 6
"""The length of the shortest real key; shorter ones, such as "-", occur in any text."""

_LONGEST: Final = 500
"""The length to which a message is cut, because a server may send a whole page."""

_KEY: Final = re.compile(
    r"(?i)(auth|authorization|bearer|cookie|credentials?|jwt|passphrase|passwd|password|pwd"
    r"|secrets?|sig|signature"
    r"|(access|api|master|private|secret|signing|subscription|auth)[_-]?key"
    r"|(access|api|auth|bearer|hf|id|refresh|security|session)[_-]?token)\Z"
)
"""The ends of field names whose values are keys."""

_SENT: Final = re.compile(r"(?i)(headers|query)\Z")
"""The ends of names of options whose values a gateway receives unchanged."""


def without_keys(
    value: Any, name: str = "", keys: list[str] | None = None, *, sent: bool = False
) -> Any:
    """Return the JSON value of the field `name` without its keys, which are added to `keys`.

    The values of headers and queries (`sent`) become digests, because any of them may choose the
    model.
    """
    keys = [] if keys is None else keys
    if isinstance(value, Mapping):
        sent = bool(_SENT.search(name))
        members = {str(key): each for key, each in value.items()}
        return {key: without_keys(each, key, keys, sent=sent) for key, each in members.items()}
    if isinstance(value, (list, tuple)):
        return [without_keys(each, name, keys, sent=sent) for each in value]
    if isinstance(value, str):
        is_long = sent or len(value) >= 20  # the short value of `eos_token` is not a key
        if _KEY.search(name) or (is_long and name.lower().endswith(("key", "token"))):
            keys += [value, value.split(" ")[-1]]  # "Bearer KEY"
            return "(hidden)"
    if sent:
        return f"(hidden, {sha256(json.dumps(value).encode()).hexdigest()[:8]})"
    return value


def keys_in(value: Any) -> list[str]:
    """Return the keys in a JSON value."""
    keys: list[str] = []
    without_keys(value, keys=keys)
    return keys


def censor(text: str, keys: Iterable[Any]) -> str:
    """Remove the keys from a text, then cut it: a key that is cut first would not be found."""
    stripped = {key.strip() for key in keys if isinstance(key, str)}
    for key in sorted(stripped, key=len, reverse=True):
        text = text.replace(key, "[key]") if len(key) >= _SHORTEST else text
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
