"""Keys that must not be shown, found where others have put them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final
from urllib.parse import unquote

HIDDEN: Final = "(hidden)"
"""What stands in the place of a key."""

_SHORTEST: Final = 6
"""Shorter ones stand for no key, and are found in any text."""

_DEEPEST: Final = 8
"""How far models are followed into each other."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_SECRET: Final = frozenset(
    ("auth", "authorization", "bearer", "cookie", "credential", "credentials", "jwt", "passphrase",
     "passwd", "password", "pwd", "secret", "secrets", "sig", "signature")
)  # fmt: skip
"""Words that names of keys end in."""

_KEYS: Final = frozenset(
    ("accesskey", "accesstoken", "apikey", "apitoken", "authkey", "authtoken", "bearertoken",
     "idtoken", "masterkey", "privatekey", "refreshtoken", "secretkey", "securitytoken",
     "sessiontoken", "signingkey", "subscriptionkey")
)  # fmt: skip
"""The same of two words, or written as one: `aws_secret_access_key` ends so."""

_SHORT: Final = frozenset(("key", "token"))
"""Words that may tell of a key, as in `hf_token`, or of none, as in `lora_key` and `eos_token`."""

_LENGTH_OF_KEYS: Final = 32
"""What is as long may be a key, under a name that may tell of one; names of models are shorter."""

_OF_REQUESTS: Final = re.compile(r"(headers|query)\Z", re.IGNORECASE)
"""Names of what goes into each request as it is, with whatever a gateway wants there."""

_ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,20}://\S*\Z")
_LOGIN: Final = re.compile(r"\A([a-zA-Z][a-zA-Z0-9+.-]{0,20}://)?([^/?#\s]*)@")


def keys_in_environment() -> list[str]:
    """Return the keys that vendors' SDKs find in the environment."""
    return _long(key for name, key in os.environ.items() if name.endswith(("_KEY", "_TOKEN")))


def keys_in_fields(model: Any, levels: int = _DEEPEST) -> list[str]:
    """Return the keys that a pydantic model holds: secrets, and its own or its SDK's `api_key`.

    Those of the models within it, too.
    """
    held = held_by(model)
    secrets = (getattr(value, "get_secret_value", None) for value in held)
    told = [secret() for secret in secrets if secret is not None]
    own = _long([*told, *(getattr(place, "api_key", None) for place in (model, *held))])
    models = [value for value in held if levels and hasattr(type(value), "model_fields")]
    return [*own, *(key for each in models for key in keys_in_fields(each, levels - 1))]


def held_by(model: Any) -> list[Any]:
    """Return what a pydantic model holds, its private attributes among it."""
    private = getattr(model, "__pydantic_private__", None) or {}
    return [*vars(model).values(), *private.values()]


def keys_in_options(value: Any, name: str = "") -> list[str]:
    """Return the keys that stand in JSON under names that tell of one, and in addresses."""
    return _long(_told_keys(value, name))


def without_keys(value: Any, name: str = "") -> Any:
    """Return JSON, named `name`, without what is or may be a key.

    Hidden are texts under names that tell of a key, and the login in an address, which loses what
    does not lead elsewhere too. Texts under names that may tell of one, and all other values of
    headers and of queries, are told by a digest, since any of them may lead to another model.
    """
    if isinstance(value, Mapping):
        hide = _hidden_sent if _OF_REQUESTS.search(name) else without_keys
        return {key: hide(each, str(key)) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_keys(each, name) for each in value]
    if not isinstance(value, str):
        return value
    if _tells_of_key(name):
        return HIDDEN
    if _may_tell_of_key(name):
        return _digest(value)
    return _bare_address(value) if _is_address(value, name) else value


def _hidden_sent(value: Any, name: str) -> str:
    """Write what stands for the value of a header or of a query."""
    return HIDDEN if _tells_of_sent_key(name) else _digest(value)


def _digest(value: Any) -> str:
    digest = sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    return f"(hidden, {digest[:8]})"


def _bare_address(address: str) -> str:
    """Return an address without login and fragment, and without a slash at the end of its path."""
    path, mark, query = _LOGIN.sub(r"\1", address, count=1).partition("#")[0].partition("?")
    parts = map(_hidden_part, query.split("&")) if query else ()
    return path.rstrip("/") + mark + "&".join(parts)


def _hidden_part(part: str) -> str:
    name, equals, value = part.partition("=")
    return f"{name}={_hidden_sent(value, name)}" if equals else _hidden_sent(part, "")


def _is_address(text: str, name: str) -> bool:
    return bool(_ADDRESS.match(text)) or name == "base_url"


@lru_cache(maxsize=256)  # the same few names come with each identity
def _tells_of_key(name: str) -> bool:
    words = _words(name)
    endings = {*words[-1:], "".join(words[-2:])}
    return bool(endings & (_SECRET | _KEYS))


def _tells_of_sent_key(name: str) -> bool:
    """Tell it of a header, or of a part of a query, where `key` alone is one."""
    return name.lower() in _SHORT or _tells_of_key(name)


@lru_cache(maxsize=256)
def _may_tell_of_key(name: str) -> bool:
    words = _words(name)
    return bool(_SECRET.intersection(words) or _SHORT.intersection(words[-1:]))


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def _told_keys(value: Any, name: str, sent: bool = False) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _told_keys(each, str(key), bool(_OF_REQUESTS.search(name)))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _told_keys(each, name, sent)
    elif isinstance(value, str) and _is_key(value, name, sent):
        yield from (value, value.split(" ")[-1])  # "Bearer KEY"
    elif isinstance(value, str) and _is_address(value, name):
        yield from _keys_in_address(value)


def _is_key(text: str, name: str, sent: bool) -> bool:
    """Tell whether a text is a key; in headers and queries its length tells nothing."""
    is_long = sent or len(text) >= _LENGTH_OF_KEYS
    return _tells_of_key(name) or (is_long and _may_tell_of_key(name))


def _keys_in_address(address: str) -> Iterator[str]:
    login = _LOGIN.match(address)
    if login:
        yield from _both(login[2].partition(":")[2])
    for part in address.partition("#")[0].partition("?")[2].split("&"):
        name, _, value = part.partition("=")
        if _tells_of_sent_key(name):
            yield from _both(value)


def _both(text: str) -> tuple[str, str]:
    """Return a text as it stands in an address, and as it is meant."""
    return text, unquote(text)


def _long(found: Any) -> list[str]:
    return [key for key in found if isinstance(key, str) and len(key) >= _SHORTEST]
