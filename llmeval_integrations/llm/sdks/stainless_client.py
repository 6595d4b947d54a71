"""What the clients of OpenAI's and Anthropic's packages share, which one generator wrote."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from inspect import signature
from operator import attrgetter
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import (
    ClientError,
    InvalidOptionError,
    JudgeError,
    MissingDependencyError,
)
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.config import LONGEST, NO_KEY, ClientConfig
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.sdks.http_problems import status_problem
from llmeval_integrations.llm.sdks.sdk_client import SdkClient

_BLOCKING, _AWAITED = "SyncAPIClient", "AsyncAPIClient"
"""The bases of all objects of the packages, those for other clouds among them."""

_SENT: Final = ("default_headers", "default_query")
"""Settings of the packages' objects that may lead a request to another model."""

_LOGINS: Final = ("api_key", "auth_token", "_azure_ad_token")
"""Attributes of the packages' objects that hold what must not be shown."""


class StainlessClient(SdkClient):
    """A client on a package that Stainless generated.

    A caller's object serves both kinds of calls: its twin is built from its settings. Its own
    retries and time-out become ours, unless options say otherwise; the package's default time-out
    of ten minutes is not a choice of the caller's.
    """

    twins: ClassVar[tuple[tuple[str, str], ...]]
    """The package's classes, each blocking one with its asynchronous twin, the plain ones first."""

    settings: ClassVar[dict[str, str]]
    """The arguments of those classes, and the attributes in which they are kept."""

    unshared: ClassVar[tuple[str, ...]] = ()
    """Attributes that only one of two twins can have: functions that fetch a key."""

    declared: ClassVar[str]
    """Where the package declares the function that is called."""

    def __init__(self, config: ClientConfig, sdk: Any = None) -> None:
        super().__init__(config, sdk)
        self.package = self._package()
        if config.options:
            self.check_options(self.parameters)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the arguments that the function takes."""
        return frozenset(signature(attrgetter(self.declared)(self.package)).parameters)

    @classmethod
    def _package(cls) -> Any:
        try:
            return import_module(cls.takes)
        except ImportError as error:
            raise MissingDependencyError.of(cls.takes, cls.takes) from error

    @classmethod
    def of(cls, thing: Any, **options: Any) -> SdkClient:
        if not _bases(thing) & {_BLOCKING, _AWAITED}:
            names = " or ".join(f"{cls.takes}.{name}" for name in cls.twins[0])
            raise InvalidOptionError(f"client={quote(thing)} cannot be asked; expected {names}")
        cls.check_beside(thing, options)
        fields: dict[str, Any] = {
            "platform": cls.takes,
            "base_url": str(thing.base_url),
            "api_key": getattr(thing, "api_key", None) or NO_KEY,
            "retries": thing.max_retries,
        }
        if thing.timeout != cls._package().DEFAULT_TIMEOUT:
            fields["timeout"] = _seconds(thing.timeout)
        return cls(ClientConfig.of(**{**fields, **options}), thing)

    def address(self) -> str | None:
        """Return the server's address; None for the vendor's own."""
        return self.config.base_url or self.platforms[self.config.platform]

    def server(self) -> str | None:
        return self.address() or super().server()

    def sent_by_given(self) -> dict[str, Any]:
        found = self._settings() if self.given is not None else {}
        return {name: found[name] for name in _SENT if found.get(name)}

    def make(self, *, asynchronous: bool) -> Any:
        ours = {"timeout": self.config.timeout, "max_retries": 0}
        if self.given is None:
            kind = getattr(self.package, self.twins[0][asynchronous])
            return kind(api_key=self.key(), base_url=self.address(), **ours)
        twins = self._twins_of(type(self.given))
        if twins and not self._is_bound():
            return twins[asynchronous](**self._settings(), **ours)
        if (_AWAITED in _bases(self.given)) == asynchronous:
            return self.given.with_options(**ours)
        raise InvalidOptionError(
            f"{quote(self.given)} serves only {'blocking' if asynchronous else 'awaited'} calls; "
            "give an object of its twin class, or one without connections or a login of its own"
        )

    def _twins_of(self, kind: type) -> tuple[Any, ...]:
        for pair in self.twins:
            twins = tuple(getattr(self.package, name) for name in pair)
            if kind in twins:
                return twins
        return ()

    def _is_bound(self) -> bool:
        """Tell whether the caller's object holds what its twin or another loop could not use."""
        connections = type(getattr(self.given, "_client", None)).__name__
        return not connections.endswith("HttpxClientWrapper") or any(
            getattr(self.given, name, None) for name in self.unshared
        )

    def _settings(self) -> dict[str, Any]:
        found = {name: getattr(self.given, kept, None) for name, kept in self.settings.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _secrets(self) -> list[str]:
        given = (getattr(self.given, name, None) for name in _LOGINS)
        return [
            *super()._secrets(),
            *(login for login in given if isinstance(login, str) and login),
        ]

    async def close(self, sdk: Any) -> None:
        if sdk._client is not getattr(self.given, "_client", None):  # noqa: SLF001 - the caller's
            await sdk.close()

    def problem(self, error: Exception) -> JudgeError | None:
        package = self.package
        if isinstance(error, package.APIStatusError):
            return status_problem(error.status_code, error.body, error.response.headers)
        if isinstance(error, package.APITimeoutError):
            return ClientError(str(error), kind="timeout")
        if isinstance(error, package.APIConnectionError):
            why = error.__cause__ or error
            return ClientError(f"the connection failed: {why}", kind="connection")
        if isinstance(error, package.APIResponseValidationError):
            return ClientError(f"the response cannot be read: {error}", kind="garbled")
        return None


def _seconds(timeout: Any) -> float:
    """Return how long a caller waits for an answer, by a number or httpx's parts of a time-out."""
    waited = timeout if isinstance(timeout, (int, float)) else getattr(timeout, "read", None)
    return LONGEST if waited is None else min(waited, LONGEST)


def _bases(thing: Any) -> set[str]:
    return {kind.__name__ for kind in type(thing).__mro__}


def said(message: Message) -> dict[str, Any]:
    """Say a message as both APIs want it."""
    content: Any = message.content
    if not isinstance(content, str):
        content = [{"type": "text", "text": part} for part in content]
    return {"role": message.role, "content": content}
