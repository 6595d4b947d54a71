"""What the clients of vendors' SDKs share."""

from __future__ import annotations

import os
import pickle
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping
from functools import partial
from threading import Lock
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

import msgspec

from llmeval_integrations.core.errors import ClientError, EvalError, InvalidOptionError, JudgeError
from llmeval_integrations.core.quoting import quote
from llmeval_integrations.llm.backoff import tried_again
from llmeval_integrations.llm.client import Client
from llmeval_integrations.llm.config import ClientConfig
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest, Output
from llmeval_integrations.llm.sdks.dialects import usage_of, value_of
from llmeval_integrations.llm.sdks.http_problems import status_problem, transport_problem
from llmeval_integrations.llm.sdks.keys import keys_in_options, without_keys
from llmeval_integrations.llm.sdks.wrapped import causes
from llmeval_integrations.llm.steps import Call, Steps

_SHORTEST_KEY: Final = 6
"""Shorter ones, such as "-", stand for no key, and are found in any text."""

_LONGEST: Final = 500
"""The most characters of a message that are kept; a server may send a page."""

_SPARED: Final = frozenset({"temperature", "max_tokens"})
"""The parameters that a call can do without, where a server refuses them."""


class SdkClient(Client):
    """A client on a vendor's own package.

    A subclass says how its SDK's object is made, what a request is in the SDK's arguments, what
    a response says and what an exception means. Retries and the choice of how an answer's form
    is asked for are here. One SDK object serves all blocking calls, and one each event loop.
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

    def __init__(self, config: ClientConfig, sdk: Any = None) -> None:
        self.config = config
        """The model and how it is called."""
        self.given = sdk
        """The SDK's object that the caller made, None where there is none."""
        self.refused: set[str] = set()
        """The parameters that this model's server has refused."""
        self.refused_ways: set[tuple[Output, str]] = set()
        """The ways that it has refused, each with the schema: it may be that which it refused."""
        self._lock = Lock()
        self._blocking: Any = None
        self._of_loop: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

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
                f"client: the {type(thing).__name__} object does not say which model is asked; "
                f"write load_client(client, name='{cls.example}')"
            )

    @abstractmethod
    def make(self, *, asynchronous: bool) -> Any:
        """Make the SDK's object, without retries of its own."""

    @abstractmethod
    def method(self, sdk: Any, *, asynchronous: bool) -> Callable[..., Any]:
        """Return the function of the SDK's object that is called."""

    @abstractmethod
    def arguments(self, request: JudgeRequest, output: Output) -> dict[str, Any]:
        """Say the request in the SDK's arguments, without the parameters in `request.without`."""

    @abstractmethod
    def read(self, response: Any, output: Output) -> JudgeReply:
        """Read the response."""

    @abstractmethod
    def problem(self, error: Exception) -> JudgeError | None:
        """Say what an exception of the SDK means; None for one that it does not know."""

    def key(self) -> str | None:
        """Return the key that is sent, from the configuration or where the SDK looks for one."""
        found = (os.environ.get(name, "").strip() for name in self.key_variables)
        return self.config.key() or next(filter(None, found), None)

    def server(self) -> str | None:
        """Return the server's address as configured or as the SDK finds it; None for its own."""
        return self.config.base_url or next(
            filter(None, map(os.environ.get, self.address_variables)), None
        )

    async def close(self, sdk: Any) -> None:
        """Close an asynchronous object that `make` made."""

    def check(self) -> None:
        self.key()

    def check_options(self, known: Collection[str]) -> None:
        """Raise InvalidOptionError for an option that the vendor's call does not take."""
        unknown = sorted(self.config.options.keys() - {*known})
        if unknown:
            raise InvalidOptionError(
                f"options: {self.takes} takes no {', '.join(unknown)}; "
                f"there are {', '.join(sorted(known))}"
            )

    def temperature(self, request: JudgeRequest) -> float | None:
        """Return the temperature to be sent; None for none."""
        if "temperature" in request.without:
            return None
        asked = request.temperature
        return self.config.temperature if asked is None else asked

    def completed(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Add the configuration's options and leave out what is None; mappings are merged."""
        added = dict(arguments)
        for name, value in self.config.options.items():
            has_mapping = isinstance(value, Mapping) and isinstance(added.get(name), Mapping)
            added[name] = {**added[name], **value} if has_mapping else value
        return {name: value for name, value in added.items() if value is not None}

    def max_tokens(self, request: JudgeRequest) -> int | None:
        """Return the longest reply to be asked for; None for none."""
        return self.config.max_tokens if request.max_tokens is None else request.max_tokens

    def sent_by_given(self) -> dict[str, Any]:
        """Return headers and queries of the caller's object that may lead to another model."""
        return {}

    def identity(self) -> dict[str, Any]:
        config = self.config.model_dump(mode="json", exclude={"api_key", "timeout", "retries"})
        names = {"client": type(self).__name__, **config, "base_url": self.server()}
        return without_keys({**names, **self.sent_by_given()})  # type: ignore[no-any-return]

    def answer(self, request: JudgeRequest) -> Steps[JudgeReply]:
        """Ask in the best way that the server takes; one that it refuses is not tried again."""
        refused: set[Output] = set()
        for output, is_last in _marked(self._ways(request)):
            try:
                reply = yield from self._asked(request, output)
            except ClientError as error:
                if is_last or error.kind != "bad_request":
                    raise
                refused.add(output)
            else:
                # only now is it known that the way was what it refused
                self.refused_ways |= {(way, repr(request.schema)) for way in refused}
                return reply
        raise AssertionError  # the last way returns or raises

    def _ways(self, request: JudgeRequest) -> list[Output]:
        if request.schema is None or "text" in (request.output, self.config.output):
            return ["text"]
        chosen = self.config.output if request.output == "auto" else request.output
        if chosen != "auto":
            return [chosen]
        if not self.refused_ways:
            return [*self.ways]
        schema = repr(request.schema)
        left = [way for way in self.ways if (way, schema) not in self.refused_ways]
        return left or [self.ways[-1]]

    def _asked(self, request: JudgeRequest, output: Output) -> Steps[JudgeReply]:
        """Ask in one way; without a parameter, where the server refuses that."""
        refused: set[str] = set()
        while True:
            without = frozenset(self.refused | refused)
            bare = msgspec.structs.replace(request, without=without)
            try:
                reply = yield from tried_again(
                    partial(self._called, bare, output), self.config.retries
                )
            except ClientError as error:
                if error.parameter not in _SPARED - without:
                    raise
                refused.add(error.parameter)
            else:
                self.refused |= refused
                return reply

    def _called(self, request: JudgeRequest, output: Output) -> Steps[JudgeReply]:
        arguments = self.arguments(request, output)
        try:
            response = yield Call(self._endpoint, arguments, self.config.timeout)
        except EvalError:
            raise
        except Exception as error:  # noqa: BLE001 - an SDK may raise anything
            problem = self._meaning(error)
            # A cause is printed with what it caused, so one that shows a key is left out.
            raise problem from (None if self._shows_key(error) else error)
        try:
            return self.read(response, output)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            usage = usage_of(value_of(response, "usage", "usage_metadata"))
            if usage.total:  # there is no reply in it, and it was paid for
                return JudgeReply("", "failed", usage, self.config.name, output)
            problem = self._unreadable(response)
            problem.args = (self._sayable(str(problem)),)
            raise problem from error

    def _meaning(self, error: Exception) -> JudgeError:
        problem = self.problem(error) or transport_problem(error)
        if problem is None:
            problem = ClientError(f"{type(error).__name__}: {error}")
        if isinstance(problem, ClientError) and problem.kind == "timeout" and not problem.status:
            problem.args = (f"no reply within {self.config.timeout:g} s",)
        problem.args = (self._sayable(str(problem)),)
        return problem

    def _unreadable(self, response: Any) -> JudgeError:
        """Say what a response without a reply is: some servers report an error with status 200."""
        told = response.get("error") if isinstance(response, Mapping) else None
        status = told.get("code") if isinstance(told, Mapping) else None
        if isinstance(status, int) and 400 <= status < 600:
            return status_problem(status, response)
        # what is shown is cut, and would have a part of a key
        what = "it holds a key" if self._holds_key(_whole(response)) else quote(response)
        return ClientError(f"the response cannot be read: {what}", kind="garbled")

    def _shows_key(self, error: Exception) -> bool:
        return any(self._holds_key(str(one)) for one in causes(error))

    def _holds_key(self, text: str) -> bool:
        return any(secret in text for secret in self._secrets())

    def _sayable(self, text: str) -> str:
        """Return a text without the keys, and then cut: a part of a key would not be found."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, "[key]")
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."

    def _secrets(self) -> list[str]:
        keys = (self.key(), *map(os.environ.get, self.key_variables))
        return [
            *(key.strip() for key in keys if key and len(key.strip()) >= _SHORTEST_KEY),
            *keys_in_options(self.config.options),
            *keys_in_options(self.sent_by_given()),
            *keys_in_options(self.server(), "base_url"),
        ]

    def _endpoint(self, asynchronous: bool) -> Callable[..., Any]:
        sdk = self._sdk_of_loop() if asynchronous else self._blocking_sdk()
        return self.method(sdk, asynchronous=asynchronous)

    def _blocking_sdk(self) -> Any:
        with self._lock:
            if self._blocking is None:
                self._blocking = self.make(asynchronous=False)
            return self._blocking

    def _sdk_of_loop(self) -> Any:
        # A connection belongs to the loop that opened it, and cannot be used from another.
        import asyncio

        loop = asyncio.get_running_loop()
        if loop not in self._of_loop:
            held = self._held()
            try:
                held.asend(None).send(None)  # from now on the loop closes it at its own end
            except StopIteration as made:
                self._of_loop[loop] = made.value, held
        return self._of_loop[loop][0]

    async def _held(self) -> AsyncGenerator[Any, None]:
        """Give the SDK's object for the running loop, and close it as the loop ends.

        A generator, as those are all that a loop closes at its own end: a caller of
        `asyncio.run(judge.aevaluate(sample))` has no other place for it.
        """
        import asyncio

        sdk = self.make(asynchronous=True)
        try:
            yield sdk
        finally:
            self._of_loop.pop(asyncio.get_running_loop(), None)
            await self.close(sdk)

    async def aclose(self) -> None:
        import asyncio

        found = self._of_loop.get(asyncio.get_running_loop())
        if found is not None:
            await found[1].aclose()

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


def _whole(response: Any) -> str:
    try:
        return repr(response)
    except Exception:  # noqa: BLE001 - nested too deeply, and so not shown either
        return ""


def _marked(ways: list[Output]) -> Iterator[tuple[Output, bool]]:
    """Yield each way and whether it is the last."""
    return ((way, number == len(ways)) for number, way in enumerate(ways, 1))
