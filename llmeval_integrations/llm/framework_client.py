"""The shared base of clients for frameworks' models, which the user has set up."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, ClassVar, Final

from llmeval_integrations.core.errors import ClientError, InvalidOptionError
from llmeval_integrations.llm.config import ClientConfig, check_address
from llmeval_integrations.llm.keys import without_keys
from llmeval_integrations.llm.loop import in_callers_loop, in_thread
from llmeval_integrations.llm.messages import Message
from llmeval_integrations.llm.sdk_client import SdkClient

_LIMITS: Final = ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict")
_ADDRESSES: Final = ("base_url", "api_base", "openai_api_base", "anthropic_api_url")

_DEEPEST: Final = 8
"""How many levels of nested models are followed."""


class FrameworkClient(SdkClient):
    """A client for a model that its owner has set up in a framework.

    The model is called in a thread. A model without a blocking call is awaited in the caller's
    loop. Its settings stay unchanged unless an option or a request sets another temperature or
    limit: then a copy of the model is asked. It keeps its own retries, and ours are added. It also
    keeps its own time-out; ours, 600 s by default, ends a call that hangs.
    """

    vendors: ClassVar[re.Pattern[str]]
    """Finds the vendor's name in the module name of a framework's integration."""

    settled = SdkClient.settled | {"name"}

    def __init__(self, config: ClientConfig, given: Any = None) -> None:
        super().__init__(config, given)
        self._is_only_awaited = False
        self.model(None, config.max_tokens)  # raises if the model cannot be limited

    @classmethod
    def about(cls, model: Any, name: Any, options: dict[str, Any]) -> ClientConfig:
        """Describe the model as a configuration; raises InvalidOptionError for a wrong option."""
        cls.check_beside(model, options)
        vendors = (cls.vendors.match(kind.__module__) for kind in type(model).__mro__)
        fields = {
            "name": name if isinstance(name, str) and name else type(model).__name__,
            "platform": next((vendor[1] for vendor in vendors if vendor), cls.takes),
            "temperature": None,
            "timeout": 600,
        }
        with suppress(ValueError):  # an address with a login or a query must not be shown
            check_address(_address(model) or "")
            fields["base_url"] = _address(model)
        return ClientConfig.of(**{**fields, **options})

    @abstractmethod
    def model(self, temperature: float | None, max_tokens: int | None) -> Any:
        """Return the owner's object, with these settings in its models."""

    def no_images(self) -> ClientError:
        """Return the error for images to a model that completes text."""
        return ClientError(f"{self!r} completes text and accepts no images", kind="bad_request")

    def make(self) -> Any:
        return self.given

    async def run(self, blocking: Callable[[], Any], awaited: Callable[[], Any]) -> Any:
        """Call a model in a thread; await it if it has no blocking call."""
        if not self._is_only_awaited:
            try:
                return await in_thread(blocking)
            except NotImplementedError:
                self._is_only_awaited = True
        return await in_callers_loop(awaited)

    def server(self) -> str | None:
        return self.config.base_url

    def identity(self) -> dict[str, Any]:
        text = json.dumps(_describe(self.given), sort_keys=True)
        return {**super().identity(), "model": sha256(text.encode()).hexdigest()}

    def secrets(self) -> list[Any]:
        return [*super().secrets(), *_keys_of(self.given)]


def set_model(model: Any, temperature: float | None, max_tokens: int | None) -> Any:
    """Return the model, or a copy with these settings; raises if the model lacks one of them."""
    fields, kind = getattr(type(model), "model_fields", {}), type(model).__name__
    changes: dict[str, Any] = {}
    if temperature is not None:
        if "temperature" not in fields:
            raise ClientError(
                f"{kind} has no temperature", kind="bad_request", parameter="temperature"
            )
        changes["temperature"] = temperature
    if max_tokens is not None:
        limit = next((name for name in _LIMITS if name in fields), None)
        if limit is None:
            raise InvalidOptionError(
                f"max_tokens={max_tokens}: {kind} has no such setting; "
                "set the limit when you create the model"
            )
        changes[limit] = max_tokens
    return model.model_copy(update=changes) if changes else model


def conversation(messages: tuple[Message, ...]) -> Iterator[Message]:
    """Yield the messages; if all are the system's, the last becomes the user's.

    Some vendors refuse a conversation without a user's message.
    """
    alone = all(message.role == "system" for message in messages)
    *others, last = messages
    yield from others
    yield Message("user", last.content) if alone else last


def _members(model: Any) -> list[Any]:
    """Return the values of a pydantic model, including those of private attributes."""
    private = getattr(model, "__pydantic_private__", None) or {}
    return [*getattr(model, "__dict__", {}).values(), *private.values()]


def _address(model: Any) -> str | None:
    """Return the address that a model calls, from its own field or from its SDK's object."""
    places = [getattr(model, name, None) for name in _ADDRESSES]
    places += [getattr(each, "base_url", None) for each in _members(model)]
    return next((str(place) for place in places if type(place).__name__ in ("str", "URL")), None)


def _keys_of(model: Any, levels: int = _DEEPEST) -> Iterator[Any]:
    """Yield the keys in a pydantic model and in the models inside it."""
    yield getattr(model, "api_key", None)
    for value in _members(model):
        yield getattr(value, "api_key", None)
        if hasattr(value, "get_secret_value"):
            yield value.get_secret_value()
        elif levels and hasattr(type(value), "model_fields"):
            yield from _keys_of(value, levels - 1)


def _describe(model: Any, levels: int = _DEEPEST) -> Any:
    """Describe a framework's model as JSON: without keys, and the same in every process."""
    if model is None or isinstance(model, (str, bool, int, float)):
        return model
    if isinstance(model, Mapping):
        return without_keys({str(key): _describe(each, levels) for key, each in model.items()})
    if isinstance(model, (list, tuple)):
        return [_describe(each, levels) for each in model]
    kind = model if isinstance(model, type) or callable(model) else type(model)
    name = f"{kind.__module__}.{getattr(kind, '__qualname__', type(kind).__name__)}"
    fields = getattr(type(model), "model_fields", None)
    if not fields or not levels or hasattr(model, "get_secret_value"):
        return name
    members = {
        field: _describe(vars(model).get(field), levels - 1)
        for field, about in fields.items()
        if not about.exclude
    }
    return [name, _address(model), without_keys(members)]
