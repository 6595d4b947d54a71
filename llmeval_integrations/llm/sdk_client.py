"""What the clients of vendors' SDKs share."""

from __future__ import annotations

import os
import pickle
from abc import abstractmethod
from asyncio import AbstractEventLoop, run_coroutine_threadsafe
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final
from weakref import finalize

from llmeval_integrations.core.errors import ClientError, EvalError, InvalidOptionError, JudgeError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.config import ClientConfig, check_address
from llmeval_integrations.llm.keys import keys_in, without_keys
from llmeval_integrations.llm.loop import background, within
from llmeval_integrations.llm.messages import Output, Request
from llmeval_integrations.llm.problems import causes, problem_of, status_problem
from llmeval_integrations.llm.reply import Reply, usage_of, value_of

_SHORTEST_KEY: Final = 6
"""Shorter ones, such as "-", stand for no key, and are found in any text."""

_LONGEST: Final = 500
"""The most characters of a message that are kept; a server may send a page."""

_SPARED: Final = frozenset({"temperature", "max_tokens"})
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

    example: ClassVar[str] = ""
    """The name of a model, for a message where there is none."""

    ways: ClassVar[tuple[Output, ...]] = ("json_schema", "tool", "json")
    """How it can ask for an answer in a given form, best first."""

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
        self._refused_ways: set[tuple[Output, str]] = set()  # each with the schema
        self._made: tuple[AbstractEventLoop, Any] | None = None

    @classmethod
    def of(cls, thing: Any, **options: Any) -> SdkClient:
        """Make a client of one of the SDK's own objects; options are fields of ClientConfig."""
        raise NotImplementedError

    @classmethod
    def check_beside(cls, thing: Any, options: Collection[str]) -> None:
        """Raise InvalidOptionError for what the object settles, or lacks: the model's name."""
        own = sorted(cls.settled & {*options})
        if own:
            raise InvalidOptionError(
                f"{', '.join(own)}: the {type(thing).__name__} object has that already"
            )
        if "name" not in cls.settled.union(options):
            raise InvalidOptionError(
                f"model: the {type(thing).__name__} object does not say which model is asked; "
                f"write load_client(client, name='{cls.example}')"
            )

    @abstractmethod
    def make(self) -> Any:
        """Make the SDK's object for the loop, without retries of its own."""

    @abstractmethod
    async def call(self, sdk: Any, arguments: dict[str, Any]) -> Any:
        """Make the call and give the response."""

    @abstractmethod
    def arguments(
        self, request: Request, output: Output, without: Collection[str]
    ) -> dict[str, Any]:
        """Say the request in the SDK's arguments, without the parameters named in `without`."""

    @abstractmethod
    def read(self, response: Any, output: Output) -> Reply:
        """Read the response."""

    def problem(self, error: Exception) -> JudgeError | None:
        """Say what an exception of the SDK means; None for one that is not known."""
        return problem_of(error)

    @staticmethod
    async def close(sdk: Any) -> None:
        """Close an object that `make` made."""

    def key(self) -> str | None:
        """Return the key that is sent, from the configuration or where the SDK looks for one."""
        found = (os.environ.get(name, "").strip() for name in self.key_variables)
        return self.config.key() or next(filter(None, found), None)

    def server(self) -> str | None:
        """Return the server's address as configured or as the SDK finds it; None for its own."""
        return self.config.base_url or next(
            filter(None, map(os.environ.get, self.address_variables)), None
        )

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

    def check_options(self, known: Collection[str]) -> None:
        """Raise InvalidOptionError for an option that the vendor's call does not take."""
        unknown = sorted(self.config.options.keys() - {*known})
        if unknown:
            raise InvalidOptionError(
                f"options: {self.takes} takes no {', '.join(unknown)}; "
                f"there are {', '.join(sorted(known))}"
            )

    def temperature(self, request: Request, without: Collection[str] = ()) -> float | None:
        """Return the temperature to be sent; None for none."""
        if "temperature" in without:
            return None
        return self.config.temperature if request.temperature is None else request.temperature

    def max_tokens(self, request: Request) -> int | None:
        """Return the longest reply to be asked for; None for none."""
        return self.config.max_tokens if request.max_tokens is None else request.max_tokens

    def completed(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Add the configuration's options and leave out what is None; mappings are merged."""
        added = dict(arguments)
        for name, value in self.config.options.items():
            has_mapping = isinstance(value, Mapping) and isinstance(added.get(name), Mapping)
            added[name] = {**added[name], **value} if has_mapping else value
        return {name: value for name, value in added.items() if value is not None}

    def sent_by_given(self) -> dict[str, Any]:
        """Return headers and queries of the caller's object that may lead to another model."""
        return {}

    def identity(self) -> dict[str, Any]:
        own = {"api_key", "timeout", "retries", "price"}
        config = self.config.model_dump(mode="json", exclude=own)
        names = {"client": type(self).__name__, **config, "base_url": self.server()}
        return without_keys({**names, **self.sent_by_given()})  # type: ignore[no-any-return]

    async def complete(self, request: Request) -> Reply:
        """Ask in the best way that the server takes; one that it refuses is not tried again."""
        ways, refused = self._ways(request), set()
        for output in ways:
            try:
                reply = await self._ask(request, output)
            except ClientError as error:
                if output == ways[-1] or error.kind != "bad_request":
                    raise
                refused.add((output, repr(request.schema)))
            else:
                # only now is it known that the way was what it refused
                self._refused_ways |= refused
                return reply
        raise AssertionError  # the last way returns or raises

    def _ways(self, request: Request) -> list[Output]:
        if request.schema is None or "text" in (request.output, self.config.output):
            return ["text"]
        chosen = self.config.output if request.output == "auto" else request.output
        if chosen != "auto":
            return [chosen]
        schema = repr(request.schema) if self._refused_ways else ""
        left = [way for way in self.ways if (way, schema) not in self._refused_ways]
        return left or [self.ways[-1]]

    async def _ask(self, request: Request, output: Output) -> Reply:
        """Ask in one way; without a parameter, where the server refuses that."""
        without = self._without
        while True:
            try:
                arguments = self.arguments(request, output, without)
                call = self.call(self._sdk(), arguments)
                response = await within(self.config.timeout, call)
            except Exception as error:
                if isinstance(error, EvalError) and not isinstance(error, ClientError):
                    raise
                problem = error if isinstance(error, EvalError) else self._meaning(error)
                parameter = getattr(problem, "parameter", None)
                if parameter in _SPARED - without:
                    without |= {parameter}
                    continue
                if problem is error:
                    raise
                # A cause is printed with what it caused, so one that shows a key is left out.
                shows_key = any(self._holds_key(str(each)) for each in causes(error))
                raise problem from (None if shows_key else error)
            self._without |= without
            return self._read(response, output)

    def _read(self, response: Any, output: Output) -> Reply:
        try:
            return self.read(response, output)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            usage = usage_of(value_of(response, "usage", "usage_metadata"))
            if usage.total:  # there is no reply in it, and it was paid for
                return Reply("", "failed", usage, self.config.name, output)
            problem = self._unreadable(response)
            problem.args = (self._sayable(str(problem)),)
            raise problem from error

    def _meaning(self, error: Exception) -> JudgeError:
        problem = self.problem(error) or ClientError(f"{type(error).__name__}: {error}")
        if isinstance(problem, ClientError) and problem.kind == "timeout" and not problem.status:
            problem.args = (self.late(error),)
        problem.args = (self._sayable(str(problem)),)
        return problem

    def late(self, error: Exception) -> str:  # noqa: ARG002 - a framework's model tells them apart
        """Say that there was no reply in time."""
        return f"no reply within {self.config.timeout:g} s"

    def _unreadable(self, response: Any) -> JudgeError:
        """Say what a response without a reply is: some servers report an error with status 200."""
        about = response.get("error") if isinstance(response, Mapping) else None
        status = about.get("code") if isinstance(about, Mapping) else None
        if isinstance(status, int) and 400 <= status < 600:
            return status_problem(status, response)
        whole = ""
        with suppress(Exception):  # nested too deeply, and so not shown either
            whole = repr(response)
        # what is shown is cut, and would have a part of a key
        what = "it holds a key" if self._holds_key(whole) else quote(response)
        return ClientError(f"the response cannot be read: {what}", kind="garbled")

    def _holds_key(self, text: str) -> bool:
        return any(secret in text for secret in self.secrets())

    def _sayable(self, text: str) -> str:
        """Return a text without the keys, and then cut: a part of a key would not be found."""
        for secret in sorted(self.secrets(), key=len, reverse=True):
            text = text.replace(secret, "[key]")
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."

    def secrets(self) -> list[str]:
        """Return the keys that no message may show."""
        keys = (self.key(), *map(os.environ.get, self.key_variables))
        return [
            *(key.strip() for key in keys if key and len(key.strip()) >= _SHORTEST_KEY),
            *keys_in(self.config.options),
            *keys_in(self.sent_by_given()),
        ]

    def _sdk(self) -> Any:
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
