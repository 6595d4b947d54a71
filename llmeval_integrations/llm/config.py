"""The model to ask, and the settings of its calls."""

from __future__ import annotations

import os
import re
from typing import Any, Final
from urllib.parse import urlsplit

from llmeval_integrations.core.errors import InvalidOptionError, MissingDependencyError
from llmeval_integrations.core.quote import quote
from llmeval_integrations.llm.keys import without_keys
from llmeval_integrations.llm.messages import Output

try:
    from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
except ImportError as error:
    raise MissingDependencyError.of("pydantic", "judges") from error

_REFERENCE = re.compile(r"\$\{(\w+)\}")

NO_KEY = "-"
"""The value for "no key": local servers need none, and an SDK then looks in its usual places."""

_OPEN: Final = frozenset(
    ["name", "platform", "max_tokens", "temperature", "timeout", "retries", "output"]
)
"""The fields whose wrong values are shown."""

LONGEST: Final = 86_400.0
"""A day in seconds: the longest time-out, which also stands for no limit."""


class ClientConfig(BaseModel):
    """One model and the settings of its calls."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(min_length=1)
    """The name of the model on its server."""

    base_url: str | None = None
    """The address of the server; None for the platform's own. It must not contain a login or a
    query: a key goes into `api_key`, and whatever else a gateway needs goes into `options`."""

    platform: str = "ollama"
    """The kind of server: a platform of `load_client`."""

    api_key: SecretStr = SecretStr(NO_KEY)
    """The key, or `${NAME}` for the environment variable that contains it; "-" for no key."""

    max_tokens: int | None = Field(default=None, gt=0)
    """The longest reply, in tokens."""

    temperature: float | None = Field(default=0.0, ge=0.0, le=2.0)
    """The sampling temperature; None leaves it to the server. Not sent to models without one."""

    timeout: float = Field(default=300, gt=0, le=LONGEST)
    """The longest time of a call, in seconds."""

    retries: int = Field(default=5, ge=0)
    """How often a call is tried again after a transient failure; at most once after a time-out."""

    price: tuple[float, float] | None = None
    """US dollars for a million tokens in and out, for a model that has no published price."""

    output: Output = "auto"
    """How the form of an answer is requested."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of the vendor's call, under the vendor's names."""

    @field_validator("base_url")
    @classmethod
    def _check_address(cls, address: str | None) -> str | None:
        check_address(address or "")
        return address and address.rstrip("/")

    def __repr_args__(self) -> Any:  # pydantic makes `repr` and `str` from these
        return [(name, without_keys(value, name or "")) for name, value in super().__repr_args__()]

    def key(self) -> str | None:
        """Return the key itself, or None if no key is set; raises InvalidOptionError.

        White space around the key is removed, such as the line end of a secret's file.
        """
        try:
            key = _REFERENCE.sub(
                lambda name: os.environ[name[1]], self.api_key.get_secret_value()
            ).strip()
        except KeyError as error:
            raise InvalidOptionError(f"api_key: the environment has no variable {error}") from None
        if not (key.isascii() and key.isprintable()):
            raise InvalidOptionError("api_key: contains a character that no HTTP header accepts")
        return None if key in ("", NO_KEY) else key

    @classmethod
    def of(cls, **fields: Any) -> ClientConfig:
        """Make a configuration; raises InvalidOptionError, which shows no key."""
        try:
            return cls(**fields)
        except ValidationError as error:
            raise InvalidOptionError(_explain(error)) from None


def check_address(address: str) -> None:
    """Raise ValueError for an address with a login or a query, which logs would show."""
    parts = urlsplit(address)
    if "@" in parts.netloc or parts.query:
        raise ValueError(
            "an address with a login or a query is refused; give a key as api_key, and a query in "
            'options, such as {"extra_query": {...}}'
        )


def _explain(error: ValidationError) -> str:
    """Describe pydantic's findings without a value that is or may contain a key."""
    words = []
    for found in error.errors(include_url=False):
        field, kind, value = str(found["loc"][0]), found["type"], found["input"]
        message = (
            f"{'.'.join(map(str, found['loc']))}: {found['msg'].removeprefix('Value error, ')}"
        )
        if kind == "extra_forbidden":
            message += f"; there are {', '.join(ClientConfig.model_fields)}"
        elif field in _OPEN and isinstance(value, (str, bool, int, float)):
            message += f", got {quote(value)}"
        words.append(message)
    return "model: " + "; ".join(words)
