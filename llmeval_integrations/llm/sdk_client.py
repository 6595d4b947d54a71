"""The shared base of all clients that use a vendor's SDK."""

from __future__ import annotations

import asyncio
import os
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
from llmeval_integrations.llm.client import (
    NO_KEY,
    Client,
    ClientConfig,
    censor,
    check_address,
    without_keys,
)
from llmeval_integrations.llm.failures import error_of, status_error
from llmeval_integrations.llm.loop import background
from llmeval_integrations.llm.messages import Message, Output, Request, build, in_words
from llmeval_integrations.llm.reply import Reply, read_reply, usage_of, value_of

T = TypeVar("T")

Close = Callable[[], Coroutine[Any, Any, None]]

_FORMS: Final[tuple[Output, ...]] = ("json_schema", "tool", "json")  # best first
_OPTIONAL: Final = frozenset({"temperature", "max_tokens"})  # omitted if a server refuses them


class SdkClient(Client):
    """A client that uses a vendor's own package.

    A subclass makes the SDK's object, writes a request as the SDK's arguments, and reads responses
    and exceptions. This class chooses how to request the form of an answer. The SDK's object
    belongs to the background loop.
    """

    # The platforms in `load_client`, each with the address of its server; None for the vendor's.
    # Only the vendor's gets a key from the environment.
    platforms: ClassVar[Mapping[str, str | None]] = {}

    module: ClassVar[str] = ""  # of the SDK; objects of classes from its package are accepted
    accepted: ClassVar[str] = ""  # a description of these objects
    needs_user: ClassVar[bool] = True  # whether a conversation needs a message of the user

    # The environment variables in which the SDK looks for a key and an address, in this order.
    key_variables: ClassVar[tuple[str, ...]] = ()
    address_variables: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        self.config = config
        self.given = given  # the SDK's object that the caller made
        self.retries, self.price = config.retries, config.price
        self.package = self.load_package()
        self.known = self.parameters()
        if self.known is not None and (unknown := config.options.keys() - self.known):
            raise InvalidOptionError(
                f"options: {self.package_name()} does not accept {', '.join(sorted(unknown))}; "
                f"there are {', '.join(sorted(self.known))}"
            )
        if config.options.get("stream"):
            raise InvalidOptionError("options: stream has to be left out; replies are read whole")
        self._without: frozenset[str] = frozenset()  # parameters that the server has refused
        self._best: dict[str, int] = {}  # the best form that the server accepts, by schema's name
        self._made: tuple[AbstractEventLoop, Any] | None = None

    @classmethod
    def package_name(cls) -> str:
        """Return the package whose objects the client accepts, such as "openai"."""
        return cls.module.partition(".")[0]

    @classmethod
    def load_package(cls) -> Any:
        """Import the SDK's module; raises MissingDependencyError."""
        try:
            return import_module(cls.module)
        except ImportError as error:
            raise MissingDependencyError.of(
                cls.module.replace(".", "-"), cls.package_name()
            ) from error

    @classmethod
    def of(cls, thing: Any, **options: Any) -> SdkClient:
        """Make a client from an object of the SDK; options are fields of ClientConfig."""
        kind, fields = type(thing).__name__, cls.describe(thing)
        if fields is None:  # without its members in the message, because one may be a key
            words = f"model=<{kind} object> cannot be asked; expected {cls.accepted}"
            raise InvalidOptionError(words)
        settled = fields.keys() & {"name", "platform", "base_url", "api_key"}
        if own := sorted(settled & options.keys()):
            raise InvalidOptionError(f"{', '.join(own)}: the {kind} object already defines that")
        if "name" not in fields | options:
            raise InvalidOptionError(
                f"model: the {kind} object does not say which model is asked; "
                "write load_client(client, name='...')"
            )
        return cls(build(ClientConfig, fields | options), thing)

    @classmethod
    def describe(cls, thing: Any) -> dict[str, Any] | None:
        """Return the fields of ClientConfig that an object of the SDK defines; None for others."""
        raise NotImplementedError

    def parameters(self) -> frozenset[str] | None:
        """Return the names of the options that the vendor's call takes; None if any may do."""
        return None

    def make(self) -> tuple[Any, Close | None]:
        """Make the SDK's object for the loop, with its own retries off.

        Return the function that closes it, too, if it holds anything open.
        """
        raise NotImplementedError

    @abstractmethod
    def arguments(self, request: Request, output: Output) -> dict[str, Any]:
        """Return the request as the SDK's arguments, with its temperature and limit."""

    @abstractmethod
    async def call(self, arguments: dict[str, Any]) -> Any:
        """Make the call and return the response."""

    def key(self) -> str | None:
        """Return the key to send, from the configuration or the vendor's environment variables.

        Any other server may need no key.
        """
        names = () if self.platforms.get(self.config.platform) else self.key_variables
        found = (os.environ.get(name, "").strip() for name in names)
        key = self.config.key() or next(filter(None, found), None)
        return key or (NO_KEY if self.server() else None)

    def server(self) -> str | None:
        """Return the server's address; None for the vendor's default."""
        found = map(os.environ.get, self.address_variables)
        own = self.config.base_url or self.platforms.get(self.config.platform)
        return own or next(filter(None, found), None)

    def check(self) -> None:
        check_address(" or ".join(self.address_variables), self.server())
        if self.given is None and self.key_variables and self.key() is None:
            raise InvalidOptionError(
                f"no key is set for {self.config.platform}; "
                f"set {self.key_variables[0]}, or name another variable by api_key='${{NAME}}'"
            )

    def with_options(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Add the configuration's options, merging mappings, and omit values that are None."""
        added = dict(arguments)
        for name, value in self.config.options.items():
            has_mapping = isinstance(value, Mapping) and isinstance(added.get(name), Mapping)
            added[name] = {**added[name], **value} if has_mapping else value
        return {name: value for name, value in added.items() if value is not None}

    def secrets(self) -> list[Any]:
        """Return the keys that no message may show."""
        found = [key for name, key in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))]
        without_keys(self.config.options, keys=found)
        return [self.key(), *found]

    def identity(self) -> dict[str, Any]:
        own = ("api_key", "timeout", "retries", "price")
        fields = msgspec.structs.asdict(self.config)
        config = {name: value for name, value in fields.items() if name not in own}
        found = {"client": type(self).__name__, **config, "base_url": self.server()}
        return without_keys(found)  # type: ignore[no-any-return]

    async def complete(self, request: Request) -> Reply:
        """Ask in the best form that the server accepts, without the parameters that it refuses."""
        forms, without = self._forms(request), self._without
        best = forms[0]
        while True:
            try:
                response = await self.guard(self.call(self._write(request, forms[0], without)))
                reply = self._read(response, forms[0])
            except ClientError as error:
                if error.parameter in _OPTIONAL - without:
                    without |= {error.parameter}
                elif error.kind == "bad_request" and len(forms) > 1:
                    forms = forms[1:]
                else:
                    raise
            else:
                # only a success shows that the server refused the form or the parameter itself
                self._without |= without
                if forms[0] != best:
                    self._best[request.schema_name] = _FORMS.index(forms[0])
                return reply

    def _forms(self, request: Request) -> tuple[Output, ...]:
        """List the ways to request the form of an answer, best first."""
        if request.schema is None:
            return ("text",)
        if self.config.output != "auto":
            return (self.config.output,)
        return _FORMS[self._best.get(request.schema_name, 0) :]

    def _write(self, request: Request, output: Output, without: Collection[str]) -> dict[str, Any]:
        """Return a request as arguments; the configuration's settings replace missing ones."""
        temperature, limit = request.temperature, request.max_tokens
        temperature = self.config.temperature if temperature is None else temperature
        messages = tuple(message.escape() for message in in_words(request, output))
        if self.needs_user and all(message.role == "system" for message in messages):
            messages = tuple(Message("user", message.content) for message in messages)
        complete = msgspec.structs.replace(
            request,
            messages=messages,
            temperature=None if "temperature" in without else temperature,
            max_tokens=self.config.max_tokens if limit is None else limit,
        )
        arguments = self.arguments(complete, output)
        if "max_tokens" in without and "max_tokens" in arguments:
            arguments["max_completion_tokens"] = arguments.pop("max_tokens")
        return arguments

    async def guard(self, work: Awaitable[T]) -> T:
        """Await a call to the server; raises our errors, without any key."""
        seconds = self.config.timeout
        try:
            return await asyncio.wait_for(work, seconds)
        except EvalError:
            raise
        except Exception as error:  # noqa: BLE001 - an SDK may raise anything
            problem: JudgeError = ClientError(f"no reply within {seconds:g} s", kind="timeout")
            if type(error) is not asyncio.TimeoutError:
                problem = error_of(error) or ClientError(f"{type(error).__name__}: {error}")
            raise self._censor(problem) from None  # a traceback prints the cause, maybe with a key

    def draft(self, requests: Mapping[str, Request]) -> dict[str, dict[str, Any]]:
        """Return requests as the SDK's arguments, by names that end with the form of the answer.

        A request that the SDK cannot express in its best form is omitted.
        """
        drafts = {}
        for name, request in requests.items():
            output = self._forms(request)[0]
            with suppress(ClientError):
                drafts[f"{name}-{output}"] = self._write(request, output, self._without)
        return drafts

    def read_all(self, responses: Mapping[str, Any]) -> dict[str, Reply]:
        """Read responses by the names of their drafts; omit those that cannot be read."""
        replies = {}
        for draft, response in responses.items():
            name, _, output = draft.rpartition("-")
            with suppress(JudgeError):
                replies[name] = self._read(response, cast("Output", output))
        return replies

    def _read(self, response: Any, output: Output) -> Reply:
        name = self.config.name
        try:
            reply = read_reply(response)
            return msgspec.structs.replace(reply, model=reply.model or name, output=output)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            usage = usage_of(value_of(response, "usage", "usage_metadata"))
            if usage.total:  # the response contains no reply, but it was paid for
                return Reply("", "failed", usage, name, output)
        status = value_of(value_of(response, "error"), "code")
        if isinstance(status, int) and 400 <= status < 600:  # some servers send it as a success
            raise self._censor(status_error(status, response))
        words = f"the response cannot be read: {response!r}"
        raise self._censor(ClientError(words, kind="garbled"))

    def _censor(self, problem: JudgeError) -> JudgeError:
        problem.args = (censor(str(problem), self.secrets()),)
        return problem

    def sdk(self) -> Any:
        """Return the SDK's object for this process's loop; it is closed when the client is gone."""
        loop = background()
        if self._made is None or self._made[0] is not loop:
            sdk, close = self.make()
            self._made = loop, sdk
            if close is not None:
                finalize(self, _close, loop, close).atexit = False  # the loop ends then, too
        return self._made[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.config, self.given)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.config.name!r})"


def _close(loop: AbstractEventLoop, close: Close) -> None:
    if loop.is_running():
        run_coroutine_threadsafe(close(), loop)
