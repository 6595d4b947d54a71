"""What the clients of vendors' SDKs share."""

from __future__ import annotations

import os
import pickle
from abc import abstractmethod
from asyncio import AbstractEventLoop, run_coroutine_threadsafe
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar, Final, TypeVar, cast
from weakref import finalize

import msgspec

from llmeval_integrations.core.errors import (
    ClientError,
    EvalError,
    InvalidOptionError,
    JudgeError,
    MissingDependencyError,
)
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.config import NO_KEY, ClientConfig, check_address
from llmeval_integrations.llm.failures import error_of, status_error
from llmeval_integrations.llm.keys import censor, keys_in, without_keys
from llmeval_integrations.llm.loop import background, within
from llmeval_integrations.llm.messages import Output, Request
from llmeval_integrations.llm.reply import Reply, usage_of, value_of

T = TypeVar("T")

_FORMS: Final[tuple[Output, ...]] = ("json_schema", "tool", "json")
"""How an answer in a given form is asked for, best first."""

_OPTIONAL: Final = frozenset({"temperature", "max_tokens"})
"""The parameters that a call can do without, where a server refuses them."""


class SdkClient(Client):
    """A client on a vendor's own package.

    A subclass says how its SDK's object is made, what a request is in the SDK's arguments, what
    a response says and what an exception means. The choice of how an answer's form is asked for is
    here. The SDK's object lives on the one loop.
    """

    platforms: ClassVar[Mapping[str, str | None]] = {}
    """The names that `load_client` finds it by, and the address where each listens by default."""

    takes: ClassVar[str] = ""
    """The package whose objects it takes, such as "openai"."""

    module: ClassVar[str] = ""
    """The module that it is built on, in whose name's first part `takes` stands."""

    example: ClassVar[str] = ""
    """The name of a model, for a message where there is none."""

    key_variables: ClassVar[tuple[str, ...]] = ()
    """The environment's variables in which the SDK looks for a key, first come first."""

    address_variables: ClassVar[tuple[str, ...]] = ()
    """Those in which it looks for the server's address."""

    settled: ClassVar[frozenset[str]] = frozenset({"platform", "base_url", "api_key"})
    """The fields of ClientConfig that an object of the SDK has already."""

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        self.config = config
        """The model and how it is called."""
        self.given = given
        """The SDK's object that the caller made, None where there is none."""
        self.retries, self.price = config.retries, config.price
        self._without: frozenset[str] = frozenset()  # parameters that the server has refused
        self._refused: list[tuple[Output, Any]] = []  # forms, each with the schema
        self._made: tuple[AbstractEventLoop, Any] | None = None

    @classmethod
    def load_package(cls) -> Any:
        """Import the module that it is built on; raises MissingDependencyError."""
        try:
            return import_module(cls.module)
        except ImportError as error:
            raise MissingDependencyError.of(cls.module.replace(".", "-"), cls.takes) from error

    @classmethod
    def of(cls, thing: Any, **options: Any) -> SdkClient:
        """Make a client of one of the SDK's own objects; options are fields of ClientConfig."""
        raise NotImplementedError

    @abstractmethod
    def make(self) -> Any:
        """Make the SDK's object for the loop, without retries of its own."""

    @abstractmethod
    async def call(self, arguments: dict[str, Any]) -> Any:
        """Make the call and give the response."""

    @abstractmethod
    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        """Say the request, with the temperature and limit it has, in the SDK's arguments."""

    @abstractmethod
    def read(self, response: Any, output: Output) -> Reply:
        """Read the response."""

    def error(self, error: Exception) -> JudgeError | None:
        """Say what an exception means; None for one that is not known."""
        if type(error) is TimeoutError:
            return ClientError(f"no reply within {self.config.timeout:g} s", kind="timeout")
        return error_of(error)

    @staticmethod
    async def close(sdk: Any) -> None:
        """Close an object that `make` made."""

    @classmethod
    def check_beside(cls, thing: Any, options: Collection[str]) -> None:
        """Raise InvalidOptionError for what the object settles, or lacks: the model's name."""
        what = f"the {type(thing).__name__} object"
        if own := sorted(cls.settled & {*options}):
            raise InvalidOptionError(f"{', '.join(own)}: {what} has that already")
        if "name" not in cls.settled.union(options):
            raise InvalidOptionError(
                f"model: {what} does not say which model is asked; "
                f"write load_client(client, name='{cls.example}')"
            )

    def check_options(self, known: Collection[str]) -> None:
        """Raise InvalidOptionError for an option that the vendor's call does not take."""
        unknown = sorted(self.config.options.keys() - {*known})
        if unknown:
            raise InvalidOptionError(
                f"options: {self.takes} takes no {', '.join(unknown)}; "
                f"there are {', '.join(sorted(known))}"
            )

    def key(self) -> str | None:
        """Return the key that is sent, from the configuration or where the SDK looks for one.

        A server of one's own may want none.
        """
        found = (os.environ.get(name, "").strip() for name in self.key_variables)
        key = self.config.key() or next(filter(None, found), None)
        return key or (NO_KEY if self.server() else None)

    def server(self) -> str | None:
        """Return the server's address as configured or as the SDK finds it; None for its own."""
        found = map(os.environ.get, self.address_variables)
        return self.config.base_url or next(filter(None, found), None)

    def check(self) -> None:
        try:
            check_address(self.server() or "")
        except ValueError as error:
            raise InvalidOptionError(f"{' or '.join(self.address_variables)}: {error}") from None
        if self.given is None and self.key_variables and self.key() is None:
            raise InvalidOptionError(
                f"no key is set for {self.config.platform}; "
                f"set {self.key_variables[0]}, or give api_key='${{NAME}}' of another variable"
            )

    def with_options(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Add the configuration's options and leave out what is None; mappings are merged."""
        added = dict(arguments)
        for name, value in self.config.options.items():
            has_mapping = isinstance(value, Mapping) and isinstance(added.get(name), Mapping)
            added[name] = {**added[name], **value} if has_mapping else value
        return {name: value for name, value in added.items() if value is not None}

    def sent_by_given(self) -> dict[str, Any]:
        """Return headers and queries of the caller's object that may lead to another model."""
        return {}

    def secrets(self) -> list[Any]:
        """Return the keys that no message may show."""
        found = [key for name, key in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))]
        return [self.key(), *found, *keys_in(self.config.options), *keys_in(self.sent_by_given())]

    def identity(self) -> dict[str, Any]:
        own = {"api_key", "timeout", "retries", "price"}
        config = self.config.model_dump(mode="json", exclude=own)
        names = {"client": type(self).__name__, **config, "base_url": self.server()}
        return without_keys({**names, **self.sent_by_given()})  # type: ignore[no-any-return]

    async def complete(self, request: Request) -> Reply:
        """Ask in the best form that the server takes; one that it refuses is not tried again."""
        forms, refused = self.forms(request), []
        for output in forms:
            try:
                reply = await self._ask(request, output)
            except ClientError as error:
                if output == forms[-1] or error.kind != "bad_request":
                    raise
                refused.append((output, request.schema))
            else:
                # only now is it known that the form was what it refused
                self._refused += [each for each in refused if each not in self._refused]
                return reply
        raise AssertionError  # the last form returns or raises

    def forms(self, request: Request) -> list[Output]:
        """List how the form of an answer may be asked for, best first."""
        if request.schema is None or "text" in (request.output, self.config.output):
            return ["text"]
        chosen = self.config.output if request.output == "auto" else request.output
        if chosen != "auto":
            return [chosen]
        left = [form for form in _FORMS if (form, request.schema) not in self._refused]
        return left or [_FORMS[-1]]

    async def _ask(self, request: Request, output: Output) -> Reply:
        """Ask in one form; without a parameter, where the server refuses that."""
        without = self._without
        while True:
            try:
                response = await self.guard(self.call(self._say(request, output, without)))
            except ClientError as error:
                if error.parameter not in _OPTIONAL - without:
                    raise
                without |= {error.parameter}
            else:
                self._without |= without
                return self._read(response, output)

    def _say(self, request: Request, output: Output, without: Collection[str]) -> dict[str, Any]:
        """Say a request with the configuration's settings where it has none."""
        config, temperature, limit = self.config, request.temperature, request.max_tokens
        temperature = config.temperature if temperature is None else temperature
        complete = msgspec.structs.replace(
            request,
            temperature=None if "temperature" in without else temperature,
            max_tokens=config.max_tokens if limit is None else limit,
        )
        arguments = self.arguments(complete, output)
        if "max_tokens" in without and "max_tokens" in arguments:
            arguments["max_completion_tokens"] = arguments.pop("max_tokens")
        return arguments

    async def guard(self, work: Awaitable[T]) -> T:
        """Await what calls the server; raises our errors, and shows no key."""
        try:
            return await within(self.config.timeout, work)
        except EvalError:
            raise
        except Exception as error:  # noqa: BLE001 - an SDK may raise anything
            problem = self.error(error) or ClientError(f"{type(error).__name__}: {error}")
            raise self._censor(problem) from None  # a cause is printed too, and may show a key

    def draft(self, requests: Mapping[str, Request]) -> dict[str, dict[str, Any]]:
        """Say requests in the SDK's arguments, by names that end with the form of the answer.

        One that the SDK cannot say in its best form is left out.
        """
        drafts = {}
        for name, request in requests.items():
            output = self.forms(request)[0]
            with suppress(ClientError):
                drafts[f"{name}-{output}"] = self._say(request, output, self._without)
        return drafts

    def read_all(self, responses: Mapping[str, Any]) -> dict[str, Reply]:
        """Read responses by the names of their drafts; one that cannot be read is left out."""
        replies = {}
        for draft, response in responses.items():
            name, _, output = draft.rpartition("-")
            with suppress(JudgeError):
                replies[name] = self._read(response, cast("Output", output))
        return replies

    def _read(self, response: Any, output: Output) -> Reply:
        try:
            return self.read(response, output)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            usage = usage_of(value_of(response, "usage", "usage_metadata"))
            if usage.total:  # there is no reply in it, and it was paid for
                return Reply("", "failed", usage, self.config.name, output)
            raise self._censor(self._unreadable(response)) from None

    def _unreadable(self, response: Any) -> JudgeError:
        """Say what a response without a reply is: some servers report an error with status 200."""
        status = value_of(value_of(response, "error"), "code")
        if isinstance(status, int) and 400 <= status < 600:
            return status_error(status, response)
        return ClientError(f"the response cannot be read: {response!r}", kind="garbled")

    def _censor(self, problem: JudgeError) -> JudgeError:
        problem.args = (censor(str(problem), self.secrets()),)
        return problem

    def sdk(self) -> Any:
        """Return the SDK's object of this process's loop, which closes it when nobody needs it."""
        loop = background()
        if self._made is None or self._made[0] is not loop:
            sdk = self.make()
            self._made = loop, sdk
            if sdk is not self.given:
                finalize(self, _close, loop, self.close, sdk)
        return self._made[1]

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            pickle.dumps(self.given)
        except Exception as error:  # it may raise anything
            raise pickle.PicklingError(
                f"{self!r} cannot go to another process, for its {type(self.given).__name__} "
                "object cannot; make the client by name or of a ClientConfig"
            ) from error
        return type(self), (self.config, self.given)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.config.name!r})"


def _close(
    loop: AbstractEventLoop, close: Callable[[Any], Coroutine[Any, Any, None]], sdk: Any
) -> None:
    if loop.is_running():
        run_coroutine_threadsafe(close(sdk), loop)
