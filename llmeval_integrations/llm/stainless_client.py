"""What the clients of OpenAI's and Anthropic's packages share, which one generator wrote."""

from __future__ import annotations

import json
from functools import partial
from inspect import signature
from operator import attrgetter
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import InvalidOptionError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.config import LONGEST, NO_KEY, ClientConfig
from llmeval_integrations.llm.loop import in_thread
from llmeval_integrations.llm.sdk_client import SdkClient

_BLOCKING, _AWAITED = "SyncAPIClient", "AsyncAPIClient"
"""The bases of all objects of the packages, those for other clouds among them."""

_SENT: Final = {"default_headers": "_custom_headers", "default_query": "_custom_query"}
"""Settings of the packages' objects that may lead a request to another model."""


class StainlessClient(SdkClient):
    """A client on a package that Stainless generated.

    A caller's blocking object is called in a thread; an asynchronous one is copied with connections
    of ours, for its own belong to the caller's loop. The retries and the time-out of either become
    ours, unless options say otherwise; the package's default time-out of ten minutes is not a
    choice of the caller's.
    """

    plain: ClassVar[str]
    """The package's class for its vendor's own server, an asynchronous one."""

    endpoint: ClassVar[str]
    """Where an object has the resource that is called."""

    declared: ClassVar[str]
    """Where the package declares the function that is called."""

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        self.package = self.load_package()
        self.parameters = frozenset(signature(attrgetter(self.declared)(self.package)).parameters)
        self.check_options(self.parameters)
        self._is_awaited = given is None or _AWAITED in _bases(given)
        if given is not None and self._is_awaited:
            _check_copy(given, self.takes)

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
        if thing.timeout != cls.load_package().DEFAULT_TIMEOUT:
            waited = thing.timeout  # a number, or httpx's parts of a time-out
            waited = waited if isinstance(waited, (int, float)) else getattr(waited, "read", None)
            fields["timeout"] = LONGEST if waited is None else min(waited, LONGEST)
        return cls(ClientConfig.of(**{**fields, **options}), thing)

    def address(self) -> str | None:
        """Return the server's address; None for the vendor's own."""
        return self.config.base_url or self.platforms[self.config.platform]

    def server(self) -> str | None:
        return self.address() or super().server()

    def sent_by_given(self) -> dict[str, Any]:
        found = {name: getattr(self.given, kept, None) for name, kept in _SENT.items()}
        return {name: value for name, value in found.items() if value}

    def make(self) -> Any:
        ours: dict[str, Any] = {"timeout": self.config.timeout, "max_retries": 0}
        if not self._is_awaited:
            return self.given.with_options(**ours)
        # An answer that leads elsewhere would take the prompt, and a gateway's headers, along.
        ours["http_client"] = self.package.DefaultAsyncHttpxClient(follow_redirects=False)
        if self.given is not None:
            return self.given.with_options(**ours)
        kind = getattr(self.package, self.plain)
        return kind(api_key=self.key(), base_url=self.address(), **ours)

    async def use(self, function: str, **arguments: Any) -> Any:
        """Call a function of the SDK's object, in a thread where it blocks."""
        call = partial(attrgetter(function)(self.sdk()), **arguments)
        return await (call() if self._is_awaited else in_thread(call))

    async def fetch(self, function: str, **arguments: Any) -> Any:
        """Do so within the time-out; raises our errors."""
        return await self.guard(self.use(function, **arguments))

    async def call(self, arguments: dict[str, Any]) -> Any:
        # Raw, because reading a response by its declared types takes as long as all that we do.
        raw = await self.use(f"{self.endpoint}.with_raw_response.create", **arguments)
        response: Any = getattr(raw, "http_response", None)  # a tracer's has none
        return raw.to_dict() if response is None else json.loads(response.content)

    def secrets(self) -> list[Any]:
        logins = ("api_key", "auth_token", "_azure_ad_token")
        return [*super().secrets(), *(getattr(self.given, name, None) for name in logins)]

    @staticmethod
    async def close(sdk: Any) -> None:
        if _AWAITED in _bases(sdk):  # a copy of a blocking one has the caller's connections
            await sdk.close()


def _check_copy(given: Any, package: str) -> None:
    """Raise InvalidOptionError for an asynchronous object that a copy of ours cannot stand for."""
    connections, kind = type(getattr(given, "_client", None)).__name__, type(given)
    is_own = not connections.endswith("HttpxClientWrapper")
    if is_own or kind.__module__.partition(".")[0] != package:
        what = "connections" if is_own else "class"
        raise InvalidOptionError(
            f"model=<{kind.__name__} object>: an asynchronous object with {what} of its own "
            "belongs to its event loop; give the blocking object, which is called in a thread"
        )


def _bases(thing: Any) -> set[str]:
    return {kind.__name__ for kind in type(thing).__mro__}
