"""Clients: how judges reach models, and which settings and keys they have."""

from __future__ import annotations

import json
import os
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from llmeval_integrations.core.errors import InvalidOptionError, UnknownNameError
from llmeval_integrations.core.quote import hint
from llmeval_integrations.llm.messages import Output, Request, build
from llmeval_integrations.llm.reply import Reply

if TYPE_CHECKING:
    from llmeval_integrations.llm.sdk_client import SdkClient

_CLIENTS: Final = "llmeval_integrations.llm.clients"
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

Dollars: TypeAlias = Annotated[float, Meta(ge=0)]  # US dollars


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
    price: tuple[Dollars, Dollars] | None = None  # for a million tokens in and out
    output: Output = "auto"  # how the form of an answer is requested
    options: dict[str, Any] = {}  # further arguments of the vendor's call, under its names

    def __post_init__(self) -> None:
        check_address("base_url", self.base_url)
        address = self.base_url and self.base_url.rstrip("/")
        msgspec.structs.force_setattr(self, "base_url", address)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [*without_keys(asdict(self)).items()]

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
    again. An exception of an HTTP library counts as the ClientError of its status, or of its kind.
    """

    price: tuple[float, float] | None = None  # US dollars for a million tokens in and out
    retries: int = 5  # of transient failures; at most one after a time-out
    has_batches: bool = False  # whether `submit` and `collect` send many requests at once

    @abstractmethod
    async def complete(self, request: Request) -> Reply:
        """Make one call; raises JudgeError if there is no reply."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return as JSON everything that shapes a reply beside the request; never a key."""

    def check(self) -> None:  # noqa: B027 - most clients lack nothing
        """Raise InvalidOptionError if a setting is missing that every call needs."""

    async def submit(self, requests: Mapping[str, Request]) -> str:
        """Submit requests, by their names, as a batch; return the batch's name."""
        raise NotImplementedError

    async def collect(self, batch: str) -> Mapping[str, Reply] | None:
        """Return a batch's replies by the names of the requests; None while it is under way."""
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
    if isinstance(model, str):
        platform, _, name = model.partition(":")
        if not name:
            raise InvalidOptionError(
                f"model={model!r} is not 'platform:model'; platforms: {', '.join(platforms)}"
            )
        fields = {"platform": platform, "name": name}
    else:
        fields = asdict(model) if isinstance(model, ClientConfig) else dict(model)
        platform, colon, name = str(fields.get("name", "")).partition(":")
        # the colon may be the name's own, as in "mistral-nemo:12b"
        if colon and platform in platforms and "platform" not in fields:
            fields |= {"platform": platform, "name": name}
    config = build(ClientConfig, {**fields, **options}, "model: ")
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
    raise InvalidOptionError(
        f"model=<{type(thing).__name__} object> is not 'platform:model', a ClientConfig, an SDK's "
        "client, a LangChain chat model, a LlamaIndex LLM or a Client of your own"
    )


def _classes() -> Iterator[type[SdkClient]]:
    """Yield the client class of each module in the package `clients`."""
    room = import_module(_CLIENTS)
    for found in pkgutil.iter_modules(room.__path__, f"{_CLIENTS}."):
        for thing in vars(import_module(found.name)).values():
            if getattr(thing, "__module__", "") == found.name and hasattr(thing, "platforms"):
                yield thing


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
