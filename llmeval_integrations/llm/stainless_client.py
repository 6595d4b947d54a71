"""What the clients of OpenAI's and Anthropic's packages share, which one generator wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
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
from llmeval_integrations.llm.loop import in_thread
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.problems import status_problem
from llmeval_integrations.llm.sdk_client import SdkClient

_BLOCKING, _AWAITED = "SyncAPIClient", "AsyncAPIClient"
"""The bases of all objects of the packages, those for other clouds among them."""

_SENT: Final = ("default_headers", "default_query")
"""Settings of the packages' objects that may lead a request to another model."""

_LOGINS: Final = ("api_key", "auth_token", "_azure_ad_token")
"""Attributes of the packages' objects that hold what must not be shown."""


class StainlessClient(SdkClient):
    """A client on a package that Stainless generated.

    A caller's blocking object is called in a thread; an asynchronous one gives its settings to one
    of ours, for its connections belong to the caller's loop. The retries and the time-out of either
    become ours, unless options say otherwise; the package's default time-out of ten minutes is not
    a choice of the caller's.
    """

    plain: ClassVar[str]
    """The package's class for its vendor's own server, an asynchronous one."""

    settings: ClassVar[dict[str, str]]
    """The arguments of the package's classes, and the attributes in which they are kept."""

    endpoint: ClassVar[str]
    """Where an object has the resource that is called."""

    declared: ClassVar[str]
    """Where the package declares the function that is called."""

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        self.package = self._package()
        self.parameters = frozenset(signature(attrgetter(self.declared)(self.package)).parameters)
        self.check_options(self.parameters)
        if given is not None and self._is_awaited():
            self._check_settings()

    @classmethod
    def _package(cls) -> Any:
        try:
            return import_module(cls.takes)
        except ImportError as error:
            raise MissingDependencyError.of(cls.takes, cls.takes) from error

    @classmethod
    def of(cls, thing: Any, **options: Any) -> SdkClient:
        if not _bases(thing) & {_BLOCKING, _AWAITED}:
            name = cls.plain.removeprefix("Async")
            raise InvalidOptionError(
                f"model={quote(thing)} cannot be asked; expected {cls.takes}.{name} or "
                f"{cls.takes}.{cls.plain}"
            )
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

    def make(self) -> Any:
        # An answer that leads elsewhere would take the prompt, and a gateway's headers, along.
        http = self.package.DefaultAsyncHttpxClient(follow_redirects=False)
        ours = {"timeout": self.config.timeout, "max_retries": 0}
        if self.given is None:
            kind = getattr(self.package, self.plain)
            given = {"api_key": self.key(), "base_url": self.address()}
            return kind(**given, **ours, http_client=http)
        if self._is_awaited():
            return type(self.given)(**self._settings(), **ours, http_client=http)
        return self.given.with_options(**ours)

    async def call(self, sdk: Any, arguments: dict[str, Any]) -> Any:
        # Raw, because reading a response by its declared types takes as long as all that we do.
        create = attrgetter(self.endpoint)(sdk).with_raw_response.create
        if self.given is None or self._is_awaited():
            raw = await create(**arguments)
        else:
            raw = await in_thread(partial(create, **arguments))
        response: Any = getattr(raw, "http_response", None)  # a tracer's has none
        return raw.to_dict() if response is None else json.loads(response.content)

    def _is_awaited(self) -> bool:
        return _AWAITED in _bases(self.given)

    def _check_settings(self) -> None:
        """Raise for an object whose settings cannot be given to one of ours."""
        connections = type(getattr(self.given, "_client", None)).__name__
        is_own = not connections.endswith("HttpxClientWrapper")
        kind = type(self.given)
        if is_own or kind.__module__.partition(".")[0] != self.takes:
            what = "connections" if is_own else "class"
            raise InvalidOptionError(
                f"model=<{kind.__name__} object>: an asynchronous object with {what} of its own "
                "belongs to its event loop; give the blocking object, which is called in a thread"
            )

    def _settings(self) -> dict[str, Any]:
        found = {name: getattr(self.given, kept, None) for name, kept in self.settings.items()}
        return {name: value for name, value in found.items() if value is not None}

    def secrets(self) -> list[str]:
        given = (getattr(self.given, name, None) for name in _LOGINS)
        logins = (login for login in given if isinstance(login, str) and login)
        return [*super().secrets(), *logins]

    @staticmethod
    async def close(sdk: Any) -> None:
        if _AWAITED in _bases(sdk):  # a copy of the caller's has the caller's connections
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
        return super().problem(error)


def _seconds(timeout: Any) -> float:
    """Return how long a caller waits for an answer, by a number or httpx's parts of a time-out."""
    waited = timeout if isinstance(timeout, (int, float)) else getattr(timeout, "read", None)
    return LONGEST if waited is None else min(waited, LONGEST)


def _bases(thing: Any) -> set[str]:
    return {kind.__name__ for kind in type(thing).__mro__}


def chat_message(message: Message) -> Mapping[str, Any]:
    """Write a message as both APIs want it."""
    content: Any = message.content
    if not isinstance(content, str):
        content = [{"type": "text", "text": part} for part in content]
    return {"role": message.role, "content": content}
