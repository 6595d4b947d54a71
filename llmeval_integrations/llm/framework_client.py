"""What the clients of frameworks' models share: somebody else has set the model up."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError, InvalidOptionError, JudgeError
from llmeval_integrations.llm.config import ClientConfig, check_address
from llmeval_integrations.llm.keys import address_of, describe, keys_in_environment, keys_of_model
from llmeval_integrations.llm.loop import in_callers_loop, in_thread
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.sdk_client import SdkClient

_LIMITS: Final = ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict")


class FrameworkClient(SdkClient):
    """A client of a model that its owner has set up, in a framework.

    The model is called in a thread, one that can only be awaited in the loop of whoever awaits us.
    Its settings stay as they are, unless an option or a request says otherwise: then a copy of the
    model is asked that has another temperature or limit. It keeps its own retries, to which ours
    are added, and its own time-out; ours, 600 s by default, is there to end a call that hangs.
    """

    vendors: ClassVar[re.Pattern[str]]
    """Finds the vendor's name in that of a module of one of the framework's integrations."""

    settled = SdkClient.settled | {"name"}

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        self._is_only_awaited = False
        self.model(None, config.max_tokens)  # raises where the model has no limit

    @classmethod
    def about(cls, model: Any, name: Any, options: dict[str, Any]) -> ClientConfig:
        """Describe the model as a configuration; raises InvalidOptionError for a wrong option."""
        cls.check_beside(model, options)
        vendors = (cls.vendors.match(kind.__module__) for kind in type(model).__mro__)
        fields = {
            "name": name if isinstance(name, str) and name else type(model).__name__,
            "platform": next((vendor[1] for vendor in vendors if vendor), cls.takes),
            "base_url": _address(model),
            "temperature": None,
            "timeout": 600,
        }
        return ClientConfig.of(**{**fields, **options})

    @abstractmethod
    def model(self, temperature: float | None, max_tokens: int | None) -> Any:
        """Return what the owner gave, with its models set so."""

    def make(self) -> Any:
        return self.given

    async def run(self, blocking: Callable[[], Any], awaited: Callable[[], Any]) -> Any:
        """Call a model in a thread; one that has no blocking call is awaited."""
        if not self._is_only_awaited:
            try:
                return await in_thread(blocking)
            except NotImplementedError:
                self._is_only_awaited = True
        return await in_callers_loop(awaited)

    def server(self) -> str | None:
        return self.config.base_url

    def identity(self) -> dict[str, Any]:
        text = json.dumps(describe(self.given), sort_keys=True)
        return {**super().identity(), "model": sha256(text.encode()).hexdigest()}

    def problem(self, error: Exception) -> JudgeError | None:
        if isinstance(error, (AttributeError, LookupError)):
            return ClientError(f"the response cannot be read: {error!r}", kind="garbled")
        return super().problem(error)

    def late(self, error: Exception) -> str:
        own = "no reply within the time that the model itself waits"
        return super().late(error) if isinstance(error, TimeoutError) else own

    def secrets(self) -> list[str]:
        return [*super().secrets(), *keys_in_environment(), *keys_of_model(self.given)]


def _address(model: Any) -> str | None:
    """Return where a model asks, unless the address holds what must not be shown."""
    address = address_of(model)
    with suppress(ValueError):
        check_address(address or "")
        return address
    return None


def set_model(model: Any, temperature: float | None, max_tokens: int | None) -> Any:
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


def conversation(messages: tuple[Message, ...]) -> Iterator[Message]:
    """Yield the messages; where only the system speaks, the last is the user's.

    Some vendors refuse a conversation without one.
    """
    alone = all(message.role == "system" for message in messages)
    *others, last = messages
    yield from others
    yield Message("user", last.content) if alone else last
