"""The model to ask, the settings of its calls, and the keys that must not be shown."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.llm.messages import Output

NO_KEY: Final = "-"  # local servers need none, and an SDK then looks in its usual places
LONGEST: Final = 86_400.0  # a day in seconds: the longest time-out, also in the place of no limit
_SHORTEST_KEY: Final = 6  # shorter ones, such as "-", occur in any text
_LONGEST_TEXT: Final = 500  # a message is cut there, because a server may send a whole page
_REFERENCE: Final = re.compile(r"\$\{(\w+)\}")

_KEY: Final = re.compile(
    r"(?i)(auth|authorization|bearer|cookie|credentials?|jwt|passphrase|passwd|password|pwd"
    r"|secrets?|sig|signature"
    r"|(access|api|master|private|secret|signing|subscription|auth)[_-]?key"
    r"|(access|api|auth|bearer|hf|id|refresh|security|session)[_-]?token)\Z"
)
"""The ends of field names whose values are keys."""

_SENT: Final = re.compile(r"(?i)(headers|query)\Z")
"""The ends of names of options whose values a gateway receives unchanged."""


class ClientConfig(msgspec.Struct, frozen=True):
    """One model and the settings of its calls."""

    name: Annotated[str, Meta(min_length=1)]  # of the model on its server

    # The address of the server; None for the platform's own. It must not contain a login or a
    # query: a key goes into `api_key`, and whatever else a gateway needs goes into `options`.
    base_url: str | None = None

    platform: str = "ollama"  # the kind of server: a platform of `load_client`
    api_key: str = NO_KEY  # or `${NAME}` for the environment variable that contains it
    max_tokens: Annotated[int, Meta(gt=0)] | None = None  # of a reply

    # None leaves the temperature to the server. It is not sent to models without one.
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = 0.0

    timeout: Annotated[float, Meta(gt=0, le=LONGEST)] = 300  # of a call, in seconds
    retries: Annotated[int, Meta(ge=0)] = 5  # of transient failures; at most one after a time-out
    price: tuple[float, float] | None = None  # US dollars for a million tokens in and out
    output: Output = "auto"  # how the form of an answer is requested
    options: dict[str, Any] = {}  # further arguments of the vendor's call, under its names

    def __post_init__(self) -> None:
        check_address("base_url", self.base_url)
        address = self.base_url and self.base_url.rstrip("/")
        msgspec.structs.force_setattr(self, "base_url", address)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [*without_keys(msgspec.structs.asdict(self)).items()]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({shown})"

    def key(self) -> str | None:
        """Return the key itself, or None if no key is set; raises InvalidOptionError.

        White space around the key is removed, such as the line end of a secret's file.
        """
        try:
            key = _REFERENCE.sub(lambda name: os.environ[name[1]], self.api_key).strip()
        except KeyError as error:
            raise InvalidOptionError(f"api_key: the environment has no variable {error}") from None
        if not (key.isascii() and key.isprintable()):
            raise InvalidOptionError("api_key: contains a character that no HTTP header accepts")
        return None if key in ("", NO_KEY) else key


def check_address(name: str, address: str | None) -> None:
    """Raise InvalidOptionError for an address with a login or a query, which logs would show."""
    parts = urlsplit(address or "")
    if "@" in parts.netloc or parts.query:
        raise InvalidOptionError(
            f"{name}: an address with a login or a query is refused; give a key as api_key, and a "
            'query in options, such as {"extra_query": {...}}'
        )


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


def censor(text: str, keys: Iterable[Any]) -> str:
    """Remove the keys from a text, then cut it: a key that is cut first would not be found."""
    stripped = {key.strip() for key in keys if isinstance(key, str)}
    for key in sorted(stripped, key=len, reverse=True):
        text = text.replace(key, "[key]") if len(key) >= _SHORTEST_KEY else text
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."
