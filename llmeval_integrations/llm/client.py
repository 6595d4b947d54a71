"""Clients: how judges reach models."""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict

from llmeval_integrations.core.errors import InvalidOptionError, UnknownNameError
from llmeval_integrations.core.quote import hint, quote
from llmeval_integrations.llm.config import ClientConfig
from llmeval_integrations.llm.messages import Request, build
from llmeval_integrations.llm.reply import Reply

if TYPE_CHECKING:
    from llmeval_integrations.llm.sdk_client import SdkClient

_CLIENTS: Final = "llmeval_integrations.llm.clients"


class Client(ABC):
    """How a judge reaches a model.

    A client of your own defines two methods. It opens its connections at the first call:

        class Mine(Client):
            async def complete(self, request):
                answer = await self.http.post(URL, json={"prompt": request.text})
                return Reply(answer.json()["text"])

            def identity(self):
                return {"client": "mine", "name": "my-model"}

    If it raises a JudgeError, the result is unscored. A ClientError of a transient kind is tried
    again, and so is an exception of an HTTP library that received no response.
    """

    price: tuple[float, float] | None = None
    """US dollars for a million tokens in and out, if its owner sets them."""

    retries: int = 5
    """How often a call is tried again after a transient failure; at most once after a time-out."""

    has_batches: bool = False
    """Whether many requests can be sent at once, by `submit` and `collect`."""

    @abstractmethod
    async def complete(self, request: Request) -> Reply:
        """Make one call; raises JudgeError if there is no reply."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return as JSON everything that shapes a reply beside the request; never a key."""

    def check(self) -> None:  # noqa: B027 - most clients lack nothing
        """Raise InvalidOptionError if a setting is missing that every call needs.

        The default is for clients that need none.
        """

    async def submit(self, requests: Mapping[str, Request], mark: str) -> str:
        """Submit requests, by their names, as a batch with a mark; return the batch's name."""
        raise NotImplementedError

    async def find(self, mark: str) -> Sequence[str]:  # noqa: ARG002 - for clients with marks
        """List the recent batches that may have this mark.

        A mark consists of the time of submission in seconds, the number of requests, and a random
        word, joined by "-". Without this method a batch may be submitted twice if the process is
        killed during the submission.
        """
        return ()

    async def collect(self, batch: str) -> Mapping[str, Reply] | None:
        """Return the replies of a batch by the names of the requests; None while it is under way.

        Requests without a reply are sent again, one by one.
        """
        raise NotImplementedError


def load_client(model: Any, /, **options: Any) -> Client:
    """Make a client from a name, a configuration, or an object that reaches a model.

    `model` is a text such as "openai:gpt-5-mini" or "ollama:mistral-nemo", a ClientConfig, or a
    mapping with its fields. If the mapping has no platform, its name may contain one, as in a text.
    An SDK's client, a LangChain chat model or a LlamaIndex LLM is accepted, too. An SDK's client
    needs the option `name` for the model. A Client is returned unchanged. Options are fields of
    ClientConfig. Raises UnknownNameError for a platform, InvalidOptionError for an option or an
    object, and MissingDependencyError.
    """
    if isinstance(model, Client):
        if options:
            raise InvalidOptionError(f"{', '.join(options)}: {model!r} is set up already")
        return model
    if not isinstance(model, (str, Mapping, ClientConfig)):
        return _wrap(model, options)
    platforms = {name: client for client in _classes() for name in client.platforms}
    fields: dict[str, Any] = {"name": model}
    if not isinstance(model, str):
        fields = asdict(model) if isinstance(model, ClientConfig) else dict(model)
    platform, colon, name = str(fields.get("name", "")).partition(":")
    if isinstance(model, str) and not (colon and name):
        raise InvalidOptionError(
            f"model={model!r} is not 'platform:model'; platforms: {', '.join(platforms)}"
        )
    # in a mapping the colon may be the name's own, as in "mistral-nemo:12b"
    if isinstance(model, str) or (colon and "platform" not in fields and platform in platforms):
        fields |= {"platform": platform, "name": name}
    config = build(ClientConfig, {**fields, **options})
    if config.platform not in platforms:
        raise UnknownNameError(
            f"there is no platform {config.platform!r}; {hint(config.platform, platforms)}"
        )
    return platforms[config.platform](config)


def _wrap(thing: Any, options: dict[str, Any]) -> Client:
    """Make a client from an object of an SDK or a framework."""
    packages = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    for client in _classes():
        if client.package_name() in packages:
            return client.of(thing, **options)
    # Only the type of an object is shown, because its members may contain a key.
    is_simple = thing is None or isinstance(thing, (bool, int, float))
    what = quote(thing) if is_simple else f"<{type(thing).__name__} object>"
    raise InvalidOptionError(
        f"model={what} is not 'platform:model', a ClientConfig, an SDK's client, "
        "a LangChain chat model, a LlamaIndex LLM or a Client of your own"
    )


def _classes() -> Iterator[type[SdkClient]]:
    """Yield the client class of each module in the package `clients`."""
    room = import_module(_CLIENTS)
    for found in pkgutil.iter_modules(room.__path__, f"{_CLIENTS}."):
        for thing in vars(import_module(found.name)).values():
            if getattr(thing, "__module__", "") == found.name and hasattr(thing, "platforms"):
                yield thing
