"""Which model is asked, and how."""

from __future__ import annotations

import os
import re
from typing import Any, Final
from urllib.parse import urlsplit

from llmeval_integrations.core.errors import InvalidOptionError, MissingDependencyError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.keys import without_keys
from llmeval_integrations.llm.messages import Output

try:
    from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
except ImportError as error:
    raise MissingDependencyError.of("pydantic", "judges") from error

_REFERENCE = re.compile(r"\$\{(\w+)\}")

NO_KEY = "-"
"""What stands for "no key": local servers want none, and an SDK then looks where it always does."""

LONGEST: Final = 86_400.0
"""A day: the seconds that stand for no limit, and the most that a call may take."""


class ClientConfig(BaseModel):
    """One model and how it is called."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(min_length=1)
    """The model, as its server calls it."""

    base_url: str | None = None
    """Where the server is; None is the platform's own address. It has no login and no query: a
    key goes into `api_key`, and what else a gateway wants into `options`."""

    platform: str = "ollama"
    """The kind of server: a name that `load_client` knows."""

    api_key: SecretStr = SecretStr(NO_KEY)
    """The key, or `${NAME}` for the environment variable that holds it; "-" where none is set."""

    max_tokens: int | None = Field(default=None, gt=0)
    """The longest reply, in tokens."""

    temperature: float | None = Field(default=0.0, ge=0.0, le=2.0)
    """The sampling temperature; None leaves it to the server. Not sent to models without one."""

    timeout: float = Field(default=300, gt=0, le=LONGEST)
    """The seconds a call may take."""

    retries: int = Field(default=5, ge=0)
    """How often a call that failed for a passing reason is tried again; a time-out at most once."""

    price: tuple[float, float] | None = None
    """US dollars for a million tokens in and out, for a model whose price nobody else knows."""

    output: Output = "auto"
    """How the form of an answer is asked for."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of the vendor's own call, by its names."""

    @field_validator("base_url")
    @classmethod
    def _check_address(cls, address: str | None) -> str | None:
        check_address(address or "")
        return address and address.rstrip("/")

    def __repr_args__(self) -> Any:  # pydantic's, of which it makes `repr` and `str`
        return [(name, without_keys(value, name or "")) for name, value in super().__repr_args__()]

    def key(self) -> str | None:
        """Return the key itself, None where none is set; raises InvalidOptionError.

        White space around it, such as the end of a line in a secret's file, is no part of it.
        """
        try:
            key = _REFERENCE.sub(
                lambda name: os.environ[name[1]], self.api_key.get_secret_value()
            ).strip()
        except KeyError as error:
            raise InvalidOptionError(f"api_key: the environment has no variable {error}") from None
        if not (key.isascii() and key.isprintable()):
            raise InvalidOptionError("api_key: holds a character that no HTTP header takes")
        return None if key in ("", NO_KEY) else key

    @classmethod
    def of(cls, **fields: Any) -> ClientConfig:
        """Make a configuration; raises InvalidOptionError, which shows no key."""
        try:
            return cls(**fields)
        except ValidationError as error:
            raise InvalidOptionError(_explain(error)) from None


def check_address(address: str) -> None:
    """Raise ValueError for an address with a login or a query, which servers and logs repeat."""
    parts = urlsplit(address)
    if "@" in parts.netloc or parts.query:
        raise ValueError(
            "an address with a login or a query is refused; a key goes into api_key, and a query "
            'into options, such as {"extra_query": {...}}'
        )


def _explain(error: ValidationError) -> str:
    """Word pydantic's findings without the value of a key, or what may hold one."""
    words = []
    for found in error.errors(include_url=False):
        field, kind, value = str(found["loc"][0]), found["type"], found["input"]
        message = f"{'.'.join(map(str, found['loc']))}: {found['msg']}"
        if kind == "extra_forbidden":
            message += f"; there are {', '.join(ClientConfig.model_fields)}"
        elif (
            kind != "missing"  # of a field that is missing the input is all the others
            and field not in ("api_key", "base_url", "options")
            and isinstance(value, (str, bool, int, float))  # in all else may be a key
        ):
            message += f", got {quote(value)}"
        words.append(message.replace("Value error, ", ""))
    return "model: " + "; ".join(words)
