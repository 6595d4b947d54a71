"""What the clients of frameworks' models share: somebody else has set the model up."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, ClassVar, Final, NamedTuple

from llmeval_integrations.core.errors import ClientError, InvalidOptionError, JudgeError
from llmeval_integrations.llm.config import ClientConfig
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.reply import JudgeReply
from llmeval_integrations.llm.request import JudgeRequest, Output
from llmeval_integrations.llm.sdks.fingerprint import address_of, fingerprint
from llmeval_integrations.llm.sdks.keys import keys_in_environment, keys_in_fields
from llmeval_integrations.llm.sdks.own_connections import with_own_connections
from llmeval_integrations.llm.sdks.sdk_client import SdkClient
from llmeval_integrations.llm.sdks.wrapped import of_another_loop, wrapped_problem
from llmeval_integrations.llm.steps import Steps

_LIMITS: Final = ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict")
_IDLE: Final = 100
"""The most connections that an SDK keeps open for later."""


class Asked(NamedTuple):
    """The model as it is asked on one event loop, or by blocking calls."""

    model: Callable[[float | None, int | None], Any]
    """Gives it with that temperature and limit; the last few are kept, with their connections."""

    connections: Any
    """What holds connections of the loop's own; None where there are none."""


class ModelClient(SdkClient):
    """A client of a model that its owner has set up, in a framework.

    The model's settings stay as they are, unless an option or a request says otherwise: then a
    copy of the model is asked that has another temperature or limit. It keeps its own retries, to
    which ours, none by default, are added, and its own time-out; ours, 600 s by default, is there
    to end a call that hangs.
    """

    vendors: ClassVar[re.Pattern[str]]
    """Finds the vendor's name in that of a module of one of the framework's integrations."""

    settled = SdkClient.settled | {"name"}

    def __init__(self, config: ClientConfig, sdk: Any = None) -> None:
        super().__init__(config, sdk)
        self.set_so(self.model, None, config.max_tokens)  # raises where the model has no limit

    @classmethod
    def about(cls, model: Any, name: Any, options: dict[str, Any]) -> ClientConfig:
        """Describe the model as a configuration; raises InvalidOptionError for a wrong option."""
        cls.check_beside(model, options)
        fields = {
            "name": name if isinstance(name, str) and name else type(model).__name__,
            "platform": cls._vendor(model),
            "base_url": address_of(model),
            "temperature": None,
            "timeout": 600,
            "retries": 0,
        }
        return ClientConfig.of(**{**fields, **options})

    @classmethod
    def _vendor(cls, model: Any) -> str:
        """Name who sells the model, by the package of the model's class; else the framework."""
        for kind in type(model).__mro__:
            vendor = cls.vendors.match(kind.__module__)
            if vendor:
                return vendor[1]
        return cls.takes

    @property
    @abstractmethod
    def model(self) -> Any:
        """The model itself, without what its owner has put around it."""

    @abstractmethod
    def replaced(self, model: Any) -> Any:
        """Return what the owner gave, with another model inside."""

    def make(self, *, asynchronous: bool) -> Asked:
        model, own = with_own_connections(self.model) if asynchronous else (self.model, None)
        return Asked(lru_cache(maxsize=16)(partial(self.set_so, model)), own)

    async def close(self, sdk: Asked) -> None:
        if sdk.connections is not None:
            await sdk.connections.close()

    def settings(self, request: JudgeRequest) -> dict[str, Any]:
        """Say how the request or the configuration wants the model set."""
        return {"temperature": self.temperature(request), "max_tokens": self.max_tokens(request)}

    @staticmethod
    def set_so(model: Any, temperature: float | None, max_tokens: int | None) -> Any:
        """Return the model, or a copy that is set so; raises where it has no such setting."""
        fields = getattr(type(model), "model_fields", {})
        changes: dict[str, Any] = {}
        if temperature is not None:
            if "temperature" not in fields:
                raise ClientError(
                    f"{type(model).__name__} has no temperature",
                    kind="bad_request",
                    parameter="temperature",
                )
            changes["temperature"] = temperature
        if max_tokens is not None:
            limit = next((name for name in _LIMITS if name in fields), None)
            if limit is None:
                raise InvalidOptionError(
                    f"max_tokens={max_tokens}: {type(model).__name__} has no such setting; "
                    "set the limit where the model is made"
                )
            changes[limit] = max_tokens
        return model.model_copy(update=changes) if changes else model

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "model": fingerprint(self.shaping())}

    def shaping(self) -> Any:
        """Return what shapes a reply of the model."""
        return self.model

    def _called(self, request: JudgeRequest, output: Output) -> Steps[JudgeReply]:
        # Of a model whose connections are not known, each that an ended loop has left fails once.
        for _ in range(_IDLE):
            try:
                return (yield from super()._called(request, output))
            except JudgeError as problem:
                if problem.__cause__ is None or not of_another_loop(problem.__cause__):
                    raise
        return (yield from super()._called(request, output))

    def problem(self, error: Exception) -> JudgeError | None:
        if isinstance(error, (AttributeError, LookupError)):
            return ClientError(f"the response cannot be read: {error!r}", kind="garbled")
        return wrapped_problem(error)

    def _meaning(self, error: Exception) -> JudgeError:
        problem = super()._meaning(error)
        is_late = isinstance(problem, ClientError) and problem.kind == "timeout"
        if is_late and not isinstance(error, TimeoutError):
            problem.args = ("no reply within the time that the model itself waits",)
        return problem

    def _secrets(self) -> list[str]:
        return [*super()._secrets(), *keys_in_environment(), *keys_in_fields(self.model)]


def conversation(messages: tuple[Message, ...]) -> Iterator[Message]:
    """Yield the messages; where only the system speaks, the last is the user's.

    Some vendors refuse a conversation without one.
    """
    alone = all(message.role == "system" for message in messages)
    *others, last = messages
    yield from others
    yield Message("user", last.content) if alone else last
